package harness

import (
	"strings"
	"time"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// WaitsView is what the goroutines of a capture wait for by their stacks alone, whatever was marked:
// what package harness/goroutine/waits makes of the dump, and of the one before if there is one.
type WaitsView struct {
	Outcome string        `json:"outcome"` // of the whole process: "deadlocked", "wedged", "starved", "slow", "idle", "unknown"
	Reason  string        `json:"reason"`  // one sentence
	Decided string        `json:"decided"` // by what: "movement", "slots", "holders", "locks", "nothing"
	Over    time.Duration `json:"over_ns"` // since the dump that it was compared with; 0: none
	Still   int           `json:"still"`   // goroutines with the same stack in both dumps; 0 without two
	Moved   int           `json:"moved"`   // with another stack, gone, or new; 0 without two
	// Findings are the shapes of trouble, the root first; FindingsCut is how many more there were.
	Findings    []WaitsFinding `json:"findings"`
	FindingsCut int            `json:"findings_cut,omitempty"`
}

// WaitsFinding is one shape of trouble that a dump shows.
type WaitsFinding struct {
	Class      string   `json:"class"`   // such as "ab-ba": see waits.FindingClass
	Members    int      `json:"members"` // goroutines
	Still      int      `json:"still"`   // of these, those that were in the same wait, which no timer ends, in the dump before; 0 without two
	Stuck      int      `json:"stuck"`   // of these, those whose wait nobody in the dump is seen to be able to end
	Agents     []string `json:"agents"`  // names on the labels of members, each once, in the order of the dump; the first few
	AgentsIn   int      `json:"agents_in"`
	Objects    []string `json:"objects"` // what is waited for, such as "mutex 0xc000012080"; the first few
	Confidence float64  `json:"confidence"`
	Text       string   `json:"text"`              // one sentence
	Because    string   `json:"because,omitempty"` // what was inferred, and from what
	Places     []string `json:"places"`            // in the source; the first few
	Symptom    bool     `json:"symptom,omitempty"` // another finding explains it
}

// Bounds of a WaitsView.
const (
	waitsFindingsMax = 12
	waitsNamesMax    = 64
	waitsTextMax     = 2000 // bytes of a sentence
)

// waitsOf sums up the analysis of a dump. before may be nil.
func waitsOf(now, before *stacks) *WaitsView {
	a := now.waits
	if a == nil {
		return nil
	}
	v, verdict := &WaitsView{Findings: []WaitsFinding{}}, a.Verdict
	still := map[int64]bool{}
	if before != nil && before.waits != nil {
		m := waits.Compare(before.waits, a)
		verdict, v.Over = m.Verdict, now.at.Sub(before.at)
		v.Still, v.Moved = m.Still, m.Moved+m.Gone+m.New
		for _, id := range m.Stuck {
			still[id] = true
		}
	}
	v.Outcome, v.Reason, v.Decided = string(verdict.Outcome), bounded(verdict.Reason), verdict.Decided
	agents, stuck := agentsByID(now.all), setOf(a.Stuck)
	for i := range a.Findings {
		if len(v.Findings) == waitsFindingsMax {
			v.FindingsCut = len(a.Findings) - i
			break
		}
		v.Findings = append(v.Findings, findingOf(a, &a.Findings[i], agents, stuck, still))
	}
	return v
}

func findingOf(a *waits.Analysis, f *waits.Finding, agents map[int64]string, stuck, still map[int64]bool) WaitsFinding {
	out := WaitsFinding{
		Class: string(f.Class), Members: len(f.Members), Confidence: f.Confidence, Text: bounded(f.Text), Because: bounded(f.Because),
		Symptom: f.Symptom, Agents: []string{}, Objects: []string{}, Places: a.Places(f),
	}
	seen := map[string]bool{}
	for _, id := range f.Members {
		if stuck[id] {
			out.Stuck++
		}
		if still[id] {
			out.Still++
		}
		if name := agents[id]; name != "" && !seen[name] {
			seen[name] = true
			if out.AgentsIn++; len(out.Agents) < waitsNamesMax {
				out.Agents = append(out.Agents, name)
			}
		}
	}
	for _, o := range f.Objects {
		if len(out.Objects) < waitsNamesMax {
			out.Objects = append(out.Objects, bounded(a.Objects[o].Name))
		}
	}
	return out
}

// agentsByID names the agents on the labels of goroutines, those that an agent started included.
func agentsByID(d *goroutine.Dump) map[int64]string {
	names := map[int64]string{}
	for i := range d.Goroutines {
		g := &d.Goroutines[i]
		if name := g.Label("agent"); name != "" && !goroutine.Inherited(g) {
			names[g.ID] = name
		}
	}
	return names
}

func setOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// bounded cuts a sentence that names very many things.
func bounded(text string) string {
	if len(text) <= waitsTextMax {
		return text
	}
	return strings.ToValidUTF8(text[:waitsTextMax], "") + "…"
}
