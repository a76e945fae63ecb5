package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// How often progress is shown: a terminal's line is redrawn, a file gets a line now and then. Runs that
// are over sooner show none.
const (
	redrawEvery = 500 * time.Millisecond
	lineEvery   = 10 * time.Second
)

// showLines shows a line that changes, until the returned function is called.
func showLines(w io.Writer, line func() string) (stop func()) {
	s := styleOf(w)
	every := lineEvery
	if s.width > 0 {
		every = redrawEvery
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				if s.width > 0 {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				if s.width > 0 {
					fmt.Fprintf(w, "\r\x1b[K%s", s.dim(cut(line(), s.width-1)))
				} else {
					fmt.Fprintln(w, line())
				}
			}
		}
	}()
	return func() {
		close(done)
		select {
		case <-ended:
		case <-time.After(time.Second): // a run that broke off may keep the monitor for good
		}
	}
}

// progressLine is one line about a run, the most important first, since a narrow terminal cuts it.
func progressLine(p harness.Progress, agents int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "t=%.0f s", p.At.Seconds())
	if p.Stall > 0 {
		fmt.Fprintf(&b, "  STALL %d for %.0f s", p.Stall, p.StalledFor.Seconds())
	}
	fmt.Fprintf(&b, "  agents %d/%d done", p.Totals.AgentsDone, agents)
	if p.Totals.AgentsFailed > 0 {
		fmt.Fprintf(&b, " (%d failed)", p.Totals.AgentsFailed)
	}
	fmt.Fprintf(&b, "  steps %d  calls %d", p.Totals.Steps, p.Calls)
	if p.Calls > 0 {
		b.WriteByte(':')
	}
	for stage, n := range p.ByStage {
		if n > 0 {
			fmt.Fprintf(&b, " %d %s", n, pacer.Stage(stage))
		}
	}
	return b.String()
}

func cut(line string, width int) string {
	if r := []rune(line); len(r) > width {
		return string(r[:max(0, width-1)]) + "…"
	}
	return line
}
