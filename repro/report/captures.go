package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/pacer"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// capturesMax bounds the stalls whose captures are shown, callsMax the calls of each.
const (
	capturesMax = 24
	callsMax    = 12
)

// capture is how things stood in a stall, or at the end of the run.
type capture struct {
	ID      string
	Name    string // of the tab
	Title   string
	Badge   *badge
	Main    bool // shown first: the verdict of the run is about it, or nothing is there that it is about
	About   bool // the verdict of the run is about it
	Dir     string
	ev      *harness.Evidence // nil: damaged, or not there
	before  *harness.Evidence
	verdict *diagnose.Verdict
	episode int

	Summary string
	Stages  []stageRow
	Sides   *sidesView
	Objects []objectRow
	Calls   []callRow
	More    int // calls beyond
	Graph   template.HTML
	Convoys []string
}

// stageRow is a line of the table of stages.
type stageRow struct {
	Stage, Words, At, Oldest, Note string
	Calls, Agents                  int
	Share                          float64 // of the largest row, in percent
}

// sidesView is the requests of both sides.
type sidesView struct {
	diagnose.Sides
	Findings               []string
	Left, Middle, RightPct float64
}

// objectRow is something that is held and waited for.
type objectRow struct {
	Name            string
	Kind            string
	InUse, Capacity int
	Waiting         int
	Share           float64
}

// callRow is a call in flight.
type callRow struct {
	ID, Agent, Stage, For, Age, Attempts, Tokens, Token, Error string
	Slot                                                       bool
}

var stallDir = regexp.MustCompile(`^[0-9]{2,9}$`)

// captures reads how things stood in each stall and at the end.
func (v *view) captures(s *source) (captures []*capture) {
	entries, _ := fs.ReadDir(s.fs, "stalls") // none, if nothing stalled
	for _, e := range entries {
		if !e.IsDir() || !stallDir.MatchString(e.Name()) {
			continue
		}
		n, err := strconv.Atoi(e.Name())
		if err != nil || len(captures) == capturesMax {
			continue
		}
		c := &capture{ID: "stall-" + e.Name(), Name: fmt.Sprintf("Stall %d", n), Dir: path.Join("stalls", e.Name()), episode: n}
		c.About = v.Verdict != nil && v.Verdict.Run.Episode == n
		c.Main = c.About
		v.read(s, c)
		captures = append(captures, c)
	}
	slices.SortStableFunc(captures, func(a, b *capture) int { return cmp.Compare(a.episode, b.episode) })
	end := &capture{ID: "end", Name: "End of the run", Dir: harness.EndDir, Title: "How things stood as the run ended"}
	if _, err := fs.Stat(s.fs, end.Dir); err == nil {
		v.read(s, end)
		end.Main = !slices.ContainsFunc(captures, func(c *capture) bool { return c.Main })
		end.About = v.Verdict != nil && v.Verdict.Run.Episode == 0
		captures = append(captures, end)
	}
	captures = slices.DeleteFunc(captures, func(c *capture) bool { return c.ev == nil && c.verdict == nil })
	v.Unkept = v.Verdict != nil && v.Verdict.Run.Episode > 0 && !slices.ContainsFunc(captures, func(c *capture) bool { return c.About })
	return captures
}

// read reads the files of a capture and draws what they say.
func (v *view) read(s *source, c *capture) {
	s.guard(path.Join(c.Dir, harness.CallsFile), func() {
		ev, err := harness.ReadEvidence(s.fs, c.Dir, 0)
		if err != nil {
			s.wrong(c.Dir, "holds evidence that cannot be read: "+clean(err.Error()))
			return
		}
		c.ev = ev
		if ev.Capture > 1 {
			c.before, _ = harness.ReadEvidence(s.fs, c.Dir, ev.Capture-1) // without it, less is known
		}
	})
	var doc repro.Document
	name := path.Join(c.Dir, bundle.VerdictFile)
	if s.json(name, &doc) {
		c.verdict = &doc.Verdict
	} else if c.ev != nil {
		s.guard(name, func() {
			judged := diagnose.Diagnose(c.ev, c.before)
			c.verdict = &judged
		})
	}
	c.describe()
	if c.ev != nil {
		s.guard(path.Join(c.Dir, harness.WaitsFile), func() { c.draw() })
	}
}

// describe puts the capture into rows.
func (c *capture) describe() {
	if d := c.verdict; d != nil {
		c.rows(d)
		if c.episode > 0 {
			b := outcomeBadge(d.Outcome)
			c.Badge, c.Summary = &b, clean(d.Summary)
			c.Title = fmt.Sprintf("Stall %d", c.episode)
			if d.DetectedAtS > 0 {
				c.Title += ", found at " + span(d.DetectedAtS)
			}
			if d.EndedAtS != nil {
				c.Title += ", over at " + span(*d.EndedAtS)
			} else {
				c.Title += ", not over when it was last looked at"
			}
		}
	}
	if c.ev == nil {
		return
	}
	for _, o := range c.ev.Objects {
		if len(c.Objects) == callsMax || o.Capacity == 0 && len(o.Waiters) == 0 && o.InUse == 0 {
			continue
		}
		r := objectRow{Name: clean(o.Name), Kind: clean(o.Kind), InUse: o.InUse, Capacity: o.Capacity, Waiting: len(o.Waiters)}
		if o.Capacity > 0 {
			r.Share = 100 * min(1, float64(o.InUse)/float64(o.Capacity))
		}
		c.Objects = append(c.Objects, r)
	}
	calls := slices.Clone(c.ev.Calls)
	slices.SortStableFunc(calls, func(a, b pacer.CallState) int { return cmp.Compare(a.Since, b.Since) })
	c.More = max(0, len(calls)-callsMax)
	for i := range calls[:min(len(calls), callsMax)] {
		c.Calls = append(c.Calls, c.call(&calls[i]))
	}
}

// call is a call in flight in words.
func (c *capture) call(s *pacer.CallState) callRow {
	r := callRow{
		ID: clean(s.ID), Agent: clean(s.Agent), Stage: s.Stage.String(), For: span(c.ev.At.Sub(s.Since).Seconds()), Age: span(c.ev.At.Sub(s.Started).Seconds()),
		Attempts: thousands(s.Attempts), Tokens: thousands(s.Tokens), Token: "–", Error: clean(s.LastError), Slot: s.HoldsSlot,
	}
	if s.Tokens > 0 && s.LastToken > 0 {
		r.Token = span(c.ev.At.Sub(s.LastToken).Seconds()) + " ago"
	}
	return r
}

// rows makes the table of stages and the reconciliation.
func (c *capture) rows(d *diagnose.Verdict) {
	most := 1
	for _, r := range d.Stages {
		most = max(most, r.Calls+r.Agents)
	}
	for _, r := range d.Stages {
		at := stageWords(r.ServerStage)
		switch r.ServerStage {
		case diagnose.ServerNotSent:
			at = "not sent"
		case diagnose.ServerUnseen:
			at = "cannot be told"
		case diagnose.ServerUnknown:
			at = "no such request"
		case "":
			at = "–"
		}
		c.Stages = append(c.Stages, stageRow{
			Stage: stageClass(r.AgentStage), Words: stageWords(r.AgentStage), At: at, Calls: r.Calls, Agents: r.Agents,
			Oldest: span(r.OldestS), Note: clean(r.Note), Share: 100 * float64(r.Calls+r.Agents) / float64(most),
		})
	}
	if d.Sides.Usable || d.Sides.Sent > 0 {
		c.Sides = sides(&d.Sides)
	}
}

// stageClass is the name of a stage if it is one, so that it can name a class of the style sheet.
func stageClass(name string) string {
	var s pacer.Stage
	if s.UnmarshalText([]byte(name)) != nil {
		return "none"
	}
	return s.String()
}

// sides lays out how many requests each side has.
func sides(d *diagnose.Sides) *sidesView {
	v := &sidesView{Sides: *d, Findings: cleanAll(d.Findings())}
	if all := float64(d.AgentsOnly + d.Both + d.RouterOnly); all > 0 && d.Usable {
		v.Left, v.Middle, v.RightPct = 100*float64(d.AgentsOnly)/all, 100*float64(d.Both)/all, 100*float64(d.RouterOnly)/all
	}
	return v
}
