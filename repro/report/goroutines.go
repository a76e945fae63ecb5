package report

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// What is shown of a dump at most: the largest groups, each with the start of its stack.
const (
	groupsMax   = 40
	framesMax   = 40
	findingsMax = 8
)

// goroutinesView is a dump as the template has it.
type goroutinesView struct {
	File     string
	When     string
	Count    int
	Reason   string // what the stacks alone say
	Outcome  string
	Findings []string
	Groups   []groupView
	More     int // groups
	MoreN    int // goroutines in them
	Cut      bool
}

// groupView is the goroutines with one stack.
type groupView struct {
	Count, Stuck                     int
	State, Class, Stage, Place, Wait string
	Labels                           []string
	Stack                            string
	MoreFrames                       int
	Share                            float64
}

// goroutines reads the dump of a capture; nil if there is none.
func goroutines(s *source, c *capture) (v *goroutinesView) {
	name := path.Join(c.Dir, harness.GoroutinesText)
	text := s.text(name)
	if text == nil {
		return nil
	}
	s.guard(name, func() {
		d, err := goroutine.Parse(bytes.NewReader(text))
		if err != nil {
			s.wrong(name, clean(err.Error()))
		}
		if d == nil || d.N() == 0 {
			return
		}
		v = viewDump(d)
		v.File, v.When = name, c.Name
	})
	return v
}

func viewDump(d *goroutine.Dump) *goroutinesView {
	a := waits.Analyze(d)
	v := &goroutinesView{Count: a.Goroutines, Reason: clean(a.Verdict.Reason), Outcome: clean(string(a.Verdict.Outcome)), Cut: d.Truncated}
	for i := range a.Findings[:min(len(a.Findings), findingsMax)] {
		if text := clean(a.Findings[i].Text); !strings.Contains(v.Reason, text) {
			v.Findings = append(v.Findings, text)
		}
	}
	most := 1
	for i := range a.Groups {
		most = max(most, a.Groups[i].Count())
	}
	for i := range a.Groups {
		g := &a.Groups[i]
		if i >= groupsMax {
			v.More++
			v.MoreN += g.Count()
			continue
		}
		one := groupView{
			Count: g.Count(), Stuck: g.Stuck, State: clean(g.State), Class: clean(string(g.Class)), Stage: clean(g.Stage),
			Place: clean(g.Place), Wait: clean(g.Waits), Share: 100 * float64(g.Count()) / float64(most),
		}
		one.Stack, one.MoreFrames = stackText(g.Frames)
		for _, l := range g.Labels {
			one.Labels = append(one.Labels, labelWords(&l))
		}
		v.Groups = append(v.Groups, one)
	}
	return v
}

// stackText writes the start of a stack, and says how many frames it left out.
func stackText(stack []goroutine.Frame) (text string, more int) {
	var b strings.Builder
	for i := range stack[:min(len(stack), framesMax)] {
		f := &stack[i]
		fmt.Fprintln(&b, clean(f.Func))
		if f.File != "" {
			fmt.Fprintf(&b, "    %s:%d\n", clean(f.File), f.Line)
		}
	}
	return b.String(), max(0, len(stack)-framesMax)
}

// labelWords is a label with its commonest values.
func labelWords(l *goroutine.LabelCount) string {
	const valuesMax = 6
	words := []string{}
	for i, v := range l.Values {
		if i == valuesMax {
			words = append(words, fmt.Sprintf("and %s more", thousands(len(l.Values)-i+l.Others)))
			break
		}
		words = append(words, clean(v.Value))
	}
	return clean(l.Key) + ": " + strings.Join(words, ", ")
}
