package agents

import (
	"context"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// result is what a sub-agent leaves for its parent.
type result struct {
	from string // its name
	err  error
}

// mailbox is where an agent finds the results of its sub-agents. The store keeps what is put into it; the
// bell keeps nothing. The owner looks into the store before it waits for the bell, so that a ring it was
// not there to hear costs nothing; one that never rings, while it waits, costs it the result.
type mailbox struct {
	w     sim.World
	name  string
	store *sim.Queue[result]
	bell  sim.Cond
}

// openMailbox returns the agent's mailbox, made when it is first needed, or nil if its workflow has
// none. The world's Objects show its store for good.
func (a *Agent) openMailbox() *mailbox {
	if a.wf.SubAgents.Results != ResultsMailbox {
		return nil
	}
	if a.mail == nil {
		name := "results for " + a.state.Name
		a.mail = &mailbox{w: a.w, name: name, store: sim.NewQueue[result](a.w, name, 0)}
	}
	return a.mail
}

// waitsFor is what the state of an agent says that waits for the results of the named sub-agents.
func (b *mailbox) waitsFor(names []string) []string {
	if b == nil {
		return names
	}
	return append([]string{b.name}, names...)
}

// take waits for a result and takes it out.
func (b *mailbox) take(ctx context.Context) (result, error) {
	if err := b.wait(ctx); err != nil {
		return result{}, err
	}
	r, _ := b.store.TryGet() // only the owner takes
	return r, nil
}

// wait waits until the store has something.
func (b *mailbox) wait(ctx context.Context) error {
	b.w.Lock()
	defer b.w.Unlock() // also when a virtual world that stops unwinds the process
	for b.store.Len() == 0 {
		if err := b.bell.WaitLocked(ctx, b.w, b.name); err != nil {
			return err
		}
	}
	return nil
}

// deliver puts a child's result into the mailbox of its parent and rings, unless a fault drops the result
// of a child that has failed, or the ring.
func (a *Agent) deliver(box *mailbox, c *child) {
	a.w.Lock()
	defer a.w.Unlock()
	o := fault.Occasion{Key: c.state.Name, At: a.w.Now(), Agent: c.state.Name, Round: a.state.Round}
	if c.err != nil && a.faults.Fires(fault.Harness, fault.SwallowError, o) != nil {
		return // whoever observes the child has been told of its error; its parent has not
	}
	box.store.PutLocked(result{c.state.Name, c.err})
	if a.faults.Fires(fault.Harness, fault.LoseWakeup, o) == nil {
		box.bell.WakeAllLocked(a.w)
	}
}
