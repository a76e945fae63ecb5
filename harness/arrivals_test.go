package harness

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestArrivalsValidate checks what is refused, each with one line that begins with the field.
func TestArrivalsValidate(t *testing.T) {
	const s = time.Second
	for _, row := range []struct {
		a    Arrivals
		want string // empty: it is fine
	}{
		{Arrivals{}, ""},
		{Arrivals{Every: 10 * s, Tasks: 5}, ""},
		{Arrivals{RatePerS: 0.5, To: 10 * s, Process: Constant}, ""},
		{Arrivals{Process: Recorded, Tasks: 5}, ""},
		{Arrivals{Tasks: 5}, "arrivals.rate_per_s: found neither it nor every, want how often tasks arrive, such as every: 10s"},
		{Arrivals{Every: s, RatePerS: 1, Tasks: 5}, "arrivals.every: found 1s beside rate_per_s 1, want one of them"},
		{Arrivals{Every: s}, "arrivals.tasks: found 0 while to is 0s, want one of them: nothing would end the arrivals"},
		{Arrivals{Every: s, Tasks: -1}, "arrivals.tasks: found -1, want 0 (until to) to 1000000"},
		{Arrivals{Every: s, From: 10 * s, To: 10 * s}, "arrivals.to: found 10s, want more than from (10s)"},
		{Arrivals{RatePerS: -1, Tasks: 5}, "arrivals.rate_per_s: found -1, want 1e-06 to 1000000"},
		{Arrivals{RatePerS: math.NaN(), Tasks: 5}, "arrivals.rate_per_s: found NaN, want 1e-06 to 1000000"},
		{Arrivals{RatePerS: 1000, To: time.Hour}, "arrivals.to: found 1h0m0s, by which some 3600000 tasks arrive, want at most 500000"},
		{Arrivals{Every: 1, Tasks: 5}, "arrivals.every: found 1ns, want at least 1µs"},
		{Arrivals{Process: "bursty", Every: s, Tasks: 5}, `arrivals.process: found "bursty", want poisson, constant or trace`},
		{Arrivals{Process: Recorded, Every: s}, "arrivals.process: found trace beside rate_per_s or every, want one of them: the trace says when"},
	} {
		c := Config{Arrivals: row.a}
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%+v:\ngot  %q\nwant %q", row.a, got, row.want)
		}
	}
}

// TestSchedule checks instants and numbers of those that arrive at fixed gaps and as recorded.
func TestSchedule(t *testing.T) {
	const s = time.Second
	for _, row := range []struct {
		name     string
		c        Config
		spikes   []Spike
		recorded []time.Duration
		want     string
	}{
		{"off", Config{Agents: 3}, nil, nil, ""},
		{"so many", Config{Agents: 3, Arrivals: Arrivals{Process: Constant, Every: 10 * s, Tasks: 3, From: 5 * s}}, nil, nil, "5s 3, 15s 4, 25s 5"},
		{"until", Config{Arrivals: Arrivals{Process: Constant, RatePerS: 0.5, To: 5 * s}}, nil, nil, "0s 0, 2s 1, 4s 2"},
		{
			"three times the load", Config{Agents: 1, Arrivals: Arrivals{Process: Constant, Every: 10 * s, Tasks: 3}},
			[]Spike{{ID: "x", From: 8 * s, To: 18 * s, Load: 3}}, nil, "0s 1, 8s 4, 10s 2, 13s 5, 20s 3",
		},
		{"recorded", Config{Agents: 1, Arrivals: Arrivals{Process: Recorded, From: s}}, nil, []time.Duration{0, 0, 3 * s}, "1s 1, 1s 2, 4s 3"},
		{"recorded, in part", Config{Arrivals: Arrivals{Process: Recorded, Tasks: 2, To: 3 * s}}, nil, []time.Duration{0, 2 * s, 2 * s}, "0s 0, 2s 1"},
	} {
		var got []string
		for _, a := range row.c.Schedule(1, row.spikes, row.recorded) {
			got = append(got, fmt.Sprint(a.At, " ", a.Index))
		}
		if text := strings.Join(got, ", "); text != row.want {
			t.Errorf("%s: got %q, want %q", row.name, text, row.want)
		}
	}
}

// TestScheduleRate checks, over seeds, that as many arrive as the rate says, that their gaps spread as
// those of a Poisson process do, and that a spike adds what it says within its time alone.
func TestScheduleRate(t *testing.T) {
	const seeds, horizon, rate = 40, 1000 * time.Second, 0.5
	spike := Spike{ID: "rush", From: 400 * time.Second, To: 500 * time.Second, Load: 4, Tasks: 10}
	var total, squares, gaps, sum, more float64
	for seed := range uint64(seeds) {
		c := Config{Arrivals: Arrivals{RatePerS: rate, To: horizon}}
		plain, rush := c.Schedule(seed, nil, nil), c.Schedule(seed, []Spike{spike}, nil)
		total += float64(len(plain))
		for i := 1; i < len(plain); i++ {
			gap := plain[i].At.Sub(plain[i-1].At).Seconds()
			gaps, sum, squares = gaps+1, sum+gap, squares+gap*gap
		}
		more += float64(len(rush) - len(plain))
		kept := slices.DeleteFunc(slices.Clone(rush), func(a Arrival) bool {
			added := a.Index >= len(plain)
			if added && (a.At < sim.Instant(spike.From) || a.At >= sim.Instant(spike.To)) {
				t.Errorf("seed %d: the spike adds one at %v", seed, a.At)
			}
			return added
		})
		if !reflect.DeepEqual(kept, plain) {
			t.Errorf("seed %d: the spike has changed those that arrive anyway", seed)
		}
	}
	within(t, "tasks a run", total/seeds, rate*horizon.Seconds(), 0.02)
	mean := sum / gaps
	within(t, "coefficient of variation of the gaps", math.Sqrt(squares/gaps-mean*mean)/mean, 1, 0.02)
	within(t, "tasks that the spike adds", more/seeds, 3*rate*100+10, 0.03)
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: got %.3f, want %.3f give or take %g %%", what, got, want, 100*share)
	}
}

// TestOpenLoop checks when tasks start and end that arrive while workers are busy, or idle, or all gone.
func TestOpenLoop(t *testing.T) {
	const s = time.Second
	arrive := func(at ...time.Duration) Arrivals { return Arrivals{Process: Recorded, To: at[len(at)-1] + 1} }
	for _, row := range []struct {
		name     string
		fleet    Config
		recorded []time.Duration
		takes    time.Duration
		want     string
	}{
		{"nobody at the start", Config{Arrivals: arrive(5*s, 100*s)}, []time.Duration{5 * s, 100 * s}, 10 * s,
			"agent-01 5s-15s, agent-02 1m40s-1m50s; completed at 1m50s"},
		{"as many as there are", Config{Agents: 1, Arrivals: arrive(5*s, 6*s)}, []time.Duration{5 * s, 6 * s}, 10 * s,
			"agent-01 0s-10s, agent-02 5s-15s, agent-03 6s-16s; completed at 16s"},
		{"one worker", Config{Agents: 1, Workers: 1, Arrivals: arrive(5*s, 6*s, 40*s)}, []time.Duration{5 * s, 6 * s, 40 * s}, 10 * s,
			"agent-01 0s-10s, agent-02 10s-20s, agent-03 20s-30s, agent-04 40s-50s; completed at 50s"},
		{"at the instant at which the worker is free", Config{Agents: 1, Workers: 1, Arrivals: arrive(10 * s)}, []time.Duration{10 * s}, 10 * s,
			"agent-01 0s-10s, agent-02 10s-20s; completed at 20s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World) {
				if got := openLoop(t, w, row.fleet, row.recorded, row.takes); got != row.want {
					t.Errorf("got\n%s\nwant\n%s", got, row.want)
				}
			})
		})
	}
}

// openLoop runs a fleet whose tasks all take as long, and tells who worked when.
func openLoop(t *testing.T, w sim.World, c Config, recorded []time.Duration, takes time.Duration) string {
	t.Helper()
	var told []string
	f, err := New(w, NewLedger(w, nil), Options{
		Name: "open-1", Fleet: c, Watchdog: DefaultWatchdog(), Arrivals: c.Schedule(1, nil, recorded),
		Calls: func() []pacer.CallState { return nil },
		Run: func(ctx context.Context, agent string, _ agents.Task) error {
			began := w.Now()
			err := w.Sleep(ctx, takes)
			w.Lock()
			told = append(told, fmt.Sprintf("%s %v-%v", agent, began, w.Now()))
			w.Unlock()
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var report *Report
	var ended sim.Instant
	if err := w.Run(context.Background(), func(ctx context.Context) {
		report, _ = f.Run(ctx)
		ended = w.Now()
	}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s; %v at %v", strings.Join(told, ", "), report.Why, ended)
}
