package threshold_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flag"

	"example.com/wedge/repro/threshold"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// measured has values by how they are asked for: "trend agg metric unit".
type measured struct {
	run     map[string]float64
	windows []map[string]float64
}

func (m measured) Value(trend, agg, metric, unit string) (float64, string) {
	return find(m.run, trend, agg, metric, unit)
}

func (m measured) WindowCount() int { return len(m.windows) }

func (m measured) WindowValue(i int, agg, metric, unit string) (float64, string) {
	return find(m.windows[i], "", agg, metric, unit)
}

func find(values map[string]float64, parts ...string) (float64, string) {
	key := strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
	if v, ok := values[key]; ok {
		return v, ""
	}
	return 0, "no value of " + key
}

var soak = measured{
	run: map[string]float64{
		"p95 call s": 132.5, "p50 call s": 100, "avg call s": 90, "count call": 1000, "rate call 1/s": 0.5, "p99.9 ttft s": 0.0312,
		"stalls": 0, "goodput share": 0.931, "failed calls": 12, "rate tasks 1/s": 2, "max rss bytes": 300 << 20, "amplification": 1.25,
		"growth rss share/h": 0.042, "growth rss bytes/h": 3 << 20, "growth goroutines /h": 0.5, "growth p95 call s/h": 0.25,
		"drift p50 call share": 0.3, "drift tokens_per_s share": -0.1, "max slots_in_use": 16, "growth avg agents share/h": 0,
		"tokens_per_s 1/s": 1234.56, "tokens": 123456789, "p95 task s": 7384.2,
	},
	windows: []map[string]float64{
		{"p95 call s": 100, "goodput share": 0.99},
		{"p95 call s": 180, "goodput share": 0.7},
		{},
		{"p95 call s": 119, "goodput share": 0.95},
	},
}

func TestEval(t *testing.T) {
	for _, tt := range []struct{ expr, want string }{
		{"p95(call) < 120s", `missed: 132.5s`},
		{"p95(call) < 2m13s", `met: 132.5s`},
		{"p95(call)<3m", `met: 2.208m`},
		{"p95(task) < 3h", `met: 2.051h`},
		{"p95(task) < 7000s", `missed: 2h3m4s`},
		{"med(call) <= 100 s", `met: 100s`},
		{"count(call) >= 1000", `met: 1000`},
		{"rate(call) > 20/min", `met: 30/min`},
		{"p99.9(ttft) < 50ms", `met: 31.2ms`},
		{"p99.90(ttft) < 50000µs", `met: 31200µs`},
		{"stalls == 0", `met: 0`},
		{"stalls != 0", `missed: 0`},
		{"count(stalls) == 0", `met: 0`},
		{"goodput > 0.9", `met: 0.931`},
		{"goodput > 95%", `missed: 93.1%`},
		{"failed(calls) < 10", `missed: 12`},
		{"rate(tasks) > 1", `met: 2/s`},
		{"rss < 1GiB", `met: 0.293GiB`},
		{"max(rss) < 200MiB", `missed: 300MiB`},
		{"slots_in_use <= 16", `met: 16`},
		{"amplification < 1.2", `missed: 1.25`},
		{"tokens > 1", `met: 123456789`},
		{"tokens_per_s > 1000", `met: 1235/s`},
		{"rss_growth < 5%/h", `met: 4.2%/h`},
		{"growth(rss) < 2MiB/h", `missed: 3MiB/h`},
		{"rss_growth < 0", `missed: 4.2%/h`},
		{"goroutines_growth < 1/h", `met: 0.5/h`},
		{"growth(p95(call)) < 100ms/h", `missed: 250ms/h`},
		{"growth(agents) <= 1%/h", `met: 0%/h`},
		{"call_drift < 20%", `missed: 30%`},
		{"drift(call) < 40%", `met: 30%`},
		{"tokens_per_s_drift > -5%", `missed: -10%`},
		{"each(p95(call)) < 120s", `missed: 180s in window 2`},
		{"each(p95(call)) < 200s", `met: 180s in window 2`},
		{"each(p95(call)) > 50s", `met: 100s in window 1`},
		{"each(goodput) > 0.8", `missed: 0.7 in window 2`},
		{"each(p95(ttft)) < 1s", `missing: no window has a value: no value of p95 ttft s`},
		{"p95(ttft) < 1s", `missing: no value of p95 ttft s`},
		{"stalls == 0 && goodput > 0.9", `met: 0 by stalls == 0`},
		{"stalls == 0 && goodput > 0.95", `missed: 0.931 by goodput > 0.95`},
		{"stalls > 0 || goodput > 0.9", `met: 0.931 by goodput > 0.9`},
		{"stalls > 0 || goodput > 0.95", `missed: 0 by stalls > 0`},
		{"p95(ttft) < 1s || goodput > 0.9", `met: 0.931 by goodput > 0.9`},
		{"stalls > 0 && (goodput > 0.9 || amplification < 1)", `missed: 0 by stalls > 0`},
		{"stalls > 0 && goodput > 0.9 || amplification < 2", `met: 1.25 by amplification < 2`},
		{"(stalls > 0)", `missed: 0 by stalls > 0`},
	} {
		e, err := threshold.Parse(tt.expr)
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		if got := told(e.Eval(soak)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.expr, got, tt.want)
		}
	}
}

func told(o threshold.Outcome) string {
	var out string
	switch {
	case o.Missing != "":
		return "missing: " + o.Missing
	case o.OK:
		out = "met: " + o.Text
	default:
		out = "missed: " + o.Text
	}
	if o.Window > 0 {
		out += fmt.Sprintf(" in window %d", o.Window)
	}
	if o.Term != "" {
		out += " by " + o.Term
	}
	return out
}

// TestErrors holds each line of testdata/errors.txt, an expression, against the error that follows it.
func TestErrors(t *testing.T) {
	path := filepath.Join("testdata", "errors.txt")
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(golden)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "    ") {
			continue
		}
		fmt.Fprintln(&out, line)
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		e, err := threshold.Parse(line)
		if err == nil {
			t.Errorf("%s: no error, read as %+v", line, e)
			continue
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has more than one line: %v", line, err)
		}
		fmt.Fprintf(&out, "    %v\n", err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out.String() != string(golden) {
		t.Errorf("%s: got\n%s", path, out.String())
	}
}

func TestOddTexts(t *testing.T) {
	for _, text := range []string{"", "  ", strings.Repeat("(", 5000), strings.Repeat("(", 30) + "stalls == 0" + strings.Repeat(")", 30), "stalls == \xff", "stalls == " + strings.Repeat("9", 900),
		strings.Repeat("x", 900), "stalls\n== 0 &&"} {
		if _, err := threshold.Parse(text); err == nil {
			t.Errorf("%.40q: no error", text)
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 800 {
			t.Errorf("%.40q: not one line of reasonable length: %v", text, err)
		}
	}
	if _, err := threshold.Parse(" stalls\n\t== 0 \n"); err != nil {
		t.Errorf("line breaks between words: %v", err)
	}
}

// TestNames writes an expression with everything that Names lists, and asks for a meaning of each.
func TestNames(t *testing.T) {
	limits := map[string]string{"s": "1s", "bytes": "1MiB", "share": "50%", "1/s": "1/min", "": "1"}
	parse := func(text string) {
		t.Helper()
		if _, err := threshold.Parse(text); err != nil {
			t.Error(err)
		}
	}
	seen := map[string]bool{}
	for _, n := range threshold.Names() {
		key := string(n.Kind) + " " + n.Name
		if n.Meaning == "" || strings.Contains(n.Meaning, "\n") || seen[key] {
			t.Errorf("%s: want a meaning of one line, and each once: %+v", key, n)
		}
		seen[key] = true
		if n.Kind != threshold.KindMetric {
			continue
		}
		limit, ok := limits[n.Unit]
		if !ok {
			t.Errorf("%s: unit %q is not one that is documented", n.Name, n.Unit)
		}
		aggs := strings.Fields(n.Aggs)
		if len(aggs) == 0 || n.Alone != "" {
			parse(n.Name + " < " + limit)
		}
		for _, agg := range aggs {
			of := limit
			switch agg {
			case "pNN":
				agg = "p95"
			case "count", "failed":
				of = "1"
			case "rate":
				of = "1/h"
			}
			parse(fmt.Sprintf("%s(%s) < %s", agg, n.Name, of))
			parse(fmt.Sprintf("each(%s(%s)) < %s", agg, n.Name, of))
		}
		parse(n.Name + "_growth < 5%/h")
		parse(n.Name + "_drift > -5%")
	}
}

func TestNeedsProcess(t *testing.T) {
	for text, want := range map[string]bool{"stalls == 0": false, "stalls == 0 && (goodput > 1% || rss_growth < 5%/h)": true} {
		e, err := threshold.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if e.NeedsProcess() != want {
			t.Errorf("%s: got %t", text, !want)
		}
	}
}

// FuzzParse: whatever is read gives one line of error, or an expression that reads the same again and judges without a fault.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"p95(call) < 120s", "stalls == 0 && goodput > 0.9", "each(p99.9(ttft))<1m30s||rss_growth<=-5%/h", "(((rate(tasks) > 1/min)))", "drift(med(call)) < 20 %", "p95(cal) = 3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := threshold.Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: the error has more than one line: %v", text, err)
			}
			return
		}
		out := e.Eval(soak)
		if out.OK && out.Missing != "" {
			t.Errorf("%q: met, though %s", text, out.Missing)
		}
		if _, err := json.Marshal(out); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		again, err := threshold.Parse(e.String())
		if err != nil {
			t.Fatalf("%q read, but %q not: %v", text, e, err)
		}
		if got := again.Eval(soak); got != out {
			t.Errorf("%q: got %+v, then %+v", text, out, got)
		}
	})
}

func ExampleParse() {
	e, err := threshold.Parse("p95(call) < 120s && stalls == 0")
	if err != nil {
		fmt.Println(err)
		return
	}
	out := e.Eval(soak)
	fmt.Println(out.OK, out.Term, "was", out.Text)
	_, err = threshold.Parse("p95(cal) < 120s")
	fmt.Println(err)
	// Output:
	// false p95(call) < 120s was 132.5s
	// threshold "p95(cal) < 120s": column 5: found "cal", which is no metric; did you mean call?
}
