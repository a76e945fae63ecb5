package waits

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// findPeers makes findings of the waits for timers and for the outside. One
// dump cannot tell whether they end; they come last.
func (z *analyzer) findPeers() {
	z.joinCompanions()
	byClass := map[FindingClass]int{}
	var troubles []trouble
	for i := range z.facts {
		s := z.shape(int32(i))
		class := s.finding
		if z.companions[int32(i)] != "" {
			class = z.companions[int32(i)]
		}
		if class == "" || s.companion || z.class(int32(i)) == ProgramEnding {
			continue
		}
		t, ok := byClass[class]
		if !ok {
			t = len(troubles)
			byClass[class] = t
			troubles = append(troubles, trouble{finding: Finding{Class: class, Confidence: 0.3}})
		}
		troubles[t].members = append(troubles[t].members, int32(i))
	}
	for i := range troubles {
		z.addPeer(&troubles[i])
	}
}

// byCompanion is what a HTTP/2 caller waits for when the goroutine that serves it
// is known to have the finding.
var byCompanion = map[FindingClass]string{
	HTTPPool:       "a stream slot of a HTTP/2 connection, or its turn behind one that does",
	DeadConnection: "the peer to take a HTTP/2 request, or its turn behind one that does",
	HTTPHeaders:    "the answer to a HTTP/2 request",
}

// addPeer writes a finding down.
func (z *analyzer) addPeer(t *trouble) {
	t.groups = z.groupsOf(t.members)
	f := t.finding
	var longest time.Duration
	for _, i := range t.members {
		f.Members = append(f.Members, z.facts[i].id)
		longest = max(longest, time.Duration(z.facts[i].minutes)*time.Minute)
		if o := z.objectOf[i]; o >= 0 && !slices.Contains(f.Objects, int(o)) && len(f.Objects) < objectsMax {
			f.Objects = append(f.Objects, int(o))
		}
	}
	f.Text = z.text(t)
	if words := byCompanion[t.finding.Class]; words != "" {
		f.Text = strings.ReplaceAll(f.Text, http2Call, words)
	}
	f.Because = "a dump does not tell whether it ends"
	if longest > 0 {
		f.Because += fmt.Sprintf("; the header says up to %d minutes, which may be late or early", int(longest.Minutes()))
	}
	if t.finding.Class == ExecPipe {
		f.Confidence, f.Because = 0.8, "Wait has the child's exit already and waits for the copying of its output to end"
	}
	z.a.Findings = append(z.a.Findings, f)
}

// joinCompanions lets a HTTP/2 caller, which waits in roundTrip for a slot, the
// window and the answer alike, know which it is: the goroutine that it started
// for the request does.
func (z *analyzer) joinCompanions() {
	z.companions = map[int32]FindingClass{}
	blocked := z.blockedTurn()
	for i := range z.facts {
		s := z.shape(int32(i))
		if !s.companion || s.finding == "" {
			continue
		}
		p, ok := z.find(z.facts[i].parent)
		if !ok || z.shape(p).waits != http2Call {
			continue
		}
		class := s.finding
		if blocked != "" && z.awaitsTurn(z.facts[i].group) {
			class = blocked
			z.nameTurn(z.facts[i].group)
		}
		z.companions[p] = class
		if class == HTTPPool {
			z.moveStage(p, "headers", "connect")
		}
	}
}

// blockedTurn says why requests do not get their turn to send a header on a HTTP/2
// connection, where one at a time may: the one whose turn it is waits for a slot
// or for the peer to take what is written. It is empty if no dump shows one.
func (z *analyzer) blockedTurn() FindingClass {
	for _, g := range z.b.groups {
		if g.shape.companion && (g.shape.finding == HTTPPool || g.shape.finding == DeadConnection) {
			return g.shape.finding
		}
	}
	return ""
}

// awaitsTurn reports whether the group is in the first of the two selects of
// writeRequest, that for its turn; the other is for the answer. Only the lines tell
// them apart.
func (z *analyzer) awaitsTurn(group int32) bool {
	own := z.b.groups[group].lineOf(writeRequest)
	for _, g := range z.b.groups {
		if line := g.lineOf(writeRequest); line > own && g.state == "select" {
			return own > 0
		}
	}
	return false
}

// nameTurn says of a group that it waits for its turn, not for the answer.
func (z *analyzer) nameTurn(group int32) {
	if k := slices.Index(z.a.order, group); k >= 0 {
		z.a.Groups[k].Waits = "its turn to send a HTTP/2 request"
	}
}

// writeRequest is the end of the name of the function that serves a HTTP/2 request.
const writeRequest = "clientStream).writeRequest"

// lineOf is the line in the innermost frame of interest if that is of the function, else 0.
func (g *group) lineOf(name string) int {
	if p := g.shape.place; p >= 0 && strings.HasSuffix(g.frames[p].Func, name) {
		return g.frames[p].Line
	}
	return 0
}

// moveStage counts goroutine i in another stage than its own stack tells.
func (z *analyzer) moveStage(i int32, from, to string) {
	k := slices.IndexFunc(z.a.Stages, func(s StageCount) bool { return s.Stage == from })
	if k < 0 || z.facts[i].flags&inherited != 0 || z.a.Stages[k].Count == 0 {
		return
	}
	n := min(int(z.facts[i].count), z.a.Stages[k].Count)
	z.a.Stages[k].Count -= n
	z.a.Stages = addStage(z.a.Stages, to, n)
}
