package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const hangs = "../../repro/HANGS.md"

// hangClaims is what must be seen of each command of HANGS.md, in their order: what its table says, as
// patterns that its output must match.
var hangClaims = [...]struct {
	recipe int
	want   []string
}{
	{1, []string{`cause decode-memory`, `decode_prealloc 15.* decode_token_usage 0\.9`, `unchanged since 2\d\d s`, `16 without an answer`, `no token for up to [67]\d\d`}},
	{1, []string{`cause decode-memory`, `prefill_bootstrap_failed_total [1-9]`, `0 without an answer`, `\d+ status 500`, `no token for up to 3\d\d`}},
	{2, []string{`cause timeout-cascade`, `decode_queue [5-9]\d`, `without an answer`, `: 150 timeout, 30 under way`}},
	{2, []string{`cause timeout-cascade`, `engine_aborted_total 150`, `: 150 timeout, 30 under way`}},
	{3, []string{`cause inflight-pin`, `prefill_inflight 16`, `engine_aborted_total`, `without an answer`}},
	{4, []string{`cause bad-pairing`, `prefill_bootstrap 15`, `decode_prealloc 15`, `16 without an answer`, `no token for up to 1\d\d\d`}},
	{4, []string{`prefill_bootstrap_failed_total [1-9]`, `0 without an answer`, `status 500`, `no token for up to 30\d\.`}},
	{5, []string{`decode_retracted_total [1-9]\d`, `prefill_bootstrap_failed_total [1-9]`, `no token for up to 3\d\d`}},
	{6, []string{`cause ignored-abort`, `router_in_flight 24`, `decode_running 3\d`, `engine_aborted_total 0`}},
	{7, []string{`cause prefill-bottleneck`, `prefill_queue [1-9]`, `no token for up to 3\d\d`}},
	{7, []string{`router_unhealthy_workers up to 1`, `[1-9]\d* with 503`, `status 503`}},
	{8, []string{`verdict  failed`, `router_retries_total 0`, `router_open_breakers up to 0`, `router   (\d+) started, \d+ with 200, 0 without`, `\d\d+ status 500`}},
	{9, []string{`latency up to \d{6,7}\n`, `answered after up to \d{3}\.`}},
	{9, []string{`latency up to [0-9.]+m?s\n`}},
	{10, []string{`wedged`, `unchanged since [67]\d\d`, `decode_running 1`, `router_unhealthy_workers up to 0`, `16 without an answer`}},
}

var hangBlock = regexp.MustCompile("(?s)```sh\n(wedge repro [^\n]*)\n```\n\n```text\n(.*?)```\n")

// TestHangsShowsRealRuns runs the commands of HANGS.md and compares what can be seen of each with what
// the page shows, and with what it claims.
func TestHangsShowsRealRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := readFile(t, hangs)
	page, err := filepath.Abs(hangs)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	commands := hangBlock.FindAllStringSubmatch(text, -1)
	if len(commands) != len(hangClaims) || strings.Count(text, "```sh") != len(commands) {
		t.Fatalf("%d commands with what can be seen, of %d, want %d", len(commands), strings.Count(text, "```sh"), len(hangClaims))
	}
	for i, m := range commands {
		section := text[strings.LastIndex(text[:strings.Index(text, m[0])], "\n## ")+4:]
		if want := fmt.Sprintf("%d. ", hangClaims[i].recipe); !strings.HasPrefix(section, want) {
			t.Errorf("%s stands under %.20q, want %q", m[1], section, want)
		}
		seen := sightOf(t, m[1])
		for _, pattern := range hangClaims[i].want {
			if !regexp.MustCompile(pattern).MatchString(seen) {
				t.Errorf("%s: no %q in\n%s", m[1], pattern, seen)
			}
		}
		if *update {
			text = strings.Replace(text, m[0], strings.Replace(m[0], "```text\n"+m[2], "```text\n"+seen, 1), 1)
		} else if seen != m[2] {
			t.Errorf("%s: the page shows something else (go test -update rewrites it) than\n%s", m[1], seen)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sightOf runs a command line and says what can be seen of the run in the evidence that it leaves.
func sightOf(t *testing.T, line string) string {
	t.Helper()
	args := shellWords(line)
	out, errs, code := wedgeHere(t, append(args[1:], "--json")...)
	if code != exitOK && code != exitMismatch {
		t.Fatalf("%s: exit code %d: %s", line, code, errs)
	}
	var v struct {
		Outcome, Layer, Cause string
		FinalOutcome          string             `json:"final_outcome"`
		EvidenceDir           string             `json:"evidence_dir"`
		Gauges                map[string]float64 `json:"gauges"`
		Run                   struct {
			EndedAtS float64 `json:"ended_at_s"`
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	verdict := v.Outcome
	if v.Cause != "" {
		verdict += ", layer " + v.Layer + ", cause " + v.Cause
	}
	if v.FinalOutcome != v.Outcome {
		verdict += "; in the end " + v.FinalOutcome
	}
	answered := answers(t, filepath.Join(v.EvidenceDir, "router.log"))
	return "verdict  " + verdict + "\n" +
		gaugeLines(t, filepath.Join(v.EvidenceDir, "samples.jsonl"), v.Gauges) +
		answered.line() + attempts(t, filepath.Join(v.EvidenceDir, "events.jsonl"), v.Run.EndedAtS)
}

// shellWords splits a command line at its spaces, but within single quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// readLines calls f with each line of a file.
func readLines(t *testing.T, path string, f func(line string)) {
	t.Helper()
	for line := range strings.Lines(readFile(t, path)) {
		f(line)
	}
}

var (
	momentGauges = []string{
		"router_in_flight", "prefill_bootstrap", "prefill_queue", "prefill_running", "prefill_inflight",
		"decode_prealloc", "decode_transfer", "decode_queue", "decode_running", "decode_token_usage",
	}
	sumGauges = []string{
		"decode_retracted_total", "prefill_bootstrap_failed_total", "transfer_failed_total", "engine_aborted_total", "router_retries_total",
	}
	peakGauges = []string{"router_unhealthy_workers", "router_open_breakers"}
)

// gaugeLines is the operator's view: gauges as the verdict has read them, and since when those of the
// engines had not changed if that is long before the end; counters at the end; and how far the router's gauges of its
// workers rose.
func gaugeLines(t *testing.T, path string, read map[string]float64) string {
	t.Helper()
	last, peak, shown, since, end := map[string]float64{}, map[string]float64{}, "", 0.0, 0.0
	readLines(t, path, func(line string) {
		var s struct {
			T      float64            `json:"t_s"`
			Gauges map[string]float64 `json:"gauges"`
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		last, end = s.Gauges, s.T
		now := ""
		for _, name := range momentGauges[1:] {
			now += fmt.Sprint(s.Gauges[name], " ")
		}
		if now != shown {
			shown, since = now, s.T
		}
		for _, name := range peakGauges {
			peak[name] = max(peak[name], s.Gauges[name])
		}
	})
	gauges, counters := "", ""
	for _, name := range momentGauges {
		if read[name] != 0 {
			gauges += fmt.Sprintf("%s %.3g, ", name, read[name])
		}
	}
	gauges += "the others 0"
	if end-since >= 60 { // s
		gauges += fmt.Sprintf("; unchanged since %g s at the end, %g s", since, end)
	}
	for _, name := range sumGauges {
		counters += fmt.Sprintf("%s %g, ", name, last[name])
	}
	for _, name := range peakGauges {
		counters += fmt.Sprintf("%s up to %g, ", name, peak[name])
	}
	return fmt.Sprintf("gauges   %s\ncounted  %s\n", gauges, strings.TrimSuffix(counters, ", "))
}

// routed is what the router's log has.
type routed struct {
	started  int
	byStatus map[string]int
	slowest  string  // latency, as it stands there
	longest  float64 // µs
}

var latencyField = regexp.MustCompile(`status_code=(\d+) latency=([0-9.]+)(µs|ms|s)?}`)

func answers(t *testing.T, path string) (r routed) {
	t.Helper()
	r.byStatus = map[string]int{}
	readLines(t, path, func(line string) {
		m := latencyField.FindStringSubmatch(line)
		if m == nil {
			r.started++
			return
		}
		r.byStatus[m[1]]++
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		switch m[3] { // without a unit they are microseconds
		case "s":
			n *= 1e6
		case "ms":
			n *= 1e3
		}
		if n >= r.longest {
			r.longest, r.slowest = n, m[2]+m[3]
		}
	})
	return r
}

func (r *routed) line() string {
	text, open := fmt.Sprintf("router   %d started", r.started), r.started
	for _, status := range []string{"200", "500", "502", "503", "504"} {
		if n := r.byStatus[status]; n > 0 {
			text += fmt.Sprintf(", %d with %s", n, status)
			open -= n
		}
	}
	return fmt.Sprintf("%s, %d without an answer; latency up to %s\n", text, open, r.slowest)
}

// attempts is the clients' view: how their attempts ended, how long one was without any token, and how
// long an answer took.
func attempts(t *testing.T, path string, end float64) string {
	t.Helper()
	ended, total := map[string]int{}, 0
	silence, answer := 0.0, 0.0
	open := map[string]float64{} // attempts that wait for headers, by call
	readLines(t, path, func(line string) {
		var e struct {
			T              float64 `json:"t_s"`
			Event, Call    string
			Stage, Outcome string
			TookS          float64 `json:"took_s"`
			Tokens, Status int
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Event == "stage" && e.Stage == "connect":
			total++
			open[e.Call] = e.T
		case e.Event == "stage" && e.Stage == "stream":
			silence = max(silence, e.T-open[e.Call])
			open[e.Call] = end
		case e.Event == "attempt_end":
			delete(open, e.Call)
			name := e.Outcome
			if e.Status != 0 {
				name += fmt.Sprint(" ", e.Status)
			}
			ended[name]++
			if e.Outcome == "ok" {
				answer = max(answer, e.TookS)
			} else if e.Tokens == 0 {
				silence = max(silence, e.TookS)
			}
		}
	})
	for _, since := range open {
		silence = max(silence, end-since)
	}
	text, under := fmt.Sprintf("clients  %d attempts:", total), total
	for _, name := range []string{"ok", "timeout", "status 500", "status 503"} {
		if n := ended[name]; n > 0 {
			text += fmt.Sprintf(" %d %s,", n, name)
			under -= n
		}
	}
	return fmt.Sprintf("%s %d under way; no token for up to %.1f s; answered after up to %.1f s\n", text, under, silence, answer)
}
