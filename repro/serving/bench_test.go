package serving_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// requests plays n requests of the servers alone, so many clients at a time, and calls atEnd while
// everything is still in use.
func requests(tb testing.TB, n, clients int, atEnd func()) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	cfg := serving.Default()
	cfg.Router.QueuedMax = 0
	s, err := serving.New(w, cfg, serving.Model{}, nil, serving.Logs{Router: io.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	client := serving.NewClient(s, serving.ClientConfig{})
	err = w.Run(context.Background(), func(ctx context.Context) {
		all := make([]*sim.Process, clients)
		for i := range all {
			all[i] = w.Spawn(ctx, "client", func(ctx context.Context) {
				for k := i; k < n; k += clients {
					exchange(ctx, tb, client, &pacer.Attempt{ID: "attempt"}, longChat)
				}
			})
		}
		for _, p := range all {
			_ = p.Wait(ctx)
		}
		atEnd()
		runtime.KeepAlive(s)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// liveBytes returns how much memory is in use after n requests.
func liveBytes(tb testing.TB, n int) (bytes uint64) {
	requests(tb, n, 32, func() {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		bytes = m.HeapAlloc
	})
	return bytes
}

// BenchmarkRun is one default run of the servers alone: 600 requests of 3,750 tokens each, 16 at a
// time.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		requests(b, 600, 16, func() {})
	}
}

// BenchmarkRequest is one request among many: with -benchtime 1000000x a run of a million. The memory
// in use at the end must not depend on their number.
func BenchmarkRequest(b *testing.B) {
	b.ReportAllocs()
	b.ReportMetric(float64(liveBytes(b, b.N)), "live-B")
}

// BenchmarkProgress is a look at the progress of one stream among 32.
func BenchmarkProgress(b *testing.B) {
	setup{model: serving.Model{Output: func(string, int, int) (int, int) { return 100_000, 0 }}}.run(b, 1, func(p *play) {
		handles := make([]*serving.Handle, 32)
		for i := range handles {
			handles[i] = p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 1000}, Stream: true})
		}
		p.sleep(time.Hour)
		for b.Loop() {
			handles[0].Progress()
		}
		for _, h := range handles {
			h.Cancel()
		}
	})
}

// TestFlatMemory checks that requests leave nothing behind.
func TestFlatMemory(t *testing.T) {
	few, many := liveBytes(t, 1_000), liveBytes(t, 30_000)
	if many > few+128<<10 {
		t.Errorf("%d bytes in use after 30,000 requests, %d after 1,000", many, few)
	}
}

var longChat = openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{
	{Role: openai.ChatMessageRoleSystem, Content: strings.Repeat("text", 20_000)},
	{Role: openai.ChatMessageRoleUser, Content: "Go on.\nSteps: write."},
}, Tools: []openai.Tool{{Function: &openai.FunctionDefinition{Name: "write"}}}}

// exchange sends a request and reads the answer to its end.
func exchange(ctx context.Context, tb testing.TB, client *serving.Client, a *pacer.Attempt, req openai.ChatCompletionRequest) {
	st, err := client.Open(ctx, a, req)
	if err != nil {
		tb.Error(err)
		return
	}
	for err == nil {
		_, err = st.Recv()
	}
	if err != io.EOF {
		tb.Error(err)
	}
	if err := st.Close(); err != nil {
		tb.Error(err)
	}
}
