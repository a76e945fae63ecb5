package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// TestTimeline plays scripts and compares what the watchdog made of them.
func TestTimeline(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name string
		script
		cancel time.Duration // instant at which the run is interrupted; 0: never
		want   string
	}{
		{
			name:   "steps keep finishing",
			script: script{steps: [][]time.Duration{every(59*s, s, 600*s), every(50*s, 10*s, 400*s)}},
			want:   "completed at 9m51s: done 2 failed 0, steps 19, stalls 0",
		},
		{
			name:   "nothing to do",
			script: script{},
			want:   "completed at 0s: done 0 failed 0, steps 0, stalls 0",
		},
		{
			name:   "a step just in time",
			script: script{steps: [][]time.Duration{{60*s - 1, 61 * s}}},
			want:   "completed at 1m1s: done 1 failed 0, steps 2, stalls 0",
		},
		{
			name:   "a step just too late",
			script: script{steps: [][]time.Duration{{60*s + 1, 61 * s}}},
			want:   "completed at 1m1s: done 1 failed 0, steps 2, stalls 1; stall 1 from 0s found 1m0s first 1@1m0s latest 1@1m0s ended 1m0.000000001s",
		},
		{
			name:   "a stall, found at stall_after, that ends between two captures",
			script: script{steps: [][]time.Duration{{10 * s, 100 * s, 110 * s}}},
			want:   "completed at 1m50s: done 1 failed 0, steps 3, stalls 1; stall 1 from 10s found 1m10s first 1@1m10s latest 1@1m10s ended 1m40s",
		},
		{
			name:   "captures at 1x, 2x and 4x",
			script: script{steps: [][]time.Duration{{10 * s, 500 * s}}},
			want:   "completed at 8m20s: done 1 failed 0, steps 2, stalls 1; stall 1 from 10s found 1m10s first 1@1m10s before 2@2m10s latest 3@4m10s ended 8m20s",
		},
		{
			name:   "a second episode right after the first",
			script: script{steps: [][]time.Duration{{100 * s, 200 * s, 201 * s}, {1 * s}}},
			want: "completed at 3m21s: done 2 failed 0, steps 4, stalls 2; stall 1 from 1s found 1m1s first 1@1m1s latest 1@1m1s ended 1m40s; " +
				"stall 2 from 1m40s found 2m40s first 1@2m40s latest 1@2m40s ended 3m20s",
		},
		{
			name:   "the watchdog gives up",
			script: script{steps: [][]time.Duration{{10 * s}}, stuck: []bool{true}},
			want:   "gave_up at 10m10s: done 0 failed 0, steps 1, stalls 1; stall 1 from 10s found 1m10s first 1@1m10s before 2@2m10s latest 3@4m10s open",
		},
		{
			name:   "the horizon",
			script: script{steps: [][]time.Duration{every(10*s, 10*s, 600*s)}, options: Options{Horizon: 95 * s}},
			want:   "horizon at 1m35s: done 0 failed 0, steps 9, stalls 0",
		},
		{
			name:   "the horizon during a stall",
			script: script{steps: [][]time.Duration{{5 * s}}, stuck: []bool{true}, options: Options{Horizon: 95 * s}},
			want:   "horizon at 1m35s: done 0 failed 0, steps 1, stalls 1; stall 1 from 5s found 1m5s first 1@1m5s latest 1@1m5s open",
		},
		{
			name:   "a failed agent does not stop the others",
			script: script{steps: [][]time.Duration{{10 * s, -20 * s}, every(30*s, 30*s, 120*s)}},
			want:   "completed at 2m0s: done 1 failed 1, steps 5, stalls 0; agent-01 failed: agent-01 has had enough",
		},
		{
			name:   "fewer workers than agents",
			script: script{steps: [][]time.Duration{{10 * s}, {20 * s}, {30 * s}, {15 * s}}, options: Options{Fleet: Config{Workers: 2}}},
			want:   "completed at 30s: done 4 failed 0, steps 4, stalls 0",
		},
		{
			name:   "an interrupt before anything has happened",
			script: script{steps: [][]time.Duration{{10 * s}}},
			cancel: time.Nanosecond,
			want:   "interrupted at 0s: done 0 failed 0, steps 0, stalls 0",
		},
		{
			name:   "an interrupt while steps finish",
			script: script{steps: [][]time.Duration{every(10*s, 10*s, 600*s)}},
			cancel: 35 * s,
			want:   "interrupted at 35s: done 0 failed 0, steps 3, stalls 0",
		},
		{
			name:   "an interrupt during a stall",
			script: script{steps: [][]time.Duration{{5 * s}}, stuck: []bool{true}},
			cancel: 150 * s,
			want:   "interrupted at 2m30s: done 0 failed 0, steps 1, stalls 1; stall 1 from 5s found 1m5s first 1@1m5s before 1@1m5s latest 2@2m5s open",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World) {
				sc := c.script
				report := sc.interruptedAt(t, w, c.cancel)
				if got := describe(report); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

var errSignal = errors.New("somebody pressed a key")

// interruptedAt runs the script and cancels its context from outside at an instant.
func (s *script) interruptedAt(t *testing.T, w sim.World, at time.Duration) *Report {
	t.Helper()
	f := s.fleet(t, w)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if at == time.Nanosecond {
		cancel(errSignal)
	}
	var report *Report
	err := w.Run(ctx, func(ctx context.Context) {
		if at > time.Nanosecond {
			w.AfterFunc(at, func() { cancel(errSignal) })
			if w.Virtual() { // a virtual world looks at its context every thousand steps
				w.Spawn(context.WithoutCancel(ctx), "busy", func(ctx context.Context) {
					if w.Sleep(ctx, at) == nil {
						for range 3000 {
							_ = w.Sleep(ctx, 0)
						}
					}
				})
			}
		}
		var err error
		if report, err = f.Run(ctx); err != nil {
			t.Error(err)
		}
		if _, err := f.Run(ctx); err == nil {
			t.Error("a fleet ran twice")
		}
	})
	if at == 0 && err != nil || at > 0 && (!errors.Is(err, errSignal) || !errors.Is(report.Cause, errSignal)) {
		t.Errorf("the world ended with %v, cause %v", err, report.Cause)
	}
	return report
}

func describe(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v at %v: done %d failed %d, steps %d, stalls %d",
		r.Why, r.End.At, r.Totals.AgentsDone, r.Totals.AgentsFailed, r.Totals.Steps, r.Stalls)
	for _, ep := range r.Episodes {
		fmt.Fprintf(&b, "; stall %d from %v found %v first %d@%v", ep.Number, ep.StartedAt, ep.DetectedAt, ep.First.Capture, ep.First.At)
		if ep.Before != nil {
			fmt.Fprintf(&b, " before %d@%v", ep.Before.Capture, ep.Before.At)
		}
		fmt.Fprintf(&b, " latest %d@%v", ep.Latest.Capture, ep.Latest.At)
		if ep.Open() {
			b.WriteString(" open")
		} else {
			fmt.Fprintf(&b, " ended %v", ep.EndedAt)
		}
		if ep.Latest.EndedAt != ep.EndedAt {
			fmt.Fprintf(&b, " (its evidence says %v)", ep.Latest.EndedAt)
		}
	}
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "; %s failed: %v", f.Agent, f.Err)
	}
	return b.String()
}
