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
// n is at n seconds, in round n, with a context of 100·n tokens, and its tool is "save" if n is even.
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
		{"round", with(func(f *fault.Fault) { f.Round = 3 }), []int{3, 4, 5}},
		{"context", with(func(f *fault.Fault) { f.ContextOver = 300 }), []int{4, 5}},
		{"tool", with(func(f *fault.Fault) { f.Tool = "save" }), []int{0, 2, 4}},
		{"every second save", with(func(f *fault.Fault) { f.Tool, f.Nth = "save", 2 }), []int{2}},
		{"every second from 3 s on", with(func(f *fault.Fault) { f.From, f.Nth = 3*time.Second, 2 }), []int{3, 5}},
		{"elsewhere", fault.Fault{ID: "f", Where: fault.Stream, What: fault.Silence}, nil},
		{"something else", fault.Fault{ID: "f", Where: fault.Tool, What: fault.Latency, Delay: 1}, nil},
	} {
		s := newSet(t, world(1), c.f)
		var got []int
		for n := range 6 {
			o := fault.Occasion{Key: fmt.Sprint(n), At: sim.Instant(n) * 1e9, Round: n, ContextTokens: 100 * n, Tool: []string{"save", "write"}[n%2]}
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
