package report

import (
	"cmp"
	"encoding/json"
	"html/template"
	"slices"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/soak"
)

// view is what the page is made of. A part without content is left out of the page.
type view struct {
	Title    string
	Dir      string // what the reader calls the bundle; may be empty
	Run      runFile
	HasRun   bool
	Verdict  *repro.Document // nil: the run did not come to a verdict
	Soak     *soak.Document  // nil: it is none, or of it no document is left
	Expected string          // what was expected of it, in words, and whether it came
	Unkept   bool            // the verdict is about a stall of which there is no evidence
	Badge    badge
	Tiles    []tile
	Missing  []trouble // files that are not there, or damaged, and what the verdict says is missing
	Parts    []part
}

// runFile is what is read of run.json.
type runFile struct {
	Schema   string          `json:"schema"`
	Name     string          `json:"name"`
	Seed     uint64          `json:"seed"`
	Clock    string          `json:"clock"`
	Scale    float64         `json:"scale"`
	Version  string          `json:"version"`
	Config   json.RawMessage `json:"config"`
	Go       string          `json:"go"`
	Platform string          `json:"platform"`
	Started  string          `json:"started"`
}

// part is a section of the page.
type part struct {
	ID, Title string
	Body      template.HTML
}

// Short is what the part is called in the list of them.
func (p part) Short() string {
	switch p.ID {
	case "soak":
		return "Soak"
	case "where":
		return "Calls"
	case "lanes":
		return "Agents"
	case "gauges":
		return "Gauges"
	case "graph":
		return "Who waits"
	}
	return p.Title
}

// badge is an outcome, with what colour says besides.
type badge struct{ Text, Mood string }

// tile is a figure that stands out.
type tile struct{ Value, What, Mood string }

// build reads the bundle and makes the view of it.
func build(s *source, t *template.Template, o Options) *view {
	v := &view{Dir: clean(o.Name)}
	v.HasRun = s.json(bundle.RunFile, &v.Run)
	var doc repro.Document
	if s.json(bundle.VerdictFile, &doc) {
		v.Verdict = &doc
		v.Dir = cmp.Or(v.Dir, clean(doc.EvidenceDir))
	}
	v.Title = cmp.Or(clean(v.Run.Name), v.scenario(), "evidence")
	over := v.readSoak(s)
	v.Badge = v.badge()
	v.Expected = v.expectation()
	v.Tiles = v.tiles()
	v.Missing = v.missing(s)
	v.parts(s, t, over)
	for _, bad := range s.troubles {
		v.Missing = append(v.Missing, trouble{clean(bad.File), clean(bad.Msg)})
	}
	return v
}

// parts adds the sections of the page in their order.
func (v *view) parts(s *source, t *template.Template, over *soakView) {
	if over != nil {
		v.add(s, t, "soak", "The soak", over)
	}
	captures := v.captures(s)
	j := readJournal(s)
	s.guard(harness.EndDir, func() { j.settle(captures) })
	if len(captures) > 0 {
		v.add(s, t, "where", "Where the calls are", captures)
	}
	var end float64
	if j != nil {
		end = j.end.Seconds()
	}
	if lanes := j.view(); lanes != nil {
		lanes.Stalls = v.stallRows(j)
		v.add(s, t, "lanes", "What each agent did", lanes)
	}
	if gauges := readGauges(s).view(j.bands(), end); gauges != nil {
		v.add(s, t, "gauges", "The servers' gauges, with the load", gauges)
	}
	guest := slices.ContainsFunc(captures, func(c *capture) bool { return c.ev != nil && c.ev.Setup.FromServers })
	if slots := v.slots(j); slots != nil && !guest { // of somebody else's harness they are not known
		v.add(s, t, "slots", "Slots", slots)
	}
	if drawn := slices.DeleteFunc(slices.Clone(captures), func(c *capture) bool { return c.Graph == "" }); len(drawn) > 0 {
		v.add(s, t, "graph", "Who waits for whom", drawn)
	}
	if v.Verdict != nil && len(v.Verdict.Hypotheses) > 0 {
		v.add(s, t, "hypotheses", "Explanations", v.hypotheses())
	}
	if dump := v.dump(s, captures); dump != nil {
		v.add(s, t, "goroutines", "Goroutines", dump)
	}
	if settings := v.settings(); settings != nil {
		v.add(s, t, "settings", "Configuration", settings)
	}
	v.add(s, t, "files", "Files", listing(s))
}

// dump is the goroutines of the stall that the verdict is about, or else of the first one that has any.
func (v *view) dump(s *source, captures []*capture) *goroutinesView {
	for _, main := range []bool{true, false} {
		for _, c := range captures {
			if c.Main != main {
				continue
			}
			if d := goroutines(s, c); d != nil {
				return d
			}
		}
	}
	return nil
}

// hypothesesView is the explanations: those for which something speaks, those for which nothing is known, and those that
// were refuted.
type hypothesesView struct{ Open, Undecided, Refuted []diagnose.Hypothesis }

func (v *view) hypotheses() (h hypothesesView) {
	for _, one := range v.Verdict.Hypotheses {
		switch {
		case one.Status == diagnose.Refuted:
			h.Refuted = append(h.Refuted, one)
		case len(one.For) == 0 && one.Score == 0:
			h.Undecided = append(h.Undecided, one)
		default:
			h.Open = append(h.Open, one)
		}
	}
	return h
}

func (v *view) scenario() string {
	if v.Verdict == nil {
		return ""
	}
	return clean(v.Verdict.Scenario)
}

// badge says how the run stands in a word.
func (v *view) badge() badge {
	switch {
	case v.Soak != nil && v.Soak.Verdict != "":
		return soakBadge(v.Soak.Verdict)
	case v.Verdict == nil:
		return badge{"no verdict", "warn"}
	}
	return outcomeBadge(v.Verdict.Outcome)
}

// outcomeBadge gives an outcome its colour.
func outcomeBadge(o diagnose.Outcome) badge {
	b := badge{cmp.Or(clean(string(o)), "unknown"), "warn"}
	switch o {
	case diagnose.Completed:
		b.Mood = "good"
	case diagnose.Wedged, diagnose.Deadlocked, diagnose.Storming, diagnose.Failed:
		b.Mood = "bad"
	}
	return b
}

// expectation says what was expected and whether it came; empty if nothing was.
func (v *view) expectation() string {
	if v.Verdict == nil || v.Verdict.Expected == nil || v.Soak != nil { // a soak is there for its own verdict
		return ""
	}
	e := v.Verdict.Expected
	words := []string{}
	for _, w := range []string{string(e.Outcome), string(e.Layer), string(e.Cause)} {
		if w != "" {
			words = append(words, clean(w))
		}
	}
	text := "The scenario expects " + strings.Join(words, ", ")
	if len(words) == 0 {
		return ""
	}
	if v.Verdict.Reproduced {
		return text + ": reproduced."
	}
	return text + ": not what came."
}
