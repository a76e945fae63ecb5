package harness

import (
	"bytes"
	"fmt"
	"slices"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// dumper takes goroutine dumps of this process. A dump stops the world, so it is taken without the
// monitor held. It shows all goroutines of the process: runs beside each other in one process get
// into each other's dumps.
type dumper struct {
	w        sim.World
	capturer goroutine.Capturer
	of       func(*goroutine.Goroutine) bool // nil: all count
}

// dump is what a capture knows from the goroutines.
type dump struct {
	text    []byte // valid until the next dump
	profile []byte // for go tool pprof; nil if not asked for
	leaks   []byte // likewise, of goroutines that are blocked for good; nil also if the runtime cannot tell
	view    *GoroutineView
	stacks  *stacks
}

// stacks is what is kept of a dump for the next one to be compared with.
type stacks struct {
	all   *goroutine.Dump
	waits *waits.Analysis // nil in virtual time: the goroutines are the kernel's coroutines
	at    sim.Instant
}

// take takes a dump and compares it with the one before, which may be nil. Profiles are only taken if
// somebody will read them.
func (d *dumper) take(before *stacks, withProfiles bool) (*dump, error) {
	now := &stacks{at: d.w.Now()}
	d.w.RefreshLabels()
	text, truncated := d.capturer.Text()
	out := &dump{text: text}
	if withProfiles {
		if err := out.takeProfiles(); err != nil {
			return nil, err
		}
	}
	all, err := goroutine.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("harness: goroutine dump: %w", err)
	}
	if d.of != nil {
		all.Goroutines = slices.DeleteFunc(all.Goroutines, func(g goroutine.Goroutine) bool { return !d.of(&g) })
	}
	now.all = all
	if !d.w.Virtual() {
		now.waits = waits.Analyze(all)
	}
	out.stacks, out.view = now, viewOf(now, before)
	out.view.Truncated = truncated
	return out, nil
}

func (d *dump) takeProfiles() error {
	var all, leaks bytes.Buffer
	if err := goroutine.WriteProfile(&all); err != nil {
		return fmt.Errorf("harness: goroutine profile: %w", err)
	}
	d.profile = all.Bytes()
	if _, err := goroutine.WriteLeakProfile(&leaks); err != nil {
		return fmt.Errorf("harness: profile of leaked goroutines: %w", err)
	}
	d.leaks = leaks.Bytes()
	return nil
}

// chatFunc is the function that every call of an agent goes through.
const chatFunc = "pacer.(*Pacer).Chat"

// viewOf counts what the dump says about the agents.
func viewOf(now, before *stacks) *GoroutineView {
	all := now.all
	v := &GoroutineView{Total: len(all.Goroutines), ByStage: []StageCount{}, SameStack: -1}
	var byStage [pacer.StageCount]int
	for i := range all.Goroutines {
		g := &all.Goroutines[i]
		if agentAndCall(g) == "" {
			continue
		}
		v.Labelled++
		if g.HasFunc(chatFunc) {
			v.InChat++
		}
		var stage pacer.Stage
		if name, ok := goroutine.Stage(g); ok && stage.UnmarshalText([]byte(name)) == nil {
			byStage[stage]++
		}
	}
	for stage, n := range byStage {
		if n > 0 {
			v.ByStage = append(v.ByStage, StageCount{Stage: pacer.Stage(stage).String(), Count: n})
		}
	}
	v.Waits = waitsOf(now, before)
	if before == nil {
		return v
	}
	v.SameStack = 0
	for _, still := range goroutine.Compare(before.all, all, agentAndCall).Still {
		v.SameStack += len(still.After)
	}
	return v
}

// agentAndCall is the key by which goroutines of two dumps are compared: an agent in the same call.
// It is empty for a goroutine that is no agent's.
func agentAndCall(g *goroutine.Goroutine) string {
	agent := g.Label("agent")
	if agent == "" || goroutine.Inherited(g) {
		return ""
	}
	return agent + "\x00" + g.Label("call")
}
