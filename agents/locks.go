package agents

import (
	"context"

	"example.com/wedge/harness/sim"
)

// lockStep takes the workspace's lock for a whole step, if the workflow says so. The lease is the zero
// one otherwise. An agent holds it across its call: nobody else begins a step until the answer is in
// and its tools have ended.
func (a *Agent) lockStep(ctx context.Context) (sim.Lease, error) {
	if a.shared.workspace == nil || a.wf.LockScope != LockStep {
		return sim.Lease{}, nil
	}
	return a.acquire(ctx, a.shared.workspace, "step")
}

// runTool takes the locks, if the tool needs them, and does the work.
func (a *Agent) runTool(ctx context.Context, r *toolRun) error {
	first, second := a.shared.workspace, a.shared.journal
	if first == nil || r.tool != ToolAppend && r.tool != ToolSave || a.wf.LockScope == LockStep {
		return a.workOn(ctx, r, r.time)
	}
	if r.lockOrder {
		first, second = second, first
	}
	one, err := a.acquire(ctx, first, r.tool)
	if err != nil {
		return err
	}
	defer func() { _ = one.Release() }() // fails only if released twice
	if err := a.w.Sleep(ctx, r.time/2); err != nil {
		return err
	}
	two, err := a.acquire(ctx, second, r.tool)
	if err != nil {
		return err
	}
	defer func() { _ = two.Release() }()
	return a.workOn(ctx, r, r.time-r.time/2)
}

func (a *Agent) acquire(ctx context.Context, l *lock, tool string) (sim.Lease, error) {
	who := sim.Party{Name: a.state.Name, What: tool}
	if lease, ok := l.TryAcquire(who); ok {
		return lease, nil
	}
	a.waitFor(l.waitsFor)
	lease, err := l.Acquire(ctx, who)
	a.waitFor(nil)
	return lease, err
}
