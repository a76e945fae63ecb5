package agents_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Tools print into a pipe of 64 KiB. If nobody reads it, the ninth call of 8 KiB does not come back. The
// wall runs on the real clock: a bubble does not take a blocked system call for a wait.
func TestToolOutputThatNobodyReads(t *testing.T) {
	for name, w := range map[string]sim.World{
		"virtual": sim.NewVirtual(sim.VirtualOptions{Seed: seed}),
		"wall":    sim.NewWall(sim.WallOptions{Seed: seed, Scale: 1000}),
	} {
		t.Run(name, func(t *testing.T) {
			err := w.Run(context.Background(), func(ctx context.Context) {
				f := fleet{w: w, wf: short(3), faults: []fault.Fault{{ID: "unread", Where: fault.Tool, What: fault.Unread, Agent: "agent-01"}}}
				f.wf.ToolOutputBytes = 8 << 10
				ctx, cancel := w.WithCancel(ctx)
				f.start(t, ctx, 2)
				_ = f.procs[1].Wait(ctx)
				if err := f.errs[1]; err != nil {
					t.Errorf("seed %d: whose output is read: %v", seed, err)
				}
				full := func() (o sim.ObjectState) {
					for _, o = range w.Objects() {
						if o.Name == "output of the tools of agent-01" {
							return o
						}
					}
					return o
				}
				for range 1000 {
					if o := full(); o.InUse == sim.PipeBytes && len(o.Waiters) == 1 {
						break
					}
					_ = w.Sleep(ctx, time.Second)
				}
				o := full()
				if o.InUse != sim.PipeBytes || len(o.Waiters) != 1 || o.Waiters[0].What != agents.ToolReadMessage {
					t.Errorf("seed %d: pipe %+v", seed, o)
				}
				if s := f.agents[0].State(); s.Stage != pacer.StageTool || s.Round != 3 || s.Step != 1 || len(s.WaitsFor) != 1 || s.WaitsFor[0] != o.Name {
					t.Errorf("seed %d: state %+v", seed, s)
				}
				stop := errors.New("stop")
				cancel(stop)
				_ = f.procs[0].Wait(context.WithoutCancel(ctx))
				if f.errs[0] != stop { //nolint:errorlint // as it is
					t.Errorf("seed %d: error %v, want the cause", seed, f.errs[0])
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A tool that prints more than the pipe holds is read while it prints.
func TestToolOutputIsRead(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := fleet{w: w, wf: short(1)}
		f.wf.ToolOutputBytes = 5 * sim.PipeBytes / 2
		f.start(t, ctx, 1)
		if err := f.wait(ctx); err != nil {
			t.Error(err)
		}
	})
}
