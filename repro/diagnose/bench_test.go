package diagnose

import (
	"fmt"
	"testing"
)

// BenchmarkDiagnose is one diagnosis: a run makes a handful, a comparison of policies tens of
// thousands.
func BenchmarkDiagnose(b *testing.B) {
	for _, name := range []string{"starvation", "silent-stream", "nested-slot"} {
		b.Run(name, func(b *testing.B) {
			ev := storyNamed(b, name).now()
			b.ReportAllocs()
			for b.Loop() {
				Diagnose(ev, nil)
			}
		})
	}
	for _, agents := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			ev := stallOf("starvation", agents, agents/2, 312*s, m).stream(agents/2, 200*s, 0).slot(agents/2, m).gauges(0, 420).done()
			b.ReportAllocs()
			for b.Loop() {
				Diagnose(ev, nil)
			}
		})
	}
}
