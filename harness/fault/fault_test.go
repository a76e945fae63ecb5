package fault_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

func world(seed uint64) sim.World { return sim.NewVirtual(sim.VirtualOptions{Seed: seed}) }

func newSet(t *testing.T, w sim.World, faults ...fault.Fault) *fault.Set {
	t.Helper()
	s, err := fault.NewSet(w, faults)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValidate(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		f    fault.Fault
		want string // "" is valid
	}{
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence}, ""},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Probability: 1, From: s, To: 2 * s, Nth: 3, Round: 2, ContextOver: 9, AfterTokens: 7}, ""},
		{fault.Fault{ID: "a", Where: fault.Router, What: fault.Status, StatusCode: 503}, ""},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Latency, Delay: s, Tool: "save"}, ""},
		{fault.Fault{ID: "a", Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: 60 * s}, ""},
		{fault.Fault{}, "id: missing"},
		{fault.Fault{ID: "a"}, `where: "", want one of connection, router, bootstrap, prefill, `},
		{fault.Fault{ID: "a", Where: "moon", What: fault.Hang}, `where: "moon", want one of`},
		{fault.Fault{ID: "a", Where: fault.Stream}, `what: "" at stream, want one of silence, reset, reasoning, comments, error, cut, `},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Hang}, `what: "hang" at stream, want one of`},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Probability: 1.5}, "probability: 1.5, want"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Probability: -0.1}, "probability: -0.1, want"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Probability: math.NaN()}, "probability: NaN, want"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, From: -s}, "from, to: -1s to 0s"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, From: 2 * s, To: s}, "from, to: 2s to 1s"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, From: s, To: s}, "from, to: 1s to 1s"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Nth: -1}, "nth: -1, want 0 or more"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, AfterTokens: -1}, "after_tokens"},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Latency, Delay: -s}, "delay: -1s, want 0s to 10000h0m0s"},
		{fault.Fault{ID: "a", Where: fault.Transfer, What: fault.Latency, Delay: math.MaxInt64}, "delay: 2562047h47m16.854775807s, want 0s to"},
		{fault.Fault{ID: "a", Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: -s}, "release_after: -1s, want 0s to"},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Latency}, "delay: missing, want how long the latency is"},
		{fault.Fault{ID: "a", Where: fault.Router, What: fault.Status}, "status: 0, want an HTTP status from 400 to 599"},
		{fault.Fault{ID: "a", Where: fault.Router, What: fault.Status, StatusCode: 200}, "status: 200, want"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, StatusCode: 503}, "status: set, but silence at stream has no use for it"},
		{fault.Fault{ID: "a", Where: fault.Router, What: fault.Drop, RetryAfter: "1"}, "retry_after: set, but"},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Hang, Delay: s}, "delay: set, but"},
		{fault.Fault{ID: "a", Where: fault.Connection, What: fault.Reset, AfterTokens: 1}, "after_tokens: set, but"},
		{fault.Fault{ID: "a", Where: fault.Inflight, What: fault.Hang, ReleaseAfter: s}, "release_after: set, but"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Tool: "save"}, `tool: "save" at stream`},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.Slow}, "factor: 0, want how many times"},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.Slow, Factor: math.Inf(1)}, "factor: +Inf, want how many times"},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.Slow, Factor: 50, ContextOver: 12_000, Worker: "decode-0"}, ""},
		{fault.Fault{ID: "a", Where: fault.Prefill, What: fault.Throttle, Factor: 4, From: time.Minute, Worker: "prefill-0"}, ""},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.Throttle}, "factor: 0, want how many times"},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.Throttle, Factor: 2, Agent: "agent-01"}, "probability, nth"},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.StarveKV}, "kv_tokens: 0, want how many"},
		{fault.Fault{ID: "a", Where: fault.Decode, What: fault.Serialize, Round: 2}, "probability, nth, only, times, round"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Error, StatusCode: 503, AfterTokens: 9, In: fault.InToolCall}, ""},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Error}, "status: 0, want an HTTP status"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Cut, In: "middle"}, `in: "middle", want reasoning, content or tool_call`},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.NoDone, AfterTokens: 1}, "after_tokens: set, but no_done"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Comments, Every: -s}, "every: -1s, want 0s to"},
		{fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence, Every: s}, "every: set, but silence"},
		{fault.Fault{ID: "a", Where: fault.Router, What: fault.Drop, Worker: "decode-0"}, `worker: "decode-0" at router, want it only at engines`},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Hang, Header: "X-A"}, `header: "X-A" at tool, want it only at servers`},
		{fault.Fault{ID: "a", Where: fault.Harness, What: fault.LoseWakeup, Agent: "agent-*.s*", Probability: 0.1}, ""},
		{fault.Fault{ID: "a", Where: fault.Harness, What: fault.LoseWakeup, Header: "X-A"}, `header: "X-A" at harness, want it only at servers`},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Unread, Tool: "save", Round: 2}, ""},
		{fault.Fault{ID: "a", Where: fault.Harness, What: fault.Hang}, `what: "hang" at harness, want one of lose_wakeup, swallow_error`},
		{fault.Fault{ID: "a", Where: fault.Tool, What: fault.Hang, Agent: "agent-[1"}, `agent: "agent-[1", want a name or a pattern such as "agent-*.s*"`},
		{fault.Fault{ID: "a", Where: fault.Router, What: fault.Status, StatusCode: 503, Only: -1}, "only: -1, want 0 or more"},
	} {
		err := c.f.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v:\n got %v\nwant %s", c.f, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	}
}

func TestNewSetErrors(t *testing.T) {
	good := fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence}
	for _, c := range []struct {
		faults []fault.Fault
		want   string
	}{
		{[]fault.Fault{good, {}}, "faults[1].id: missing"},
		{[]fault.Fault{good, good}, `faults[1].id: "a" is used twice`},
	} {
		if _, err := fault.NewSet(world(1), c.faults); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestFires goes through the conditions one by one: which of the occasions 0, 1, 2, … fire. Occasion
// n is at n seconds, in round n, with a context of 100·n tokens and n requests at the router, after n-1 aborts; its agent is
// agent-0, agent-1 or agent-2 in turn, and its tool is "save" if n is even.
func TestFires(t *testing.T) {
	base := fault.Fault{ID: "f", Where: fault.Tool, What: fault.Hang}
	with := func(change func(f *fault.Fault)) fault.Fault {
		f := base
		change(&f)
		return f
	}
	for _, c := range []struct {
		name string
		f    fault.Fault
		want []int
	}{
		{"always", base, []int{0, 1, 2, 3, 4, 5}},
		{"probability 1", with(func(f *fault.Fault) { f.Probability = 1 }), []int{0, 1, 2, 3, 4, 5}},
		{"from", with(func(f *fault.Fault) { f.From = 4 * time.Second }), []int{4, 5}},
		{"to", with(func(f *fault.Fault) { f.To = 2 * time.Second }), []int{0, 1}},
		{"from to", with(func(f *fault.Fault) { f.From, f.To = time.Second, 3*time.Second }), []int{1, 2}},
		{"every-third", with(func(f *fault.Fault) { f.Nth = 3 }), []int{2, 5}},
		{"every first", with(func(f *fault.Fault) { f.Nth = 1 }), []int{0, 1, 2, 3, 4, 5}},
		{"agents by pattern", with(func(f *fault.Fault) { f.Agent = "agent-[12]" }), []int{1, 2, 4, 5}},
		{"round", with(func(f *fault.Fault) { f.Round = 3 }), []int{3, 4, 5}},
		{"context", with(func(f *fault.Fault) { f.ContextOver = 300 }), []int{4, 5}},
		{"tool", with(func(f *fault.Fault) { f.Tool = "save" }), []int{0, 2, 4}},
		{"every second save", with(func(f *fault.Fault) { f.Tool, f.Nth = "save", 2 }), []int{2}},
		{"every second from 3 s on", with(func(f *fault.Fault) { f.From, f.Nth = 3*time.Second, 2 }), []int{3, 5}},
		{"the third alone", with(func(f *fault.Fault) { f.Only = 3 }), []int{2}},
		{"the second save alone", with(func(f *fault.Fault) { f.Only, f.Tool = 2, "save" }), []int{2}},
		{"twice at most", with(func(f *fault.Fault) { f.Times = 2 }), []int{0, 1}},
		{"twice at most from 3 s on", with(func(f *fault.Fault) { f.Times, f.From = 2, 3*time.Second }), []int{3, 4}},
		{"agent", with(func(f *fault.Fault) { f.Agent = "agent-1" }), []int{1, 4}},
		{"concurrency", with(func(f *fault.Fault) { f.ConcurrencyOver = 3 }), []int{4, 5}},
		{"after an abort", with(func(f *fault.Fault) { f.AfterAbort = true }), []int{2, 3, 4, 5}},
		{"elsewhere", fault.Fault{ID: "f", Where: fault.Stream, What: fault.Silence}, nil},
		{"something else", fault.Fault{ID: "f", Where: fault.Tool, What: fault.Latency, Delay: 1}, nil},
	} {
		s := newSet(t, world(1), c.f)
		var got []int
		for n := range 6 {
			o := fault.Occasion{Key: fmt.Sprint(n), At: sim.Instant(n) * 1e9, Round: n, ContextTokens: 100 * n, Tool: []string{"save", "write"}[n%2],
				Agent: fmt.Sprint("agent-", n%3), Concurrency: n, Aborts: max(0, n-1)}
			if f := s.Fires(fault.Tool, fault.Hang, o); f != nil {
				if f.ID != "f" {
					t.Errorf("%s: fired %+v", c.name, f)
				}
				got = append(got, n)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: fires on %v, want %v", c.name, got, c.want)
		}
	}
}

// draws returns on which of n occasions the fault with this id fires.
func draws(t *testing.T, w sim.World, n int, id string, faults ...fault.Fault) string {
	t.Helper()
	s := newSet(t, w, faults...)
	out := make([]byte, n)
	for i := range out {
		out[i] = '.'
		if f := s.Fires(fault.Stream, fault.Silence, fault.Occasion{Key: fmt.Sprint("attempt-", i)}); f != nil && f.ID == id {
			out[i] = 'x'
		}
	}
	return string(out)
}

// TestProbability: the draw belongs to (seed, fault, occasion), so that other faults, other occasions
// and other worlds do not change it.
func TestProbability(t *testing.T) {
	silent := func(id string, p float64) fault.Fault {
		return fault.Fault{ID: id, Where: fault.Stream, What: fault.Silence, Probability: p}
	}
	const n = 10_000
	a := draws(t, world(1), n, "a", silent("a", 0.2))
	if hits := strings.Count(a, "x"); hits < 1_760 || hits > 2_240 { // six standard deviations
		t.Errorf("a probability of 0.2 fired %d times in %d", hits, n)
	}
	if b := draws(t, sim.NewWall(sim.WallOptions{Seed: 1}), n, "a", silent("a", 0.2)); b != a {
		t.Error("the wall draws differently")
	}
	if b := draws(t, world(1), n/2, "a", silent("a", 0.2)); b != a[:n/2] {
		t.Error("a shorter run draws differently")
	}
	if b := draws(t, world(1), n, "a", silent("a", 0.2), silent("b", 0.5)); b != a {
		t.Error("another fault changes the draws")
	}
	if b := draws(t, world(2), n, "a", silent("a", 0.2)); b == a {
		t.Error("another seed draws the same")
	}
	if b := draws(t, world(1), n, "b", silent("b", 0.2)); b == a {
		t.Error("another fault draws the same")
	}
	// A higher probability fires wherever a lower one does: the draw is the same.
	more := draws(t, world(1), n, "a", silent("a", 0.4))
	for i := range a {
		if a[i] == 'x' && more[i] != 'x' {
			t.Fatalf("occasion %d fires at 0.2 and not at 0.4", i)
		}
	}
}

// TestDroppingOneFault: a shrinker drops faults by id. Those that stay must count as before, although
// the dropped one came first.
func TestDroppingOneFault(t *testing.T) {
	first := fault.Fault{ID: "first", Where: fault.Stream, What: fault.Silence, To: 3}
	every := fault.Fault{ID: "every-third", Where: fault.Stream, What: fault.Silence, Nth: 3}
	fired := func(s *fault.Set) (at []int) {
		for n := range 12 {
			if f := s.Fires(fault.Stream, fault.Silence, fault.Occasion{At: sim.Instant(n)}); f != nil && f.ID == every.ID && n > 3 {
				at = append(at, n)
			}
		}
		return at
	}
	both, alone := fired(newSet(t, world(1), first, every)), fired(newSet(t, world(1), every))
	if fmt.Sprint(both) != fmt.Sprint(alone) || len(alone) == 0 {
		t.Errorf("with the first %v, without it %v", both, alone)
	}
}

// TestTargets: conditions on where a request is and what it carries.
func TestTargets(t *testing.T) {
	headers := func(name string) string { return map[string]string{"X-Agent": "a", "X-Empty": ""}[name] }
	for _, c := range []struct {
		f    fault.Fault
		o    fault.Occasion
		want bool
	}{
		{fault.Fault{Worker: "decode-1"}, fault.Occasion{Worker: "decode-1"}, true},
		{fault.Fault{Worker: "decode-1"}, fault.Occasion{Worker: "decode-0"}, false},
		{fault.Fault{Worker: "decode-1"}, fault.Occasion{}, false},
		{fault.Fault{Header: "X-Agent"}, fault.Occasion{Header: headers}, true},
		{fault.Fault{Header: "X-Agent: a"}, fault.Occasion{Header: headers}, true},
		{fault.Fault{Header: "X-Agent:b"}, fault.Occasion{Header: headers}, false},
		{fault.Fault{Header: "X-Empty"}, fault.Occasion{Header: headers}, false},
		{fault.Fault{Header: "X-Agent"}, fault.Occasion{}, false},
	} {
		c.f.ID, c.f.Where, c.f.What = "f", fault.Decode, fault.Hang
		if got := newSet(t, world(1), c.f).Fires(fault.Decode, fault.Hang, c.o) != nil; got != c.want {
			t.Errorf("%+v on %+v: %v", c.f, c.o, got)
		}
	}
}

// TestSwitching puts faults in and takes them out while a run goes on.
func TestSwitching(t *testing.T) {
	s := newSet(t, world(1))
	changes := 0
	s.OnChange(func() { changes++ })
	fires := func() bool {
		return s.Fires(fault.Stream, fault.Silence, fault.Occasion{At: sim.Instant(time.Hour)}) != nil
	}
	silent := fault.Fault{ID: "a", Where: fault.Stream, What: fault.Silence}
	if fires() {
		t.Error("an empty set fires")
	}
	if err := s.Put(fault.Fault{ID: "a"}); err == nil || changes != 0 {
		t.Errorf("a bad fault: %v, %d changes", err, changes)
	}
	if err := s.Put(silent); err != nil || !fires() || !fires() {
		t.Errorf("the fault does not fire: %v", err)
	}
	if got := s.States(); len(got) != 1 || got[0].Occasions != 2 || got[0].Fired != 2 {
		t.Errorf("states: %+v", got)
	}
	silent.From = 2 * time.Hour
	if err := s.Put(silent); err != nil || fires() {
		t.Errorf("the fault in the place of the first fires too early: %v", err)
	}
	if got := s.States(); len(got) != 1 || got[0].Occasions != 1 || got[0].Fired != 0 {
		t.Errorf("states: %+v", got)
	}
	if !s.Remove("a") || s.Remove("a") || len(s.States()) != 0 {
		t.Error("it cannot be removed, or twice")
	}
	if changes != 3 {
		t.Errorf("%d changes were told of, want 3", changes)
	}
}

// TestWholeEngine: faults of an engine as a whole begin and end at instants that can be asked for.
func TestWholeEngine(t *testing.T) {
	s := newSet(t, world(1),
		fault.Fault{ID: "one", Where: fault.Decode, What: fault.Serialize, From: time.Second, To: 3 * time.Second, Worker: "decode-0"},
		fault.Fault{ID: "memory", Where: fault.Decode, What: fault.StarveKV, KVTokens: 7, From: 2 * time.Second},
		fault.Fault{ID: "request", Where: fault.Decode, What: fault.Hang, From: 5 * time.Second},
	)
	const second = sim.Instant(time.Second)
	for _, c := range []struct {
		at     sim.Instant
		worker string
		serial bool
		kv     bool
		next   sim.Instant
	}{
		{0, "decode-0", false, false, second},
		{second, "decode-0", true, false, 2 * second},
		{second, "decode-1", false, false, 2 * second},
		{2 * second, "decode-0", true, true, 3 * second},
		{3 * second, "decode-0", false, true, sim.Never},
	} {
		serial := s.Active(fault.Decode, fault.Serialize, c.worker, c.at) != nil
		kv := s.Active(fault.Decode, fault.StarveKV, c.worker, c.at) != nil
		if next := s.NextBoundary(c.at); serial != c.serial || kv != c.kv || next != c.next {
			t.Errorf("at %v %s: serialize %v, starve_kv %v, next boundary %v", c.at, c.worker, serial, kv, next)
		}
	}
}

func TestHas(t *testing.T) {
	var none *fault.Set
	s := newSet(t, world(1), fault.Fault{ID: "a", Where: fault.Pacer, What: fault.LeakSlot, From: time.Hour})
	if none.Has(fault.Pacer, fault.LeakSlot) || none.Fires(fault.Pacer, fault.LeakSlot, fault.Occasion{}) != nil {
		t.Error("no set has a fault")
	}
	if !s.Has(fault.Pacer, fault.LeakSlot) || s.Has(fault.Tool, fault.Hang) {
		t.Error("Has is wrong")
	}
	if s.Fires(fault.Pacer, fault.LeakSlot, fault.Occasion{}) != nil {
		t.Error("it fires before its time")
	}
}

// A tool that hangs now and then, as data.
func ExampleSet() {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	set, err := fault.NewSet(w, []fault.Fault{
		{ID: "slow-save", Where: fault.Tool, What: fault.Latency, Tool: "save", Nth: 2, Delay: time.Minute},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range []string{"save", "write", "save"} {
		if f := set.Fires(fault.Tool, fault.Latency, fault.Occasion{At: w.Now(), Tool: tool}); f != nil {
			fmt.Println(tool, "takes", f.Delay, "longer:", f.ID)
		} else {
			fmt.Println(tool)
		}
	}
	// Output:
	// save
	// write
	// save takes 1m0s longer: slow-save
}
