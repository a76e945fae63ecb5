package serving_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// logLatency returns what the log has for a latency.
func logLatency(t *testing.T, d time.Duration, form serving.LogLatency, inJSON bool) string {
	t.Helper()
	faults := []fault.Fault{prefillStatus(500, 0)}
	if d > 0 {
		faults = append(faults, fault.Fault{ID: "late", Where: fault.Router, What: fault.Latency, Delay: d})
	}
	su := setup{faults: faults, cfg: func(c *serving.Config) {
		c.Router.Retry.AttemptsMax, c.Router.LogLatency, c.Router.LogJSON = 1, form, inJSON
	}}
	p := su.run(t, 1, func(p *play) { p.serve(p.ctx, whole("r", 100, 10), 0) })
	_, line, _ := strings.Cut(p.log.String(), "\n")
	if !inJSON {
		_, latency, _ := strings.Cut(line, " latency=")
		latency, _, _ = strings.Cut(latency, "}")
		return latency
	}
	var l struct {
		Span  struct{ Latency json.RawMessage }
		Spans []struct{ Latency json.RawMessage }
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil || len(l.Spans) != 1 || !bytes.Equal(l.Span.Latency, l.Spans[0].Latency) {
		t.Errorf("%v: %s", err, line)
	}
	return string(l.Span.Latency)
}

// TestLogLatency checks both ways of writing a latency: whole microseconds without a unit, and a text with
// the unit that Rust would choose.
func TestLogLatency(t *testing.T) {
	for _, row := range []struct {
		latency time.Duration
		us      string
		text    string
	}{
		{0, "0", "0ns"},
		{7, "0", "7ns"},
		{999, "0", "999ns"},
		{15_200, "15", "15.2µs"},
		{100_001, "100", "100.001µs"},
		{812_300 * time.Microsecond, "812300", "812.3ms"},
		{5_412_345 * time.Microsecond, "5412345", "5.412345s"},
		{time.Minute + 1, "60000000", "60.000000001s"},
		{time.Hour, "3600000000", "3600s"},
	} {
		for _, inJSON := range []bool{false, true} {
			if got := logLatency(t, row.latency, serving.LatencyMicroseconds, inJSON); got != row.us {
				t.Errorf("%v: %s, want %s", row.latency, got, row.us)
			}
			want := row.text
			if inJSON {
				want = `"` + want + `"`
			}
			if got := logLatency(t, row.latency, serving.LatencyText, inJSON); got != want {
				t.Errorf("%v: %s, want %s", row.latency, got, want)
			}
		}
	}
}

// TestLogInstants checks the instants in the log: to the second, or to the millisecond.
func TestLogInstants(t *testing.T) {
	for _, row := range []struct {
		at       time.Duration
		in       bool // milliseconds are wanted
		instants string
	}{
		{0, false, "2026-01-01 00:00:00"},
		{59*time.Second + 999*time.Millisecond, false, "2026-01-01 00:00:59"},
		{59*time.Second + 999*time.Millisecond, true, "2026-01-01 00:00:59.999"},
		{time.Minute, true, "2026-01-01 00:01:00.000"},
		{25*time.Hour + 7*time.Millisecond, true, "2026-01-02 01:00:00.007"},
	} {
		su := setup{cfg: func(c *serving.Config) { c.Router.LogMilliseconds = row.in }}
		p := su.run(t, 1, func(p *play) {
			p.s.Submit(streamed("before", 300_000, 1)) // at the start of the run, refused
			p.until(row.at)
			p.s.Submit(streamed("r", 300_000, 1))
		})
		lines := strings.Split(p.log.String(), "\n")
		for _, line := range lines[2:4] {
			if !strings.HasPrefix(line, row.instants+"  ") {
				t.Errorf("at %v: %q, want %q", row.at, line, row.instants)
			}
		}
	}
}

// TestLogLines checks which lines a request leaves: one when it comes and one when its headers go out,
// both with its id, and only the first for a client that leaves before.
func TestLogLines(t *testing.T) {
	const startedLine = "started processing request"
	su := setup{cfg: func(c *serving.Config) { even(c); c.Router.Retry.AttemptsMax = 1 }, faults: []fault.Fault{prefillStatus(500, 1)}}
	p := su.run(t, 1, func(p *play) {
		ask := func(q serving.Request, patience time.Duration) {
			ctx, stop := sim.WithTimeout(p.ctx, p.w, patience, context.DeadlineExceeded)
			defer stop()
			p.serve(ctx, q, 0)
			p.sleep(10 * time.Second)
		}
		ask(whole("failed", 100, 10), time.Hour)
		ask(streamed("stream", 100, 50), time.Hour)
		ask(whole("whole", 100, 51), time.Hour)
		ask(streamed("left-before", 100, 50), 99*time.Millisecond)
		ask(streamed("left-after", 100, 50), 101*time.Millisecond)
		ask(whole("left-whole", 100, 51), 1099*time.Millisecond)
		ask(streamed("too-long", 300_000, 50), time.Hour)
	})
	for _, row := range []struct {
		id, level, message, fields string // of the second line; all empty: there is none
	}{
		{"failed", "ERROR", "request failed with server error", "status_code=500 latency=0"},
		{"stream", " INFO", "finished processing request", "status_code=200 latency=100000"},
		{"whole", " INFO", "finished processing request", "status_code=200 latency=1100000"},
		{"left-before", "", "", ""},
		{"left-after", " INFO", "finished processing request", "status_code=200 latency=100000"},
		{"left-whole", "", "", ""},
		{"too-long", " WARN", "request failed with client error", "status_code=400 latency=0"},
	} {
		var lines []string
		for line := range strings.Lines(p.log.String()) {
			if strings.Contains(line, fmt.Sprintf("request_id=%q", row.id)) {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 || !strings.Contains(lines[0], "  INFO http_request{") || !strings.HasSuffix(lines[0], ": "+startedLine+"\n") || strings.Contains(lines[0], "latency") {
			t.Errorf("%s: %q", row.id, lines)
			continue
		}
		if row.level == "" {
			if len(lines) != 1 {
				t.Errorf("%s: %q, want one line", row.id, lines)
			}
			continue
		}
		if len(lines) != 2 || !strings.Contains(lines[1], " "+row.level+" http_request{") || !strings.Contains(lines[1], row.fields+"}: smg::response: ") || !strings.HasSuffix(lines[1], ": "+row.message+"\n") {
			t.Errorf("%s: %q", row.id, lines)
		}
	}
}

// TestWorkerIDs checks that the engines know a request by ids of their own, another one at each of them
// and for each attempt, of which only the last of decode stands in the answer.
func TestWorkerIDs(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	faults, err := fault.NewSet(w, []fault.Fault{{ID: "f", Where: fault.Transfer, What: fault.Status, StatusCode: 500, Times: 2}})
	if err != nil {
		t.Fatal(err)
	}
	var router, engines bytes.Buffer
	s, err := serving.New(w, serving.Default(), serving.Model{}, faults, serving.Logs{Router: &router, Engine: func(string) io.Writer { return &engines }})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		h := s.Submit(whole("mine", 100, 10))
		if err := h.WaitHeaders(ctx); err != nil {
			t.Error(err)
		}
		id := h.ResponseID()
		if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
			t.Errorf("id %q, want 32 hexadecimal digits", id)
		}
		if strings.Contains(router.String(), id) || strings.Contains(engines.String(), "mine") {
			t.Errorf("ids are shared: %s%s", router.String(), engines.String())
		}
		ids := map[string]bool{id: true}
		for _, part := range strings.Split(engines.String(), "rid='")[1:] {
			ids[part[:32]] = true
		}
		if len(ids) < 3 {
			t.Errorf("%d ids of three attempts:\n%s", len(ids), engines.String())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
