package harness

import (
	"context"
	"slices"

	"example.com/wedge/harness/sim"
)

// guard is the watchdog's process. It sleeps until something may be due; steps cost it nothing. What
// is due is decided by watch.
func (f *Fleet) guard(ctx context.Context) {
	for {
		f.w.Lock()
		due, wait := f.ledger.watch.look(f.w.Now())
		if due == orderGiveUp {
			f.end(GaveUp)
			f.w.Unlock()
			return
		}
		f.w.Unlock()
		var err error
		if due == orderCapture {
			err = f.captureStall(ctx)
		} else {
			err = f.w.Sleep(ctx, wait)
		}
		if err == nil {
			err = f.settleAlone(ctx)
		}
		if err != nil {
			return
		}
	}
}

// captureStall captures a stall, if there is one still once the gauges have been read.
func (f *Fleet) captureStall(ctx context.Context) error {
	if err := f.sampler.readNow(ctx); err != nil {
		return err
	}
	turn, err := f.capturing.Acquire(ctx, sim.Party{})
	if err != nil {
		return err
	}
	defer func() { _ = turn.Release() }()
	f.settle()
	f.w.Lock()
	now := f.w.Now()
	if due, _ := f.ledger.watch.look(now); due != orderCapture || f.why != Running {
		f.w.Unlock()
		return nil
	}
	ep, e := f.openCapture(now)
	f.w.Unlock()
	f.complete(ep, e)
	return nil
}

// openCapture does the part of a capture that belongs to one instant. The monitor is held.
func (f *Fleet) openCapture(now sim.Instant) (*Episode, *Evidence) {
	number, shot := f.ledger.watch.capture(now)
	if f.current == nil {
		f.current = &Episode{Number: number, StartedAt: f.ledger.watch.last, DetectedAt: now}
		if f.o.Bundle != nil {
			f.current.Dir = StallDir(number)
		}
		f.glimpse = StallGlimpse{Episode: number, StartedAt: f.current.StartedAt, DetectedAt: now}
	}
	e := f.snapshot(now)
	e.Episode, e.Capture, e.DetectedAt = number, shot, f.current.DetectedAt
	f.ledger.journal.stall(now, number, shot, e.StalledFor, f.ledger.calls, f.ledger.sent())
	return f.current, e
}

// complete does the rest, for which the monitor is not held, and writes it down.
func (f *Fleet) complete(ep *Episode, e *Evidence) {
	if e.Capture == 1 {
		f.keep(ep)
	}
	d := f.fill(e)
	if ep.First == nil {
		ep.First = e
	}
	ep.Before, ep.Latest = ep.Latest, e
	writeCapture(f.o.Bundle, ep.Dir, e, d)
	f.drawWaits(ep.Dir, e, ep.Before)
	f.judge(ep)
	f.o.Bundle.Flush()
}

// keep makes room for an episode: the first ones stay, and of the others the last.
func (f *Fleet) keep(ep *Episode) {
	f.dumped = nil
	if n := f.o.Watchdog.EpisodesKept; len(f.episodes) == n {
		if dropped := f.episodes[n-1]; dropped.Dir != "" {
			f.o.Bundle.RemoveAll(dropped.Dir)
		}
		f.episodes = f.episodes[:n-1]
	}
	f.episodes = append(f.episodes, ep)
}

// stallEnded is told by the ledger, with the monitor held, that a step has ended a stall. The verdict
// follows: see settle.
func (f *Fleet) stallEnded(at sim.Instant, by string) {
	if f.current != nil {
		f.glimpse.EndedAt, f.glimpse.EndedBy = at, by
		f.current.EndedAt, f.current.EndedBy, f.current.endTotals = at, by, f.ledger.total
		f.current = nil
	}
}

// settleAlone is settle for who does not capture.
func (f *Fleet) settleAlone(ctx context.Context) error {
	turn, err := f.capturing.Acquire(ctx, sim.Party{})
	if err != nil {
		return err
	}
	defer func() { _ = turn.Release() }()
	f.settle()
	return nil
}

// settle judges the episodes that have ended once more, now that their end is known. capturing is
// held.
func (f *Fleet) settle() {
	for _, ep := range slices.Backward(f.episodes) {
		f.w.Lock()
		ended, by, totals := ep.EndedAt, ep.EndedBy, ep.endTotals
		f.w.Unlock()
		if ep.judged {
			return // and so are those before it
		}
		if ended == 0 || ep.Latest == nil {
			continue
		}
		e := *ep.Latest // somebody may hold the one without an end
		e.EndedAt, e.EndedBy, e.EndTotals = ended, by, totals
		f.w.Lock()
		e.After = f.sampler.between(e.At, ended)
		f.w.Unlock()
		if ep.First == ep.Latest {
			ep.First = &e
		}
		ep.Latest = &e
		ep.judged = true
		f.judge(ep)
		if f.endless != nil { // nothing that such a run remembers may grow
			ep.First, ep.Before, ep.Latest = nil, nil, nil
		}
	}
}

// judge asks for a verdict and writes it. Without a bundle nobody sees what is thought of an episode
// that goes on, so that it is asked for when the episode has ended, or the run; but who has guests may
// be somebody who waits to be told.
func (f *Fleet) judge(ep *Episode) {
	if f.o.Judge == nil || ep.Dir == "" && !ep.judged && !f.o.Guests {
		return
	}
	ep.Verdict = f.o.Judge(ep.Latest, ep.Before)
	f.tell(ep)
	if ep.Dir != "" && ep.Verdict != nil {
		f.o.Bundle.WriteJSON(ep.Dir+"/"+VerdictFile, ep.Verdict)
	}
}

// tell shows the verdict to those who watch the run.
func (f *Fleet) tell(ep *Episode) {
	f.w.Lock()
	defer f.w.Unlock()
	if f.glimpse.Episode == ep.Number {
		f.glimpse.Verdict = ep.Verdict
	}
}

// judgeOpen asks for the verdict of the episode that is open at the end of the run, if nobody has yet.
// capturing is held.
func (f *Fleet) judgeOpen() {
	if n := len(f.episodes); n > 0 && f.o.Judge != nil && f.episodes[n-1].Verdict == nil {
		ep := f.episodes[n-1]
		ep.Verdict = f.o.Judge(ep.Latest, ep.Before)
		f.tell(ep)
	}
}
