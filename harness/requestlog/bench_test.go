package requestlog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func BenchmarkRead(b *testing.B) {
	durations := make([]time.Duration, 20_000)
	for i := range durations {
		durations[i] = time.Duration(i%97) * 1237 * time.Millisecond
	}
	router := routerText(durations, func(_ int, d time.Duration) string { return fmt.Sprint(d.Microseconds()) })
	object := strings.Repeat(`{"time":"2026-01-02T03:04:05.678Z","level":"INFO","msg":"request done","request_id":"a","method":"POST","path":"/v1/chat/completions","status":200,"duration_ms":1254.5}`+"\n", 20_000)
	nginx := strings.Repeat(`10.0.0.1 - - [02/Jan/2026:04:04:05 +0100] "POST /v1/x HTTP/1.1" 200 612 "-" "curl/8" 1.254 0123456789abcdef0123456789abcdef`+"\n", 20_000)
	for _, log := range []struct{ name, text string }{{"router", router}, {"JSON", object}, {"nginx", nginx}} {
		b.Run(log.name, func(b *testing.B) {
			b.SetBytes(int64(len(log.text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := New().Read("x", strings.NewReader(log.text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
