package waits

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// A Movement is what changed between two dumps of one process.
type Movement struct {
	// Still are the goroutines of both dumps with the same state and stack, and in a
	// call to the outside with the same connection and request; Moved are the others of both; Gone and New those of one dump only. IDs are not
	// used again within a process.
	Still, Moved, Gone, New int
	// Stuck are the still ones in waits that only another goroutine or the
	// outside ends, in the order of the second dump.
	Stuck []int64
	// Peers and PeersStill count the goroutines of the first dump that waited for the outside
	// in a call, and those of them that are still there.
	Peers, PeersStill int
	// Verdict is that of the second dump in the light of the first.
	Verdict Verdict
}

// key is what makes a goroutine the same in two dumps: its state and stack.
type key uint64

// keys returns one for each group.
func (z *analyzer) keys() []key {
	keys := make([]key, len(z.b.groups))
	for i, g := range z.b.groups {
		h := fnv.New64a()
		h.Write([]byte(g.state))
		for k := range g.frames {
			f := &g.frames[k]
			h.Write([]byte(f.Func))
			h.Write([]byte(f.File))
			h.Write(binary.AppendVarint(nil, int64(f.Line)))
		}
		keys[i] = key(h.Sum64())
	}
	return keys
}

// Compare tells what moved between two dumps of the same process, taken some
// seconds apart. A loop may be met twice at the same line: what did not move is
// evidence and no proof.
func Compare(before, after *Analysis) *Movement {
	m := &Movement{}
	if !before.hasIDs() || !after.hasIDs() {
		return m.byCounts(before, after)
	}
	old := make(map[int64]*fact, len(before.facts))
	for i := range before.facts {
		old[before.facts[i].id] = &before.facts[i]
	}
	still := make(map[int64]bool, len(after.facts))
	for i := range after.facts {
		f := &after.facts[i]
		b, ok := old[f.id]
		switch {
		case !ok:
			m.New++
			continue
		case before.keys[b.group] != after.keys[f.group], b.call != f.call, b.object != f.object:
			m.Moved++
		default:
			m.Still++
			still[f.id] = true
			m.noteStill(after, i)
		}
	}
	m.Gone = len(before.facts) - m.Still - m.Moved
	m.countPeers(before, still)
	m.judge(before, after, still)
	return m
}

// noteStill notes a goroutine whose wait did not end and could not by itself.
func (m *Movement) noteStill(after *Analysis, i int) {
	switch class := after.classOf(i); class {
	case PeerEnding, ProgramEnding:
		m.Stuck = append(m.Stuck, after.facts[i].id)
	}
}

// classOf is the class of the goroutine's group.
func (a *Analysis) classOf(i int) Class {
	f := &a.facts[i]
	if a.marks[i]&resting != 0 {
		return AtRest
	}
	return a.shapes[f.group].class
}

// countPeers counts calls to the outside.
func (m *Movement) countPeers(before *Analysis, still map[int64]bool) {
	for i := range before.facts {
		f := &before.facts[i]
		if before.classOf(i) != PeerEnding || before.shapes[f.group].companion {
			continue
		}
		m.Peers++
		if still[f.id] {
			m.PeersStill++
		}
	}
}

// judge follows the same order as one dump's verdict, with movement known.
func (m *Movement) judge(before, after *Analysis, still map[int64]bool) {
	v := after.Verdict
	v.Next = slices.Clone(v.Next)
	what := fmt.Sprintf("between two dumps %d goroutines stayed where they were, %d moved, %d ended, %d are new", m.Still, m.Moved, m.Gone, m.New)
	root := m.rootStill(after, still)
	switch {
	case v.Outcome == Deadlocked:
	case root == nil && m.Moved+m.Gone+m.New > 0 && len(m.Stuck) == 0:
		v = Verdict{Outcome: Idle, Decided: "movement", Reason: "nobody waits for anybody for long"}
		if m.Moved > 0 || m.Peers > 0 {
			v.Outcome = Slow
		}
	case root == nil:
		m.judgeNoRoot(&v, before, after, still)
	case (root.Class == ABBA && root.Confidence >= byReceiver) || (isCycle(root.Class) && after.allStuck(root)):
		v.Outcome, v.Decided = Deadlocked, "locks"
		if isSlot(root.Class) {
			v.Decided = "holders"
		}
		v.Reason = root.Text + because(root)
	default:
		m.judgeRoot(&v, after, root, still)
	}
	v.Reason += "; " + what
	v.Missing = slices.DeleteFunc(slices.Clone(v.Missing), func(s string) bool { return s == secondDump })
	v.Next = slices.DeleteFunc(v.Next, func(s string) bool { return s == nextDump || s == nextTime })
	if root != nil {
		read := "read " + strings.Join(after.Places(root), ", ")
		if !slices.Contains(v.Next, read) {
			v.Next = append(v.Next, read)
		}
	}
	lastQuit(&v)
	m.Verdict = v
}

// secondDump is what one dump of a program that goes on is missing.
const secondDump = "goroutines go on, so a second dump is needed to see whether the others stay where they are"

// isCycle reports whether the class is a cycle of waits within the program.
func isCycle(c FindingClass) bool { return c == SlotNested || c == SlotLockCycle }

// rootStill is the first finding all of whose members stayed.
func (m *Movement) rootStill(after *Analysis, still map[int64]bool) *Finding {
	for i := range after.Findings {
		f := &after.Findings[i]
		n := 0
		for _, id := range f.Members {
			if still[id] {
				n++
			}
		}
		if n > 0 && n >= len(f.Members)-len(f.Members)/10 {
			return f
		}
	}
	return nil
}

// judgeNoRoot is for dumps in which no trouble stayed. Those that stayed at a
// place all the same may be busy there, or not: findings have the waits of which a
// dump shows more.
func (m *Movement) judgeNoRoot(v *Verdict, before, after *Analysis, still map[int64]bool) {
	v.Decided = "movement"
	place, count := after.mostStill(still)
	piled := pileUp(before, after, still)
	handed := handedOn(after, still)
	switch {
	case handed > 0:
		v.Outcome = Slow
		v.Reason = fmt.Sprintf("%d of %d came on, so what they wait for is handed on: %s", handed, len(after.Findings[0].Members), after.Findings[0].Text)
	case m.Peers > 0 && 2*m.PeersStill < m.Peers:
		v.Outcome = Slow
		v.Reason = fmt.Sprintf("of %d calls to the outside %d came on", m.Peers, m.Peers-m.PeersStill)
	case piled != nil:
		v.Outcome = Unknown
		v.Reason = fmt.Sprintf("goroutines pile up: %d waited for %s at %s before, %d after, and none of the first came on. That is a leak, or a queue that nobody serves", piled.before, piled.group.Waits, piled.group.Place, piled.group.Count())
		v.Next = append(v.Next, "read "+piled.group.Place+": who should end this wait may have given up, as after a timeout or an early return")
	case count > 0:
		v.Outcome = Unknown
		v.Reason = fmt.Sprintf("%d goroutines stayed in waits that others have to end, most of them, %d, %s", len(m.Stuck), count, place)
		v.Next = append(v.Next, "take a third dump, or look at a counter of progress: a loop can be met twice at the same line")
	case m.Moved+m.Gone+m.New > 0:
		v.Outcome = Slow
		v.Reason = "the program goes on"
	default:
		v.Outcome = Idle
		v.Reason = "nothing moves, and nobody waits for anybody but for work"
	}
}

// handedOn counts the members of the first finding that came on, if it is about
// something that one after the other gets: a lock, slots.
func handedOn(after *Analysis, still map[int64]bool) int {
	if len(after.Findings) == 0 {
		return 0
	}
	f := &after.Findings[0]
	if !isSlot(f.Class) && f.Class != LockOverCall && f.Class != DoubleLock {
		return 0
	}
	n := 0
	for _, id := range f.Members {
		if !still[id] {
			n++
		}
	}
	return n
}

// mostStill is the wait at which most of those stayed who wait for others or the
// outside.
func (a *Analysis) mostStill(still map[int64]bool) (place string, count int) {
	for i := range a.Groups {
		g := &a.Groups[i]
		if g.Class != ProgramEnding && g.Class != PeerEnding {
			continue
		}
		n := 0
		for _, id := range g.IDs {
			if still[id] {
				n++
			}
		}
		if n > count {
			place, count = fmt.Sprintf("for %s at %s", g.Waits, g.Place), n
		}
	}
	return place, count
}

// longMinutes is from when on the header's minutes, which may be late or early by
// a cycle of the collector, say that a wait did not end in between.
const longMinutes = 5

// judgeRoot is for trouble that stayed. A call that is answered slowly, and a
// stream that flows, look the same in every dump: only a wait that the headers say is long
// is called wedged then.
func (m *Movement) judgeRoot(v *Verdict, after *Analysis, root *Finding, still map[int64]bool) {
	v.Reason, v.Decided = root.Text, "movement"
	if tier(root) < peerTier {
		v.Reason += because(root)
	}
	moving := 0 // of those that the finding names, the ones that came on
	for _, id := range root.Members {
		if !still[id] {
			moving++
		}
	}
	minutes, outside := after.shortestWait(root)
	switch {
	case root.Class == RateLimit:
		v.Outcome = Slow
		v.Reason += "; a timer ends it, unless the limit is 0"
		return
	case after.partial && !outside:
		v.Outcome = Unknown
	case !outside || root.Class == ExecPipe:
		v.Outcome = Wedged
	case minutes >= longMinutes:
		v.Outcome = Wedged
		v.Reason += fmt.Sprintf("; the headers say %d minutes or more", minutes)
	case tier(root) < peerTier:
		v.Outcome = Starved
		v.Reason += "; some of them wait for the outside or a timer, so it goes on if those come on"
		v.Missing = append(v.Missing, outsideDump)
	default:
		v.Outcome = Unknown
		v.Missing = append(v.Missing, outsideDump)
	}
	if outside && minutes < longMinutes && root.Class != ExecPipe {
		v.Next = append(v.Next, "look at the other end: wedge probe URL, or count bytes and answers over a minute")
	}
	v.Reason += fmt.Sprintf("; %d of its %d goroutines stayed", len(root.Members)-moving, len(root.Members))
}

// outsideDump is what no dump tells of a wait for the outside.
const outsideDump = "whether the calls to the outside come on: one that is answered slowly, and a stream that flows, look the same in every dump"

// shortestWait is the least of the minutes in the headers of those members that wait for
// the outside or a timer; outside is false if there are none.
func (a *Analysis) shortestWait(f *Finding) (minutes int, outside bool) {
	members := map[int64]bool{}
	for _, id := range f.Members {
		members[id] = true
	}
	for i := range a.facts {
		class := a.classOf(i)
		if !members[a.facts[i].id] || class != PeerEnding && class != SelfEnding && class != Running {
			continue
		}
		if n := int(a.facts[i].minutes); !outside || n < minutes {
			minutes, outside = n, true
		}
	}
	return minutes, outside
}

// allStuck reports whether all members are in Stuck, which has the order of the dump.
func (a *Analysis) allStuck(f *Finding) bool {
	stuck := slices.Clone(a.Stuck)
	slices.Sort(stuck)
	for _, id := range f.Members {
		if _, ok := slices.BinarySearchFunc(stuck, id, cmp.Compare[int64]); !ok {
			return false
		}
	}
	return true
}
