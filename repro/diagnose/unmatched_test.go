package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// renamed gives the open requests of the router's log ids that the agents have never heard of.
func renamed(ev *harness.Evidence) *harness.Evidence {
	for i := range ev.Router.Open {
		ev.Router.Open[i].ID = fmt.Sprintf("%08x-77aa-4f00-8000-0123456789ab", 0xfeed0000+i)
		ev.Router.Open[i].Since += 400_000_000 // ns; logs have whole seconds
	}
	return ev
}

// kindsOf lists who has what and who lacks it, with the numbers.
func kindsOf(s *Sides) string {
	var kinds []string
	n := map[string]int{}
	for _, u := range s.Unmatched {
		k := u.Side + " without " + u.Lacks
		if n[k] == 0 {
			kinds = append(kinds, k)
		}
		n[k] += u.Calls
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", n[k], k)
	}
	return strings.Join(kinds, ", ")
}

func TestUnmatched(t *testing.T) {
	stall := func() *builder { return stallOf("sides-1", 30, 16, 400*s, m) }
	stranger := harness.RouterRequest{ID: "someone-else", Since: sim.Instant(300 * s)}
	for _, c := range []struct {
		name string
		ev   *harness.Evidence
		want string // who has what
		says string // a part of a finding
	}{
		{"both have all", stall().stream(16, 200*s, 0).slot(14, m).gauges(0, 400, gauge(harness.GaugeDecodeRunning, 16)).done(), "", ""},
		{"lost on the way to the router", deadConnectionEvidence(), "16 agents without router", "16 requests are known to the agents and not to the router: "},
		{"lost by the router", lostEvidence(), "16 router without engines", "counted by neither its gauge nor an engine"},
		{"silent streams", stall().silent(16, 200*s, 90*s).slot(14, m).gauges(0, 0).done(), "16 agents without router", "its agent still waits for the rest"},
		{"silent streams, by number", stall().silent(16, 200*s, 90*s).slot(14, m).headersLog().gauges(0, 0).done(), "16 agents without engines", "no engine has it any more"},
		{"a request that nobody waits for", stall().stream(16, 200*s, 0).slot(14, m).gauges(0, 400, gauge(harness.GaugeDecodeRunning, 16)).
			set(func(ev *harness.Evidence) { ev.Router.Open = append(ev.Router.Open, stranger) }).done(),
			"1 router without agents", "1 request is known to the router and to no agent: someone-else (since 300 s of the run). No agent of this run"},
		{"the same, once agents have left", stall().stream(16, 200*s, 0).slot(14, m).left(3).gauges(0, 400, gauge(harness.GaugeDecodeRunning, 16)).
			set(func(ev *harness.Evidence) { ev.Router.Open = append(ev.Router.Open, stranger) }).done(),
			"1 router without agents", "ts client has left"},
		{"a moment ago", stall().stream(15, 200*s, 0).slot(14, m).headers(1, s).gauges(0, 400, gauge(harness.GaugeDecodeRunning, 15)).
			set(func(ev *harness.Evidence) { ev.Router.Open = ev.Router.Open[:15] }).done(), "", ""},
		{"work for clients that have left", zombieEvidence(), "18 engines without agents", "no agent waits for them"},
		{"answers held back", withheldEvidence(), "16 router without agents", "16 answers are known to the router"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sides := Reconcile(c.ev)
			if got := kindsOf(&sides); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := strings.Join(sides.Findings(), "\n"); !strings.Contains(got, c.says) {
				t.Errorf("got %q, want %q in it", got, c.says)
			}
		})
	}
}

// TestForeignIDs: a router that names requests in its own way is compared by time, and says the same.
func TestForeignIDs(t *testing.T) {
	waiting := func() *harness.Evidence {
		return stallOf("foreign-1", 30, 16, 400*s, m).headers(10, 90*s).headers(6, 40*s).slot(14, m).gauges(900, 90, gauge(harness.GaugePrefillQueue, 16)).done()
	}
	own, other := Reconcile(waiting()), Reconcile(renamed(waiting()))
	if own.ByTime || !other.ByTime || own.Both != 16 || other.Both != 16 || other.RouterOnly != 0 || len(other.Unmatched) != 0 {
		t.Errorf("with the agents' ids %+v, with its own %+v", own, other)
	}
	ev := renamed(waiting())
	ev.Router.Open = append(ev.Router.Open[:4:4], ev.Router.Open[5:]...) // one of the older ones is not there
	ev.Router.Open = append(ev.Router.Open, harness.RouterRequest{ID: "0badcafe-77aa-4f00-8000-0123456789ab", Since: ev.At - 20_000_000_000})
	if got := Reconcile(ev); got.Both != 15 || got.AgentsOnly != 1 || got.RouterOnly != 1 {
		t.Errorf("one on each side: %+v", got)
	}
	want, got := Diagnose(waiting(), nil), Diagnose(renamed(waiting()), nil)
	if got.Cause != want.Cause || got.Outcome != want.Outcome {
		t.Errorf("%s %s by time, %s %s by id", got.Outcome, got.Cause, want.Outcome, want.Cause)
	}
}

// TestForeignSizes: lines of one time are told apart by their sizes, in whatever unit, so that the one
// that is missing is named.
func TestForeignSizes(t *testing.T) {
	waiting := func() *harness.Evidence {
		ev := renamed(stallOf("sizes-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).gauges(900, 90, gauge(harness.GaugePrefillQueue, 16)).done())
		for i := range ev.Router.Open {
			ev.Calls[i].PromptTokens = 2000 + 700*i + 313*(i*i%7)
			ev.Router.Open[i].Size = int64(5*ev.Calls[i].PromptTokens + 3000) // bytes, and the tools in each
		}
		slices.Reverse(ev.Router.Open) // their order says nothing
		return ev
	}
	all := waiting()
	if got := Reconcile(all); !got.BySize || got.Both != 16 || len(got.Unmatched) != 0 {
		t.Errorf("all there: %+v", got)
	}
	for lost := range 16 {
		ev := waiting()
		at := len(ev.Router.Open) - 1 - lost
		ev.Router.Open = slices.Delete(ev.Router.Open, at, at+1)
		ev.Router.Open = append(ev.Router.Open, harness.RouterRequest{ID: "0badcafe-77aa-4f00-8000-0123456789ab", Since: ev.Router.Open[14].Since, Size: 400_000})
		got := Reconcile(ev)
		if got.Both != 15 || got.AgentsOnly != 1 || got.RouterOnly != 1 || !slices.Contains(got.Only, ev.Calls[lost].AttemptID) {
			t.Errorf("without the line of %s: %+v", ev.Calls[lost].AttemptID, got)
		}
	}
}

// TestUnmatchedIsBounded: a list of ids of any length is cut, and what is cut is counted.
func TestUnmatchedIsBounded(t *testing.T) {
	const n = 500
	ev := stallOf("many-1", 30, 16, 400*s, m).stream(16, 200*s, 0).slot(14, m).gauges(0, 400, gauge(harness.GaugeDecodeRunning, 16)).done()
	for i := range n {
		ev.Router.Open = append(ev.Router.Open, harness.RouterRequest{ID: fmt.Sprint("z", i), Since: sim.Instant(100 * s)})
	}
	sides := Reconcile(ev)
	if got := kindsOf(&sides); got != fmt.Sprint(n, " router without agents") || len(sides.Unmatched) != unmatchedMax+1 {
		t.Errorf("%s in %d entries", got, len(sides.Unmatched))
	}
	if got := sides.Findings(); len(got) != 1 || !strings.Contains(got[0], fmt.Sprint("and ", n-idsShown, " more")) {
		t.Errorf("got %q", got)
	}
}

// TestUnmatchedIDsAreSomebodys: what is listed by id is in flight for the agents, or open in the log.
func TestUnmatchedIDsAreSomebodys(t *testing.T) {
	for _, st := range stories() {
		ev := st.now()
		if ev == nil {
			continue
		}
		known := map[string]bool{"": true}
		for i := range ev.Calls {
			known[ev.Calls[i].AttemptID] = true
		}
		if ev.Router != nil {
			for _, q := range ev.Router.Open {
				known[q.ID] = true
			}
		}
		sides := Reconcile(ev)
		for _, u := range sides.Unmatched {
			if !known[u.ID] || u.Calls < 1 || u.Means == "" || time.Duration(u.SinceS*1e9) > time.Duration(ev.At) {
				t.Errorf("%s: %+v", st.name, u)
			}
		}
	}
}
