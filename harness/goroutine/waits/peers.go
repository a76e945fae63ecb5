package waits

import (
	"fmt"
	"slices"
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
	f.Because = "one dump does not tell whether it ends"
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
	for i := range z.facts {
		s := z.shape(int32(i))
		if !s.companion || s.finding == "" {
			continue
		}
		p, ok := z.byID[z.facts[i].parent]
		if !ok || z.shape(p).waits != http2Call {
			continue
		}
		z.companions[p] = s.finding
		if s.finding == HTTPPool {
			z.moveStage(p, "headers", "connect")
		}
	}
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
