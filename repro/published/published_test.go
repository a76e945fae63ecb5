package published

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestResults replays every result: each row must be within its tolerance. With -short, as under the
// race detector, it leaves out those that take seconds; nothing in them runs beside anything else.
func TestResults(t *testing.T) {
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && r.Name != "openai-go" && r.Name != "timeout-cliff" {
				t.Skip("it takes seconds")
			}
			got := r.Run(Options{})
			if len(got.Rows) == 0 || len(got.Figures) == 0 {
				t.Error("no rows or no figures")
			}
			var table strings.Builder
			for _, row := range got.Rows {
				fmt.Fprintf(&table, "%v %s | %s | %s | %s | %s\n", row.Right, row.What, row.Grade, row.Expected, row.Here, row.Tolerance)
				if !row.Right {
					t.Errorf("seeds 1 to %d: %s: here %s, %s %s, tolerance %s", got.Seeds, row.What, row.Here, row.Grade, row.Expected, row.Tolerance)
				}
			}
			t.Log("\n" + table.String())
		})
	}
}

// TestOrderDoesNotMatter: a caller may run the parts in any order.
func TestOrderDoesNotMatter(t *testing.T) {
	backwards := func(n int, do func(int)) {
		for i := n - 1; i >= 0; i-- {
			do(i)
		}
	}
	names := []string{"openai-go", "timeout-cliff", "zombie-slots"}
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		r, ok := Find(name)
		if !ok {
			t.Fatal(name)
		}
		a, b := r.Run(Options{Seeds: 1}), r.Run(Options{Seeds: 1, Each: backwards})
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: another order gives another report", name)
		}
	}
}

// TestReportJSON: what is written is what its readers may count on.
func TestReportJSON(t *testing.T) {
	r := Report{Schema: Schema, Name: "n", Source: "s", About: "a", Seeds: 2, Rows: []Row{{"w", GradeToy, "1", "2", "± 1", true}}, Right: true}
	text, err := json.Marshal(r)
	const want = `{"schema":"wedge.published/1","name":"n","source":"s","about":"a","seeds":2,"rows":[{"what":"w","grade":"toy model","expected":"1","here":"2","tolerance":"± 1","right":true}],"right":true}`
	if err != nil || string(text) != want {
		t.Errorf("%v, %s", err, text)
	}
}

func TestFindKnowsAll(t *testing.T) {
	for _, r := range All() {
		got, ok := Find(r.Name)
		if !ok || got.Name != r.Name || r.Source == "" || r.About == "" || strings.ContainsAny(r.Name, " /") {
			t.Errorf("%+v", r)
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("found nothing")
	}
}

// TestRowsCanFail: a figure that is too far off makes its report wrong.
func TestRowsCanFail(t *testing.T) {
	for i, f := range []func(*replay){
		func(p *replay) { p.about("x", GradeToy, 1, 1.2, .1, "%.1f") },
		func(p *replay) { p.percent("x", GradeToy, 100, 112, .1, "%.0f") },
		func(p *replay) { p.same("x", GradeToy, "a", "b") },
		func(p *replay) { p.holds("x", GradeToy, "a", "b", false) },
		func(p *replay) {
			v := variant{good: 1, attempts: 1, recovers: 10, within: 1, heals: 1}
			p.variant(&v, []course{{goodAfter: 1, attemptsAfter: 1, recovered: 20}})
		},
	} {
		p := &replay{Options: Options{Seeds: 1}, report: &Report{Right: true}}
		f(p)
		if p.report.Right || p.report.Rows[0].Right {
			t.Errorf("case %d is right: %+v", i, p.report.Rows)
		}
	}
}
