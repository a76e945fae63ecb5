package main

import (
	"fmt"
	"time"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/container"
	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/harness/waitgraph"
)

// dumpSchema names the form of what wedge dump --json prints.
const dumpSchema = "wedge.dump/1"

// dumpReport is what wedge dump has to say, and its JSON. Lists are never null; ids are those of
// goroutines; confidences are between 0 and 1.
type dumpReport struct {
	Schema string `json:"schema"` // "wedge.dump/1"
	// Snapshots are the dumps that were read: one, or more that were compared. All that follows is of
	// the last one.
	Snapshots  []dumpSnapshot `json:"snapshots"`
	Verdict    dumpVerdict    `json:"verdict"`
	Movement   *dumpMovement  `json:"movement"` // null for one dump
	Findings   []dumpFinding  `json:"findings"` // the root first
	Stages     []dumpStage    `json:"stages"`
	Objects    []dumpObject   `json:"objects"` // those with the most waiters first
	Groups     []dumpGroup    `json:"groups"`  // the largest first, those at rest last
	Goroutines int            `json:"goroutines"`
	Stuck      []int64        `json:"stuck"` // goroutines whose wait nobody is seen to be able to end
	Messages   []string       `json:"messages"`
	Tests      []dumpTest     `json:"running_tests"`
	Lacks      []string       `json:"lacks"` // what no text of this form can tell
	Text       []dumpAccount  `json:"text"`  // an account of every text that was read
	Graph      waitgraph.File `json:"graph"` // who waits for whom; filled in by withGraph

	analysis *waits.Analysis
	title    string
}

type dumpSnapshot struct {
	Name       string `json:"name"`             // of the file, or the address
	Number     int    `json:"number"`           // of the dump within it, from 1
	Source     string `json:"source,omitempty"` // such as the pod, of a text with several
	Form       string `json:"form"`
	Goroutines int    `json:"goroutines"`
	Truncated  bool   `json:"truncated"` // the text ends inside of it
}

type dumpVerdict struct {
	Outcome string   `json:"outcome"` // deadlocked, wedged, starved, slow, idle or unknown
	Reason  string   `json:"reason"`
	Decided string   `json:"decided_by"` // movement, slots, holders, locks or nothing
	Missing []string `json:"missing"`    // what the text cannot tell, and what would
	Next    []string `json:"next"`       // what to do
}

type dumpFinding struct {
	Class      string   `json:"class"`
	Confidence float64  `json:"confidence"`
	Text       string   `json:"text"`
	Because    string   `json:"because,omitempty"`
	Symptom    bool     `json:"symptom"` // another finding explains it
	Members    []int64  `json:"members"`
	Objects    []string `json:"objects"` // their names
}

type dumpStage struct {
	Stage      string `json:"stage"`
	Goroutines int    `json:"goroutines"`
}

type dumpObject struct {
	Kind    string       `json:"kind"`
	Name    string       `json:"name"`
	Address string       `json:"address,omitempty"`
	Waiters []int64      `json:"waiters"`
	Holders []dumpHolder `json:"holders"` // the likeliest first; no dump says so, they are inferred
}

type dumpHolder struct {
	Goroutine  int64   `json:"goroutine"`
	Confidence float64 `json:"confidence"`
	Why        string  `json:"why"`
}

type dumpGroup struct {
	Count    int         `json:"count"`
	State    string      `json:"state"`
	Class    string      `json:"class"`           // who can end the wait
	Stage    string      `json:"stage,omitempty"` // of a call
	Waits    string      `json:"waits_for"`
	Place    string      `json:"place"`
	Stuck    int         `json:"stuck"`
	WaitMinS float64     `json:"wait_min_s"` // as the headers say, in whole minutes
	WaitMaxS float64     `json:"wait_max_s"`
	IDs      []int64     `json:"ids"`
	Labels   []dumpLabel `json:"labels"`
	Creators []string    `json:"created_by"`
	Stack    []dumpFrame `json:"stack"` // of the first one, the innermost call first
}

type dumpLabel struct {
	Key    string   `json:"key"`
	Values []string `json:"values"` // the most frequent first, at most 10
}

type dumpFrame struct {
	Func string `json:"func"`
	Args string `json:"args"`
	File string `json:"file"`
	Line int    `json:"line"`
}

type dumpTest struct {
	Name string  `json:"name"`
	AgeS float64 `json:"age_s"`
}

// dumpAccount is what became of the bytes of a text.
type dumpAccount struct {
	Name      string      `json:"name"`
	Bytes     int64       `json:"bytes"`
	Used      int64       `json:"used_bytes"`
	Skipped   int64       `json:"skipped_bytes"`
	First     []dumpSkip  `json:"skipped"` // the first of them
	Layers    []dumpLayer `json:"layers"`  // what was undone to read it
	Truncated bool        `json:"truncated"`
}

type dumpSkip struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Text   string `json:"text"`
}

type dumpLayer struct {
	Name  string `json:"name"`
	Lines int64  `json:"lines"`
}

// labelValuesMax is how many values of a label are shown.
const labelValuesMax = 10

// reportOf makes the report of dumps of one process, in the order they were taken.
func reportOf(dumps []*snapshot, texts []*dumpText) *dumpReport {
	last := dumps[len(dumps)-1]
	a := last.analysis
	r := &dumpReport{
		Schema: dumpSchema, Goroutines: a.Goroutines, analysis: a, Messages: orEmpty(last.dump.Messages), Stuck: orEmpty(a.Stuck),
		Snapshots: []dumpSnapshot{}, Findings: []dumpFinding{}, Stages: []dumpStage{}, Objects: []dumpObject{},
		Groups: []dumpGroup{}, Tests: []dumpTest{}, Text: []dumpAccount{}, Lacks: orEmpty(last.dump.Form.Lacks()),
	}
	for _, s := range dumps {
		r.Snapshots = append(r.Snapshots, dumpSnapshot{s.name, s.index + 1, s.dump.Source, string(s.dump.Form), s.analysis.Goroutines, s.dump.Truncated})
	}
	for _, t := range last.dump.Tests {
		r.Tests = append(r.Tests, dumpTest{t.Name, t.Age.Seconds()})
	}
	r.judge(dumps)
	r.describe(a)
	for _, t := range texts {
		r.Text = append(r.Text, accountOf(t.name, &t.stats, last.dump.Layers))
	}
	r.title = "Who waits for whom: " + last.title()
	return r
}

// graph is who waits for whom. It is made when it is asked for, since it is as large as the dump.
func (r *dumpReport) graph() *waitgraph.Graph {
	g := graphOfDump(r.analysis)
	return &g
}

// graphNodesMax is how many nodes JSON has of the graph, about: where there are more, like nodes are
// taken together.
const graphNodesMax = 1000

// withGraph adds the graph for JSON.
func (r *dumpReport) withGraph() *dumpReport {
	g := r.graph()
	if len(g.Nodes) > graphNodesMax {
		g = g.Collapse(graphNodesMax)
	}
	r.Graph = g.File()
	return r
}

// title names the snapshot, with its number where there are several.
func (s *snapshot) title() string {
	title := s.name
	if s.of > 1 {
		title += fmt.Sprintf(", dump %d of %d", s.index+1, s.of)
	}
	if s.dump.Source != "" {
		title += " (" + s.dump.Source + ")"
	}
	return title
}

// describe copies what the analysis found.
func (r *dumpReport) describe(a *waits.Analysis) {
	for i := range a.Findings {
		f := &a.Findings[i]
		finding := dumpFinding{string(f.Class), f.Confidence, f.Text, f.Because, f.Symptom, orEmpty(f.Members), []string{}}
		for _, o := range f.Objects {
			finding.Objects = append(finding.Objects, a.Objects[o].Name)
		}
		r.Findings = append(r.Findings, finding)
	}
	for _, s := range a.Stages {
		r.Stages = append(r.Stages, dumpStage{s.Stage, s.Count})
	}
	for i := range a.Objects {
		o := &a.Objects[i]
		object := dumpObject{Kind: string(o.Kind), Name: o.Name, Waiters: orEmpty(o.Waiters), Holders: []dumpHolder{}}
		if o.Address != 0 {
			object.Address = fmt.Sprintf("0x%x", o.Address)
		}
		for _, h := range o.Holders {
			object.Holders = append(object.Holders, dumpHolder{h.Goroutine, h.Confidence, h.Why})
		}
		r.Objects = append(r.Objects, object)
	}
	for _, quiet := range []bool{false, true} {
		for i := range a.Groups {
			if g := &a.Groups[i]; isQuiet(g.Class) == quiet {
				r.Groups = append(r.Groups, groupOf(g))
			}
		}
	}
}

// isQuiet says whether nobody needs to look at goroutines of the class.
func isQuiet(c waits.Class) bool { return c == waits.AtRest || c == waits.Runtime }

func groupOf(g *waits.Group) dumpGroup {
	out := dumpGroup{
		Count: g.Count(), State: g.State, Class: string(g.Class), Stage: g.Stage, Waits: g.Waits, Place: g.Place, Stuck: g.Stuck,
		WaitMinS: g.WaitMin.Seconds(), WaitMaxS: g.WaitMax.Seconds(), IDs: orEmpty(g.IDs),
		Labels: []dumpLabel{}, Creators: []string{}, Stack: []dumpFrame{},
	}
	for _, l := range g.Labels {
		label := dumpLabel{Key: l.Key}
		for _, v := range l.Values[:min(len(l.Values), labelValuesMax)] {
			label.Values = append(label.Values, v.Value)
		}
		out.Labels = append(out.Labels, label)
	}
	for _, c := range g.Creators {
		if c.Value != "" {
			out.Creators = append(out.Creators, c.Value)
		}
	}
	for i, f := range g.Frames {
		if g.Gap.Count != 0 && i == g.Gap.Before {
			out.Stack = append(out.Stack, dumpFrame{Func: gapWords(g.Gap.Count)})
		}
		out.Stack = append(out.Stack, dumpFrame{f.Func, f.Args, f.File, f.Line})
	}
	return out
}

func gapWords(frames int) string {
	if frames < 0 {
		return "… frames left out by the runtime …"
	}
	return fmt.Sprintf("… %d frames left out by the runtime …", frames)
}

func accountOf(name string, s *goroutine.Stats, layers []container.Layer) dumpAccount {
	a := dumpAccount{Name: name, Bytes: s.Bytes, Used: s.UsedBytes, Skipped: s.SkippedBytes, Truncated: s.Truncated, First: []dumpSkip{}, Layers: []dumpLayer{}}
	for _, skip := range s.Skipped {
		a.First = append(a.First, dumpSkip{skip.Offset, skip.Bytes, skip.Text})
	}
	for _, l := range layers {
		a.Layers = append(a.Layers, dumpLayer{l.Name, l.Lines})
	}
	return a
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// minutes writes a range of waits as headers have them.
func (g *dumpGroup) minutes() string {
	from, to := time.Duration(g.WaitMinS*float64(time.Second)), time.Duration(g.WaitMaxS*float64(time.Second))
	switch {
	case to == 0:
		return ""
	case from == to:
		return fmt.Sprintf("%.0f min", to.Minutes())
	}
	return fmt.Sprintf("%.0f to %.0f min", from.Minutes(), to.Minutes())
}
