package waits

import (
	"fmt"
	"slices"
	"strings"
)

// judgePeers is for a program that only waits for the outside and for timers.
func (z *analyzer) judgePeers(v *Verdict) {
	v.Decided = "movement"
	var parts []string
	for i := range z.a.Findings {
		parts = append(parts, z.a.Findings[i].Text)
	}
	v.Reason = "all waits can be ended from outside or by timers; one dump does not tell slow from wedged: " + strings.Join(parts, "; ")
}

// judgeQuiet is for a dump without findings.
func (z *analyzer) judgeQuiet(v *Verdict) {
	running, resting := 0, 0
	for i := range z.facts {
		s := z.shape(int32(i))
		switch z.class(int32(i)) {
		case Running:
			if s.role == plain {
				running += int(z.facts[i].count)
			}
		case AtRest:
			resting += int(z.facts[i].count)
		}
	}
	switch {
	case z.a.Goroutines == 0:
		v.Reason = "the text has no goroutine"
	case running > 0:
		v.Reason = fmt.Sprintf("%d of %d goroutines run or are ready to; one dump does not tell whether they get anywhere", running, z.a.Goroutines)
	case resting > 0 && len(z.waits) == 0 && len(z.live) == 0:
		v.Outcome, v.Decided = Idle, "holders"
		v.Reason = fmt.Sprintf("nobody waits for anybody: %d of %d goroutines are at rest until work comes", resting, z.a.Goroutines)
	default:
		v.Reason = fmt.Sprintf("no trouble is seen in one dump of %d goroutines, and one dump does not tell what moves", z.a.Goroutines)
	}
	if g := z.crowd(); g != nil && v.Outcome == Unknown {
		v.Reason += fmt.Sprintf("; %d wait for %s at %s, which is a leak if they only become more", g.Count(), g.Waits, g.Place)
	}
}

// crowd is the largest group in one wait for others of the program, nil if most goroutines are elsewhere.
func (z *analyzer) crowd() *Group {
	for i := range z.a.Groups {
		if g := &z.a.Groups[i]; g.Class == ProgramEnding && g.Count() >= crowdMin && 2*g.Count() > z.a.Goroutines {
			return g
		}
	}
	return nil
}

// crowdMin is how many goroutines at one place are worth a word.
const crowdMin = 10

// missing says what the text cannot tell.
func (z *analyzer) missing() []string {
	var list []string
	unnamed, shown := 0, 0
	for _, i := range z.waits {
		switch z.shape(i).kind {
		case Channel, RWMutex:
			if z.facts[i].object == 0 {
				unnamed += int(z.facts[i].count)
			} else {
				shown++
			}
		}
	}
	if unnamed > 0 && shown == 0 {
		what := fmt.Sprintf("which channels or RWMutexes %d goroutines wait for", unnamed)
		if unnamed == 1 {
			what = "which channel or RWMutex 1 goroutine waits for"
		}
		list = append(list, what+": a dump by SIGQUIT or of a crash has the addresses")
	}
	return list
}

// nextDump is the step that decides between slow and stuck.
const nextDump = "take a second dump some seconds later and compare: wedge dump FIRST SECOND, or wedge dump http://HOST:PORT/debug/pprof/goroutine"

// nextTime is the same for a process that a signal or a crash has ended.
const nextTime = "this process has ended, so of the next one that hangs take two dumps, some seconds apart, and compare them: wedge dump http://HOST:PORT/debug/pprof/goroutine asks for them, without ending it"

// fullDumps is the same for a profile, which has too little to be compared.
const fullDumps = "take two dumps with states and numbers, some seconds apart, and compare them: wedge dump http://HOST:PORT/debug/pprof/goroutine asks for them (it adds ?debug=2)"

// quit is the step that ends the process.
const quit = "if the process may end: kill -QUIT PID prints the addresses of channels"

// partDump is what a part of a dump cannot tell, and wholeDump what would.
const (
	partDump  = "the goroutines that are missing from the text, which is only a part of a dump: any of them may end the waits of others"
	wholeDump = "get the whole dump: a log without a limit of lines (kubectl logs without --tail), a buffer that is large enough"
)

// addNext says what to do.
func (z *analyzer) addNext(v *Verdict) {
	if z.b.Partial {
		v.Next = append(v.Next, wholeDump)
	}
	switch {
	case v.Outcome == Deadlocked || v.Outcome == Idle:
	case len(z.b.Messages) > 0:
		v.Next = append(v.Next, nextTime)
	case z.a.hasIDs():
		v.Next = append(v.Next, nextDump)
	default:
		v.Next = append(v.Next, fullDumps)
	}
	if slices.ContainsFunc(v.Missing, func(m string) bool { return strings.Contains(m, "SIGQUIT") }) {
		v.Next = append(v.Next, quit)
	}
	if root := z.root(); root != nil && v.Outcome != Unknown {
		v.Next = append(v.Next, z.placesToRead(root)...)
	}
	lastQuit(v)
}

// lastQuit puts the step that ends the process after all others.
func lastQuit(v *Verdict) {
	if i := slices.Index(v.Next, quit); i >= 0 {
		v.Next = append(slices.Delete(slices.Clone(v.Next), i, i+1), quit)
	}
}

// placesToRead says which places in the source to look at first.
func (z *analyzer) placesToRead(f *Finding) []string {
	places := z.a.Places(f)
	if len(places) == 0 {
		return nil
	}
	return []string{"read " + strings.Join(places, ", ")}
}

// Places lists the places in the source where the members of a finding are, the first few.
func (a *Analysis) Places(f *Finding) []string {
	members := map[int64]bool{}
	for _, id := range f.Members {
		members[id] = true
	}
	var places []string
	for i := range a.Groups {
		g := &a.Groups[i]
		isIn := slices.ContainsFunc(g.IDs, func(id int64) bool { return members[id] })
		if isIn && !slices.Contains(places, g.Place) && len(places) < partsMax {
			places = append(places, g.Place)
		}
	}
	return places
}
