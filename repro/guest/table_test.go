package guest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving/api"
)

// TestTable is timelines of what the front sees, and what the table makes of them: the calls that are
// open as stage, number of attempts and tokens, and the counts.
func TestTable(t *testing.T) {
	type step struct {
		at      time.Duration
		visit   int    // which one
		do      string // arrive BODY, answer STATUS, write TOKENS, end HOW
		arg     int
		message string
	}
	for _, c := range []struct {
		name  string
		steps []step
		open  string
		seen  Seen
	}{
		{"answered", []step{
			{1, 1, "arrive", 7, ""}, {2, 1, "answer", 200, ""}, {3, 1, "write", 5, ""}, {4, 1, "end", int(api.EndComplete), ""},
		}, "", Seen{Requests: 1, Calls: 1, Completed: 1, PeakOpen: 1, Tokens: 5}},
		{"in the midst", []step{
			{1, 1, "arrive", 7, ""}, {2, 2, "arrive", 8, ""}, {3, 1, "answer", 200, ""}, {4, 1, "write", 5, ""}, {5, 1, "write", 0, ""}, {6, 2, "answer", 200, ""},
		}, "stream 1 5, first_token 1 0", Seen{Requests: 2, Calls: 2, PeakOpen: 2, Tokens: 5}},
		{"refused, and back", []step{
			{1, 1, "arrive", 7, ""}, {2, 1, "answer", 503, ""}, {2, 1, "end", int(api.EndRefused), "queue is full"}, {5, 2, "arrive", 7, ""},
		}, "headers 2 0", Seen{Requests: 2, Calls: 1, Refused: 1, Statuses: []Status{{503, 1}}, PeakOpen: 1}},
		{"refused, and another one comes", []step{
			{1, 1, "arrive", 7, ""}, {2, 1, "answer", 503, ""}, {2, 1, "end", int(api.EndRefused), "queue is full"}, {5, 2, "arrive", 8, ""},
		}, "backoff 1 0, headers 1 0", Seen{Requests: 2, Calls: 2, Refused: 1, Statuses: []Status{{503, 1}}, PeakOpen: 1}},
		{"one body twice at a time", []step{
			{1, 1, "arrive", 7, ""}, {2, 2, "arrive", 7, ""},
		}, "headers 1 0, headers 1 0", Seen{Requests: 2, Calls: 2, PeakOpen: 2}},
		{"left with tokens, and back", []step{
			{1, 1, "arrive", 7, ""}, {2, 1, "answer", 200, ""}, {3, 1, "write", 5, ""}, {4, 1, "end", int(api.EndLeft), ""}, {5, 2, "arrive", 7, ""}, {6, 2, "answer", 200, ""}, {7, 2, "write", 2, ""},
		}, "stream 2 2", Seen{Requests: 2, Calls: 1, Left: 1, PeakOpen: 1, Tokens: 7, TokensWasted: 5}},
		{"cut off by the servers", []step{
			{1, 1, "arrive", 7, ""}, {2, 1, "answer", 200, ""}, {3, 1, "end", int(api.EndCut), ""},
		}, "backoff 1 0", Seen{Requests: 1, Calls: 1, Cut: 1, PeakOpen: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := newTestTable(time.Hour)
			visits := map[int]*api.Visit{}
			for _, s := range c.steps {
				at := sim.Instant(s.at * time.Second)
				v := visits[s.visit]
				switch s.do {
				case "arrive":
					v = &api.Visit{ID: fmt.Sprint("id-", s.visit), At: at, Stream: true, Body: uint64(s.arg), Retry: -1}
					visits[s.visit] = v
					table.Arrived(v)
				case "answer":
					table.Answered(v, at, s.arg)
				case "write":
					table.Wrote(v, at, s.arg, 10)
				case "end":
					table.Ended(v, at, api.End(s.arg), s.message)
				}
			}
			var open []string
			for _, call := range table.snapshot() {
				open = append(open, fmt.Sprintf("%s %d %d", call.Stage, call.Attempts, call.Tokens))
			}
			if got := strings.Join(open, ", "); got != c.open {
				t.Errorf("open: %q, want %q", got, c.open)
			}
			if got := fmt.Sprintf("%+v", table.close()); got != fmt.Sprintf("%+v", c.seen) {
				t.Errorf("seen %s, want %+v", got, c.seen)
			}
		})
	}
}

// newTestTable returns a table of a harness that has been started.
func newTestTable(backFor time.Duration) *table {
	w := sim.NewWall(sim.WallOptions{})
	t := newTable(w, harness.NewLedger(w, nil), nil, backFor)
	t.begin("test")
	return t
}

// TestTableForgets: a call that does not come back has failed, and the books are empty at the end.
func TestTableForgets(t *testing.T) {
	table := newTestTable(1)
	v := &api.Visit{ID: "id", Body: 7, At: table.w.Now(), Retry: -1}
	table.Arrived(v)
	table.Answered(v, table.w.Now(), 503)
	table.Ended(v, table.w.Now(), api.EndRefused, "queue is full")
	for deadline := time.Now().Add(time.Minute); len(table.snapshot()) > 0 && time.Now().Before(deadline); {
		continue
	}
	if len(table.away) != 0 || len(table.visits) != 0 || table.between == nil {
		t.Errorf("away %v, visits %v, between %v", table.away, table.visits, table.between)
	}
	if n := table.close(); n.Failed != 1 {
		t.Errorf("%+v", n)
	}
	e := &harness.Evidence{}
	table.amend(e)
	if e.Totals.CallsRefused != 1 {
		t.Errorf("%d calls refused for good, want 1", e.Totals.CallsRefused)
	}
	table.end(errors.New("over"))
	if table.between != nil {
		t.Error("somebody stands for a harness that is over")
	}
}

// TestRetryCount: what the client says of earlier attempts counts, even if nobody has seen them.
func TestRetryCount(t *testing.T) {
	table := newTestTable(time.Hour)
	table.Arrived(&api.Visit{ID: "id", Body: 7, At: table.w.Now(), Retry: 2})
	if calls := table.snapshot(); len(calls) != 1 || calls[0].Attempts != 3 {
		t.Errorf("%+v", calls)
	}
}

// TestLimitOf: which limit makes a client leave shows in what it had had.
func TestLimitOf(t *testing.T) {
	s := func(n int) sim.Instant { return sim.Instant(time.Duration(n) * time.Second) }
	for _, c := range []struct {
		state pacer.CallState
		want  pacer.Limit
	}{
		{pacer.CallState{Stage: pacer.StageHeaders}, pacer.LimitResponseHeader},
		{pacer.CallState{Stage: pacer.StageFirstToken}, pacer.LimitFirstToken},
		{pacer.CallState{Stage: pacer.StageStream, LastToken: s(99)}, pacer.LimitTotal},
		{pacer.CallState{Stage: pacer.StageStream, LastToken: s(40)}, pacer.LimitIdle},
	} {
		if got := limitOf(&call{CallState: c.state}, s(100)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.state, got, c.want)
		}
	}
}

// TestWatchdogTimes: evidence is captured when the harness may be given up, and each time that the stall has doubled.
func TestWatchdogTimes(t *testing.T) {
	for give, want := range map[int]string{1: "[1 2 4 8 ", 3: "[1 2 3 4 8 ", 4: "[1 2 4 8 ", 10: "[1 2 4 8 10 16 "} {
		o := (&Options{GiveUp: give, Scale: 60}).withDefaults()
		c := o.watchdog()
		if got := fmt.Sprint(c.Captures); !strings.HasPrefix(got, want) {
			t.Errorf("give up at %d: %s, want %s…", give, got, want)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestWatchdogBounds: whatever may be asked for makes a watchdog that may be.
func TestWatchdogBounds(t *testing.T) {
	for _, stall := range []time.Duration{time.Second, time.Minute, 999 * time.Hour} {
		for _, give := range []int{1, 2, 777, giveUpMax} {
			o := (&Options{GiveUp: give, StallAfter: stall, Scale: 1000}).withDefaults()
			c := o.watchdog()
			if err := c.Validate(); err != nil {
				t.Errorf("stall after %v, give up at %d: %v", stall, give, err)
			}
		}
	}
}

func TestGoroutinesOf(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:6060":                             "http://127.0.0.1:6060/debug/pprof/goroutine?debug=2",
		"http://127.0.0.1:6060/debug/pprof/":                "http://127.0.0.1:6060/debug/pprof/goroutine?debug=2",
		"http://127.0.0.1:6060/own/goroutine?debug=1&x=y":   "http://127.0.0.1:6060/own/goroutine?debug=2&x=y",
		"http://127.0.0.1:6060/debug/pprof/goroutine?x=%41": "http://127.0.0.1:6060/debug/pprof/goroutine?debug=2&x=A",
	} {
		if got := goroutinesOf(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
