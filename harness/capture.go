package harness

import (
	"example.com/wedge/harness/sim"
)

// snapshot begins a piece of evidence with what the ledger and the sampler know at this instant. The
// monitor is held.
func (f *Fleet) snapshot(now sim.Instant) *Evidence {
	l := f.ledger
	if f.o.Guests || f.endless != nil { // their number is not known beforehand
		f.o.Setup.Agents, f.o.Setup.Workers = l.tasks, l.watch.busy
	}
	e := &Evidence{
		Run:        f.o.Name,
		At:         now,
		StalledFor: l.watch.idle(now),
		Setup:      f.o.Setup,
		Totals:     l.total,
		Window:     l.window(),
		Agents:     l.agentStates(),
		Unheard:    l.unheard(),
		Tools:      l.toolStats(),
		Samples:    f.sampler.since(l.watch.last.Add(-f.o.Watchdog.Window)),
	}
	if f.o.Controls != nil {
		e.Controls = new(f.o.Controls())
	}
	return e
}

// fill adds what others know: the pacer, the world, the router's log, and the goroutine dump, which
// is returned as well unless nobody is at work. On the wall each is of an instant of its own, close to that of the snapshot.
// The monitor is not held; capturing is.
func (f *Fleet) fill(e *Evidence) *dump {
	e.Calls = f.o.Calls()
	for i := range e.Calls {
		e.Totals.TokensReceived += e.Calls[i].Tokens
		e.Window.TokensReceived += e.Calls[i].Tokens
	}
	e.Objects = f.w.Objects()
	e.Processes = f.w.Processes()
	waits := make(map[string]string, len(e.Processes))
	for i := range e.Processes {
		waits[e.Processes[i].Name] = e.Processes[i].WaitsFor
	}
	for i := range e.Agents {
		e.Agents[i].Waits = waits[e.Agents[i].Name]
	}
	if f.o.Router != nil {
		view := f.o.Router.View()
		view.Answered = f.o.Router.answers(e.Calls)
		e.Router = &view
	}
	if !f.o.Dumps || len(e.Agents) == 0 && len(e.Calls) == 0 {
		return nil
	}
	d, err := f.dumper.take(f.dumped, f.o.Bundle != nil)
	if err != nil {
		e.DumpErr = err.Error()
		return nil
	}
	f.dumped, e.Goroutines = d.stacks, d.view
	return d
}

// captureEnd captures how things stand at the end of the run, as episode 0. capturing is held.
func (f *Fleet) captureEnd() *Evidence {
	f.w.Lock()
	e := f.snapshot(f.w.Now())
	open := f.current != nil
	f.w.Unlock()
	e.Capture = 1
	if !open { // the latest dump is of an episode that has ended, so there is nothing to compare with
		f.dumped = nil
	}
	d := f.fill(e)
	writeCapture(f.o.Bundle, EndDir, e, d)
	f.drawWaits(EndDir, e, nil)
	return e
}
