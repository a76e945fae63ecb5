package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// fullPipe is an agent whose tool waits to write into a pipe.
type fullPipe struct {
	agent, tool, pipe string
	held, capacity    int           // bytes
	waits             time.Duration // since this write began
	still             bool          // it held as much at the capture before
}

// readPipes finds the agents in a tool that has waited for room in a pipe for pipeMin or more. before may
// be nil.
func (r *reading) readPipes(before *harness.Evidence) []fullPipe {
	var found []fullPipe
	for i := range r.idle {
		a := &r.idle[i]
		if a.Stage != pacer.StageTool || a.waits || a.owed {
			continue
		}
		for k := range r.now.Objects {
			o := &r.now.Objects[k]
			if o.Kind != "pipe" {
				continue
			}
			for _, w := range o.Waiters {
				if d := age(r.now.At, w.Since); w.Name == a.Name && d >= pipeMin {
					a.piped = true
					found = append(found, fullPipe{a.Name, a.Tool, o.Name, o.InUse, o.Capacity, d, heldBefore(before, o.Name) == o.InUse})
				}
			}
		}
	}
	return found
}

// heldBefore is how many bytes a pipe held in an earlier capture; -1: not known.
func heldBefore(before *harness.Evidence, name string) int {
	if before != nil {
		for i := range before.Objects {
			if o := &before.Objects[i]; o.Kind == "pipe" && o.Name == name {
				return o.InUse
			}
		}
	}
	return -1
}

// pipeFull: a tool writes into a pipe that is full, and nobody reads it.
func pipeFull() cause {
	return cause{
		name: CausePipeFull, outcome: Wedged, layer: LayerTool,
		judge: judgePipeFull,
		because: func(r *reading) string {
			p := r.pipes
			least, most := pipeWaits(p)
			return fmt.Sprintf("%s in a tool that is blocked in a write: its output pipe is full (such as %s, with %s in it), and for %s nobody has read from it. The tool goes on when somebody does, and nobody is seen to.",
				does(len(p), "agent", "is", "are"), p[0].pipe, count(p[0].held, "byte"), span(least, most))
		},
		next: func(r *reading) []string {
			return []string{
				"read each pipe that a tool may write to until its end, its standard error too, and both at the same time; or give it a file or /dev/null",
				"look for it by hand: a thread in pipe_write (cat /proc/PID/stack), or lsof -p PID; reading from the other end by hand lets the tool go on",
			}
		},
	}
}

func pipeWaits(p []fullPipe) (least, most time.Duration) {
	for i := range p {
		if i == 0 || p[i].waits < least {
			least = p[i].waits
		}
		most = max(most, p[i].waits)
	}
	return least, most
}

func judgePipeFull(r *reading, j *judgement) {
	p := r.pipes
	if len(p) == 0 {
		j.refute("no tool has waited for %s or more for room in a pipe", secs(pipeMin))
		return
	}
	j.support(0.95 * r.share(len(p)))
	j.beside = fmt.Sprintf("%s blocked in a write into a full pipe", does(len(p), "tool", "is", "are"))
	least, most := pipeWaits(p)
	agents, still := make([]string, len(p)), 0
	for i := range p {
		agents[i] = p[i].agent
		if p[i].still {
			still++
		}
	}
	j.pro("%s for room in an output pipe for %s: %s", does(len(p), "tool", "has waited", "have waited"), span(least, most), few(agents))
	j.pro("such as %s: %s of %d in it, and %s wants to write", p[0].pipe, count(p[0].held, "byte"), p[0].capacity, p[0].tool)
	if still > 0 {
		j.pro("as much was in %s at the capture before", ofAll(still, len(p), "such pipe"))
	}
	if n := len(r.calls); n > 0 {
		j.con("%s in flight as well", does(n, "call", "is", "are"))
	}
}
