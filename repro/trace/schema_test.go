package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// traceEvent is an event as the trace-event format has it. Times are in microseconds.
type traceEvent struct {
	Ph   string         `json:"ph"`
	Pid  *int           `json:"pid"`
	Tid  *int           `json:"tid"`
	TS   *int64         `json:"ts"`
	Dur  *int64         `json:"dur"`
	Name string         `json:"name"`
	Cat  string         `json:"cat"`
	ID   any            `json:"id"`
	S    string         `json:"s"`
	BP   string         `json:"bp"`
	Args map[string]any `json:"args"`

	index int // in the file
}

func (e *traceEvent) track() track { return track{*e.Pid, *e.Tid} }
func (e *traceEvent) end() int64   { return *e.TS + *e.Dur }

func (e *traceEvent) String() string {
	text, _ := json.Marshal(e)
	return fmt.Sprintf("event %d: %s", e.index, text)
}

type traceFile struct {
	TraceEvents     []*traceEvent  `json:"traceEvents"`
	DisplayTimeUnit string         `json:"displayTimeUnit"`
	OtherData       map[string]any `json:"otherData"`
}

// parse reads a trace, and refuses any field that the format does not have.
func parse(text []byte) (*traceFile, error) {
	var f traceFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	for i, e := range f.TraceEvents {
		e.index = i
	}
	return &f, nil
}

// checker collects what is wrong with a trace.
type checker struct{ problems []string }

func (c *checker) say(format string, args ...any) {
	if len(c.problems) < 20 {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// checkSchema holds a trace against the description of the format: the fields that each phase must and may
// have, pairs of begin and end, slices of a track within each other, arrows between slices, names.
func checkSchema(f *traceFile) []string {
	c := &checker{}
	if f.DisplayTimeUnit != "ms" && f.DisplayTimeUnit != "ns" {
		c.say("displayTimeUnit is %q", f.DisplayTimeUnit)
	}
	for _, e := range f.TraceEvents {
		c.fields(e)
	}
	if len(c.problems) == 0 {
		c.names(f)
		slices := c.nesting(f)
		c.asynchronous(f)
		c.flows(f, slices)
		c.counters(f)
	}
	return c.problems
}

// mayHave lists, by phase, the fields beyond ph, pid, tid, ts and name.
var mayHave = map[string]string{
	"B": "cat args", "E": "cat args", "X": "cat dur args", "i": "cat s args", "C": "cat args", "M": "cat args",
	"b": "cat id args", "e": "cat id args", "s": "cat id", "f": "cat id bp",
}

func (c *checker) fields(e *traceEvent) {
	allowed, ok := mayHave[e.Ph]
	if !ok {
		c.say("%v: phase %q", e, e.Ph)
		return
	}
	if e.Pid == nil || e.Tid == nil || e.TS == nil || *e.Pid <= 0 || *e.Tid < 0 || *e.TS < 0 {
		c.say("%v: pid, tid or ts is missing or below its least value", e)
		return
	}
	if e.Name == "" && e.Ph != "E" {
		c.say("%v: no name", e)
	}
	for _, field := range []struct {
		name  string
		there bool
	}{
		{"dur", e.Dur != nil}, {"cat", e.Cat != ""}, {"id", e.ID != nil}, {"s", e.S != ""}, {"bp", e.BP != ""}, {"args", e.Args != nil},
	} {
		may := slices.Contains(strings.Fields(allowed), field.name)
		must := may && field.name != "args" || field.name == "args" && (e.Ph == "C" || e.Ph == "M")
		if field.there && !may || must && !field.there {
			c.say("%v: field %s: there: %v, allowed: %v, wanted: %v", e, field.name, field.there, may, must)
		}
	}
	switch {
	case e.Ph == "X" && e.Dur != nil && *e.Dur < 0:
		c.say("%v: takes less than nothing", e)
	case e.Ph == "i" && !slices.Contains([]string{"t", "p", "g"}, e.S):
		c.say("%v: scope %q", e, e.S)
	case e.Ph == "f" && e.BP != "e":
		c.say("%v: binds to %q", e, e.BP)
	}
}

// names checks metadata: every process and every track with slices has one name, and no two of a process
// have the same.
func (c *checker) names(f *traceFile) {
	processes, threads, taken := map[int]string{}, map[track]string{}, map[string]bool{}
	for _, e := range f.TraceEvents {
		if e.Ph != "M" {
			continue
		}
		name, _ := e.Args["name"].(string)
		switch e.Name {
		case "process_name":
			if processes[*e.Pid] != "" || name == "" {
				c.say("%v: a second name, or none", e)
			}
			processes[*e.Pid] = name
		case "thread_name":
			key := fmt.Sprint(*e.Pid, "/", name)
			if threads[e.track()] != "" || name == "" || taken[key] {
				c.say("%v: a second name, or none, or one that is taken", e)
			}
			threads[e.track()], taken[key] = name, true
		case "process_sort_index", "thread_sort_index":
			if _, ok := e.Args["sort_index"].(float64); !ok {
				c.say("%v: no sort_index", e)
			}
		case "process_labels":
			if _, ok := e.Args["labels"].(string); !ok {
				c.say("%v: no labels", e)
			}
		default:
			c.say("%v: unknown metadata", e)
		}
	}
	for _, e := range f.TraceEvents {
		if processes[*e.Pid] == "" {
			c.say("%v: its process has no name", e)
		}
		if (e.Ph == "X" || e.Ph == "B") && threads[e.track()] == "" {
			c.say("%v: its track has no name", e)
		}
	}
}

// interval is a slice, from B to E or complete.
type interval struct {
	from, to int64
	index    int // in the file, where it begins
	what     *traceEvent
}

// nesting checks that the slices of each track lie within each other, and that a viewer which sorts by the
// beginning alone, and keeps the order of the file for those that begin together, nests them so.
func (c *checker) nesting(f *traceFile) map[track][]interval {
	all := map[track][]interval{}
	open := map[track][]*traceEvent{}
	for _, e := range f.TraceEvents {
		t := e.track()
		switch e.Ph {
		case "X":
			all[t] = append(all[t], interval{*e.TS, e.end(), e.index, e})
		case "B":
			open[t] = append(open[t], e)
		case "E":
			if len(open[t]) == 0 {
				c.say("%v: nothing has begun", e)
				continue
			}
			b := open[t][len(open[t])-1]
			open[t] = open[t][:len(open[t])-1]
			if *e.TS < *b.TS {
				c.say("%v: ends before %v", e, b)
			}
			all[t] = append(all[t], interval{*b.TS, *e.TS, b.index, b})
		}
	}
	for _, events := range open {
		for _, b := range events {
			c.say("%v: does not end", b)
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b interval) int {
			if a.from != b.from {
				return int(a.from - b.from)
			}
			return a.index - b.index
		})
		var stack []interval
		for _, s := range list {
			for len(stack) > 0 && stack[len(stack)-1].to <= s.from && !(s.from == s.to && stack[len(stack)-1].to == s.from) {
				stack = stack[:len(stack)-1]
			}
			for len(stack) > 0 && stack[len(stack)-1].to < s.from {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 && s.to > stack[len(stack)-1].to {
				c.say("%v: overlaps %v", s.what, stack[len(stack)-1].what)
			}
			stack = append(stack, s)
		}
	}
	return all
}

func (c *checker) asynchronous(f *traceFile) {
	open := map[string]*traceEvent{}
	for _, e := range f.TraceEvents {
		if e.Ph != "b" && e.Ph != "e" {
			continue
		}
		key := fmt.Sprint(*e.Pid, "/", e.Cat, "/", e.ID)
		b := open[key]
		switch {
		case e.Ph == "b" && b != nil:
			c.say("%v: has begun already: %v", e, b)
		case e.Ph == "b":
			open[key] = e
		case b == nil:
			c.say("%v: has not begun", e)
		default:
			if *e.TS < *b.TS || e.Name != b.Name {
				c.say("%v: does not end %v", e, b)
			}
			delete(open, key)
		}
	}
	for _, b := range open {
		c.say("%v: does not end", b)
	}
}

// flows checks that arrows have two ends, do not point back in time, and are bound to slices.
func (c *checker) flows(f *traceFile, on map[track][]interval) {
	open := map[string]*traceEvent{}
	bound := func(e *traceEvent) bool {
		return slices.ContainsFunc(on[e.track()], func(s interval) bool { return s.from <= *e.TS && *e.TS <= s.to })
	}
	for _, e := range f.TraceEvents {
		if e.Ph != "s" && e.Ph != "f" {
			continue
		}
		if !bound(e) {
			c.say("%v: there is no slice under it", e)
		}
		key := fmt.Sprint(e.Cat, "/", e.ID)
		s := open[key]
		switch {
		case e.Ph == "s" && s != nil, e.Ph == "f" && s == nil:
			c.say("%v: has no other end, or several", e)
		case e.Ph == "s":
			open[key] = e
		default:
			if *e.TS < *s.TS || e.Name != s.Name {
				c.say("%v: does not end %v", e, s)
			}
			delete(open, key)
		}
	}
	for _, s := range open {
		c.say("%v: does not end", s)
	}
}

// counters checks that values are numbers, and that a counter's are written in the order of time.
func (c *checker) counters(f *traceFile) {
	last := map[string]int64{}
	for _, e := range f.TraceEvents {
		if e.Ph != "C" {
			continue
		}
		key := fmt.Sprint(*e.Pid, "/", e.Name)
		if at, ok := last[key]; ok && *e.TS < at {
			c.say("%v: goes back in time", e)
		}
		last[key] = *e.TS
		for name, v := range e.Args {
			if _, ok := v.(float64); !ok {
				c.say("%v: %s is no number", e, name)
			}
		}
	}
}

// TestChecksCanFail shows the schema check traces that are wrong.
func TestChecksCanFail(t *testing.T) {
	const head = `{"ph":"M","cat":"m","pid":1,"tid":0,"ts":0,"name":"process_name","args":{"name":"p"}},{"ph":"M","cat":"m","pid":1,"tid":1,"ts":0,"name":"thread_name","args":{"name":"t"}}`
	for _, events := range []string{
		`{"ph":"X","cat":"c","pid":1,"tid":1,"ts":0,"name":"a"}`,
		`{"ph":"X","cat":"c","pid":1,"tid":1,"ts":0,"dur":-1,"name":"a"}`,
		`{"ph":"X","cat":"c","pid":2,"tid":1,"ts":0,"dur":1,"name":"a"}`,
		`{"ph":"X","cat":"c","pid":1,"tid":2,"ts":0,"dur":1,"name":"a"}`,
		`{"ph":"X","cat":"c","pid":1,"tid":1,"ts":0,"dur":5,"name":"a"},{"ph":"X","cat":"c","pid":1,"tid":1,"ts":4,"dur":5,"name":"b"}`,
		`{"ph":"X","cat":"c","pid":1,"tid":1,"ts":0,"dur":5,"name":"a"},{"ph":"X","cat":"c","pid":1,"tid":1,"ts":0,"dur":6,"name":"b"}`,
		`{"ph":"B","cat":"c","pid":1,"tid":1,"ts":0,"name":"a"}`,
		`{"ph":"E","cat":"c","pid":1,"tid":1,"ts":0}`,
		`{"ph":"i","cat":"c","pid":1,"tid":1,"ts":0,"name":"a","s":"x"}`,
		`{"ph":"b","pid":1,"tid":1,"ts":0,"name":"a","cat":"c","id":"1"}`,
		`{"ph":"s","pid":1,"tid":1,"ts":0,"name":"a","cat":"c","id":1},{"ph":"f","bp":"e","pid":1,"tid":1,"ts":0,"name":"a","cat":"c","id":1}`,
		`{"ph":"C","cat":"c","pid":1,"tid":1,"ts":0,"name":"a","args":{"v":"1"}}`,
		`{"ph":"i","s":"t","pid":1,"tid":1,"ts":0,"name":"no category"}`,
		`{"ph":"Q","cat":"c","pid":1,"tid":1,"ts":0,"name":"a"}`,
	} {
		f, err := parse([]byte(`{"displayTimeUnit":"ms","traceEvents":[` + head + "," + events + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if len(checkSchema(f)) == 0 {
			t.Errorf("nothing is said about %s", events)
		}
	}
}
