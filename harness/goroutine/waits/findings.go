package waits

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A trouble is clusters with the same shape at the same places: one trouble met
// many times.
type trouble struct {
	finding  Finding
	groups   []int32
	clusters int
	members  []int32
	near     int32 // one that goes on and may end it, -1 for none
	holders  []int64
	certain  bool // nobody who goes on can end it
}

// findClusters makes findings of the clusters.
func (z *analyzer) findClusters() {
	byKey := map[string]int{}
	var troubles []trouble
	for k := range z.clusters {
		c := &z.clusters[k]
		if c.explained {
			continue
		}
		s := z.sortMembers(c.members)
		class, confidence, because := z.classify(&s)
		near, certain := z.waker(c), class == ABBA && confidence >= byReceiver || class == NilChannel
		if z.allLeaked(c.members) {
			near, certain, confidence = -1, true, max(confidence, 0.9)
			because = "the runtime found that nobody can reach what they wait for"
		}
		nameless := z.facts[c.members[0]].id == 0
		if (near >= 0 || nameless || z.b.Partial) && !certain && (z.isOrdinary(class) || z.isOrdinaryNear(class, c)) {
			continue
		}
		if class == DoubleLock {
			class, confidence, because = z.lockHolder(c, &s, confidence, because)
		}
		if class == DoubleLock && confidence <= byElimination && (near >= 0 || z.b.Partial) {
			class, because = LockWait, "nobody is seen to hold it"
		}
		if nameless && len(s.locks) > 0 {
			class, confidence, because = LockWait, byType, "a profile has neither addresses nor numbers to tell who holds it"
		}
		if class == LockOverCall && z.takesDump(c.holder) || !certain && z.isHandedOn(s.objects) {
			continue
		}
		groups := z.groupsOf(c.members)
		key := string(class)
		for _, g := range groups {
			key += string(binary.AppendVarint(nil, int64(g)))
		}
		key += fmt.Sprint(near >= 0)
		t, ok := byKey[key]
		if !ok {
			t = len(troubles)
			byKey[key] = t
			troubles = append(troubles, trouble{groups: groups, near: near, certain: certain,
				finding: Finding{Class: class, Confidence: confidence, Because: because}})
		}
		troubles[t].clusters++
		troubles[t].members = append(troubles[t].members, c.members...)
		if c.holder >= 0 {
			if id := z.facts[c.holder].id; !slices.Contains(troubles[t].holders, id) {
				troubles[t].holders = append(troubles[t].holders, id)
			}
			troubles[t].near = c.holder
		}
		troubles[t].finding.Confidence = min(troubles[t].finding.Confidence, confidence)
	}
	troubles = z.joinByType(troubles)
	slices.SortStableFunc(troubles, func(x, y trouble) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(len(y.members), len(x.members)))
	})
	for i := range troubles {
		z.addTrouble(&troubles[i])
	}
}

// rank puts what is proven first, and what somebody may end last.
func (t *trouble) rank() int {
	switch {
	case t.certain:
		return 0
	case t.near < 0:
		return 1
	}
	return 2
}

// waker is one that goes on and may end the waits of the cluster: one near it,
// else one that is near none. It is -1 if there is none.
func (z *analyzer) waker(c *cluster) int32 {
	if len(c.live) > 0 {
		return c.live[0]
	}
	return z.wild
}

// isOrdinary reports whether a program that goes on often has such waits, so
// that one dump shows no trouble by them.
func (z *analyzer) isOrdinary(class FindingClass) bool {
	switch class {
	case RecvNoSender, SelectForever, CondStuck, WaitGroupStuck, WaitGroupChannel, ChannelCycle, PipeStuck:
		return true
	}
	return false
}

// isOrdinaryNear is the same for one that goes on near by: the one that takes
// what is sent is only busy.
func (z *analyzer) isOrdinaryNear(class FindingClass, c *cluster) bool {
	return class == SendNoReceiver && len(c.live) > 0
}

// isHandedOn reports whether one who waited for one of the locks is about to run:
// it was just given the lock, which then is contended and moves.
func (z *analyzer) isHandedOn(locks []int32) bool {
	if z.handed == nil {
		z.handed = map[uint64]bool{}
		for _, i := range z.live {
			if o := z.facts[i].object; o != 0 && z.class(i) == Running {
				z.handed[o] = true
			}
		}
	}
	return slices.ContainsFunc(locks, func(o int32) bool { return z.handed[z.a.Objects[o].Address] })
}

// takesDump reports whether the goroutine runs since it takes the dump: those who
// wait for a lock of its go on when it has.
func (z *analyzer) takesDump(i int32) bool {
	role := z.shape(i).role
	return role == dumper || role == observer
}

// allLeaked reports whether the runtime marked all of them as leaked.
func (z *analyzer) allLeaked(members []int32) bool {
	for _, i := range members {
		if z.marks[i]&leaked == 0 {
			return false
		}
	}
	return true
}

// groupsOf lists the groups of the members, ascending.
func (z *analyzer) groupsOf(members []int32) []int32 {
	var groups []int32
	for _, i := range members {
		if g := z.facts[i].group; !z.seen[g] {
			z.seen[g] = true
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		z.seen[g] = false
	}
	slices.Sort(groups)
	return groups
}

// addTrouble makes a finding of one shape and marks who is stuck in it.
func (z *analyzer) addTrouble(t *trouble) {
	f := t.finding
	slices.Sort(t.members)
	for _, i := range t.members {
		f.Members = append(f.Members, z.facts[i].id)
		if o := z.objectOf[i]; o >= 0 && !slices.Contains(f.Objects, int(o)) && len(f.Objects) < objectsMax {
			f.Objects = append(f.Objects, int(o))
		}
		if (t.near < 0 && !z.b.Partial || t.certain) && z.facts[i].id != 0 {
			z.marks[i] |= stuck
		}
	}
	f.Members = append(f.Members, t.holders...)
	switch {
	case t.certain || f.Class == LockOverCall:
	case t.near >= 0:
		f.Confidence /= 2
		f.Because = strings.TrimPrefix(f.Because+"; ", "; ") + z.who(t.near) + " goes on and may end it"
	case z.b.Partial:
		f.Confidence /= 2
		f.Because = strings.TrimPrefix(f.Because+"; ", "; ") + "one that is missing from the text may end it"
	}
	f.Text = z.text(t)
	if len(t.holders) > 0 {
		g := z.b.groups[z.facts[t.near].group]
		f.Text += fmt.Sprintf("; the holder, it seems, waits for %s at %s", g.shape.waits, g.place())
	}
	z.a.Findings = append(z.a.Findings, f)
}

// who names a goroutine and says where it is.
func (z *analyzer) who(i int32) string {
	if z.facts[i].id == 0 {
		return "one (" + z.where(i) + ")"
	}
	return fmt.Sprintf("goroutine %d (%s)", z.facts[i].id, z.where(i))
}

// sum counts the goroutines: a profile has one fact for many.
func (z *analyzer) sum(list []int32) int {
	n := 0
	for _, i := range list {
		n += int(z.facts[i].count)
	}
	return n
}

// where is what a goroutine waits for and the place.
func (z *analyzer) where(i int32) string {
	g := z.b.groups[z.facts[i].group]
	return g.state + " at " + g.place()
}

// text is the sentence of a finding: how many, where, what for.
func (z *analyzer) text(t *trouble) string {
	text := explain[t.finding.Class] + ": " + strings.Join(z.parts(t.members, t.groups), ", ")
	if t.clusters > 1 {
		text += fmt.Sprintf(" (%d separate cases)", t.clusters)
	}
	return text
}

// parts says how many of the members wait for what at which place, the most first.
func (z *analyzer) parts(members, groups []int32) []string {
	var parts []string
	counts := map[int32]int{}
	for _, i := range members {
		counts[z.facts[i].group] += int(z.facts[i].count)
	}
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(x, y int32) int { return cmp.Compare(counts[y], counts[x]) })
	for k, g := range groups {
		if k == partsMax {
			parts = append(parts, fmt.Sprintf("and at %d other places", len(groups)-k))
			break
		}
		grp := z.b.groups[g]
		verb := "waits"
		if counts[g] > 1 {
			verb = "wait"
		}
		parts = append(parts, fmt.Sprintf("%d %s for %s at %s", counts[g], verb, grp.shape.waits, grp.place()))
	}
	return parts
}

// partsMax bounds the places that one sentence names.
const partsMax = 5

// explain has the words for each class.
var explain = map[FindingClass]string{
	DoubleLock:       "a lock is taken again by its holder, or was never given back",
	ABBA:             "locks are taken in different orders",
	RWRecursive:      "a read lock is taken twice and a writer waits in between",
	LockOverChannel:  "a lock is held by one that waits for a channel",
	LockOverWait:     "a lock is held by one that waits for a WaitGroup",
	LockOverCond:     "a lock is held by one that waits for a Cond",
	LockWait:         "a lock is not given back for now",
	LockOverCall:     "a lock is held by one that waits for the outside or a timer",
	SendNoReceiver:   "nobody receives what is sent",
	RecvNoSender:     "nobody sends what is waited for, or closes the channel",
	ChannelCycle:     "goroutines wait for each other's channels",
	SelectForever:    "no case of a select gets ready",
	NilChannel:       "a nil channel blocks for ever",
	WaitGroupStuck:   "a WaitGroup waits and nobody is left to call Done",
	WaitGroupChannel: "a WaitGroup waits for those who wait for a message",
	CondStuck:        "a Cond waits and nobody is left to signal",
	OnceStuck:        "the function of a sync.Once does not return",
	PipeStuck:        "an io.Pipe has nobody at its other end",
	SlotExhausted:    "all slots are taken",
	SlotNested:       "holders of slots wait for another of the same slots",
	SlotLeaked:       "slots are taken and nobody in the dump has one",
	SlotLockCycle:    "a holder of a slot waits for a lock whose holder waits for a slot",
	HTTPPool:         "no connection is free",
	HTTPHeaders:      "the server has not answered",
	StreamStall:      "a response body brings nothing",
	DeadConnection:   "the peer does not take what is written",
	PipeFull:         "a pipe is full and its other end does not read",
	RateLimit:        "the rate limiter makes callers wait",
	ExecWait:         "a child process has not ended",
	ExecPipe:         "a child process has ended and somebody else holds its pipe open",
	SQLPool:          "no database connection is free",
	Leak:             "the runtime found goroutines that nobody can reach",
}
