package agents

import (
	"context"
	"fmt"
	"slices"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// child is a sub-agent at work.
type child struct {
	*Agent
	task Task
	proc *sim.Process
	err  error // set by the child's process before it ends
}

// delegate spawns the sub-agents of a round and waits until all have ended. They write articles of
// their own; the conversation of their parent does not mention them. The first error of one fails
// the parent: a task of which a part is missing is not done.
func (a *Agent) delegate(ctx context.Context) error {
	children := make([]child, a.wf.SubAgents.PerRound)
	names := make([]string, len(children))
	box := a.openMailbox()
	for i := range children {
		a.kids++
		suffix := fmt.Sprintf(".s%d", a.kids)
		c := &children[i]
		c.Agent, c.task = New(a.w, a.state.Name+suffix, a.wf, a.ws, a.chat, a.obs, a.faults), Task{ID: a.job.task.ID + suffix}
		c.sub, c.forgets, c.state.Parent = true, a.forgets, a.state.Name
		names[i] = c.state.Name
	}
	a.enter(pacer.StageTool, ToolSubAgent)
	a.waitFor(box.waitsFor(names))
	start := a.w.Now()
	for i := range children {
		c := &children[i]
		c.proc = a.w.Spawn(ctx, names[i], func(ctx context.Context) {
			c.err = c.Run(ctx, c.task)
			if box != nil {
				a.deliver(box, c)
			} else {
				a.ended(c.state.Name)
			}
		})
	}
	err := a.collect(ctx, box, len(children))
	if failed := join(ctx, children); err == nil {
		err = failed
	}
	a.waitFor(nil)
	if err != nil {
		return err
	}
	a.w.Lock()
	a.obs.ToolCalled(&a.state, ToolCall{Tool: ToolSubAgent, Took: a.w.Now().Sub(start), InRange: true})
	a.w.Unlock()
	return nil
}

// collect takes one result of each child out of the mailbox. The first error ends it.
func (a *Agent) collect(ctx context.Context, box *mailbox, results int) error {
	if box == nil {
		return nil
	}
	for range results {
		r, err := box.take(ctx)
		if err != nil {
			return err
		}
		a.ended(r.from)
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// ended takes a child off the list of those waited for. The list is copied: a State may have it.
func (a *Agent) ended(name string) {
	a.w.Lock()
	defer a.w.Unlock()
	a.state.WaitsFor = slices.DeleteFunc(slices.Clone(a.state.WaitsFor), func(n string) bool { return n == name })
}

// join waits for all children, and returns the first error by their order.
func join(ctx context.Context, children []child) error {
	for i := range children {
		if err := children[i].proc.Wait(ctx); err != nil {
			// Cancelled. So are the children, whose context descends from ctx: they end soon, and
			// must have ended before their parent does.
			_ = children[i].proc.Wait(context.WithoutCancel(ctx)) // fails only if the world has stopped
		}
	}
	for i := range children {
		if err := children[i].err; err != nil {
			return err
		}
	}
	return sim.Cause(ctx)
}
