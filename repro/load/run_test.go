package load

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// inVirtualTime runs a plan against simulated servers in memory.
func inVirtualTime(tb testing.TB, p Plan, change func(c *serving.Config), faults ...fault.Fault) *Row {
	tb.Helper()
	cfg := serving.Default()
	cfg.Router.QueuedMax = 0
	if change != nil {
		change(&cfg)
	}
	r, err := Run(context.Background(), p, Options{Seed: 1, Simulated: &Simulated{Config: cfg, Faults: faults}})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want, off float64) {
	t.Helper()
	if math.Abs(got-want) > off*want {
		t.Errorf("%s: %.4g, want %.4g within %.0f %%", what, got, want, 100*off)
	}
}

// TestIncidentsBurst is I-7's load test with I-8's figures.
func TestIncidentsBurst(t *testing.T) {
	p := DefaultPlan()
	p.Requests, p.Duration = 16, 0
	r := inVirtualTime(t, p, nil)
	near(t, "all done", *r.AllDone, 5.4, 0.15)
	near(t, "mean", r.Whole.Mean, 5.1, 0.15)
	if r.Requests.OK != 16 || r.OutputTokens != 16*128 || r.Batching.Verdict != Batches || r.Batching.Text != "decode batches: running rises to 16 while 16 requests are out" {
		t.Errorf("%+v, %+v", r.Requests, r.Batching)
	}
	if r.Gaps.N != 16*127 || r.InterToken.N != 16 || r.FirstToken.N != 16 {
		t.Errorf("gaps %+v, streams %+v", r.Gaps, r.InterToken)
	}
	near(t, "gap", r.Gaps.Mean, r.InterToken.Mean, 0.001)
	if got := strings.Join(r.NotExercised, ", "); got != "long contexts (prompts had 200 tokens on average), several rounds with growing contexts, tool calls, clients that leave early" {
		t.Errorf("not exercised: %s", got)
	}
}

// TestIncidentsThroughput is I-8's pure decode.
func TestIncidentsThroughput(t *testing.T) {
	for clients, want := range map[int]float64{64: 812, 96: 845} {
		p := DefaultPlan()
		p.Clients = clients
		r := inVirtualTime(t, p, nil)
		near(t, "tokens a second", r.OutputTokensPerS, want, 0.15)
	}
}

func TestSameSeedSameRow(t *testing.T) {
	p := DefaultPlan()
	p.Rate, p.Clients, p.Rounds, p.Abandon, p.Timeout = 3, 0, 3, 0.2, 20*time.Second
	faults := []fault.Fault{{ID: "mute", Where: fault.Stream, What: fault.Silence, AfterTokens: 20, Probability: 0.1}, {ID: "busy", Where: fault.Router, What: fault.Status, StatusCode: 503, Probability: 0.1}}
	first := encode(t, inVirtualTime(t, p, nil, faults...))
	for range 2 {
		if again := encode(t, inVirtualTime(t, p, nil, faults...)); again != first {
			t.Fatalf("the same seed gives\n%s\nand\n%s", first, again)
		}
	}
	r, err := Run(t.Context(), p, Options{Seed: 2, Simulated: &Simulated{Config: serving.Default(), Faults: faults}})
	if err != nil || encode(t, r) == first {
		t.Errorf("another seed gives the same (%v)", err)
	}
	var seen Row
	if err := json.Unmarshal([]byte(first), &seen); err != nil {
		t.Fatal(err)
	}
	kinds := map[Kind]bool{}
	for _, f := range seen.Failures {
		kinds[f.Kind] = true
	}
	if !kinds[KindTimeout] || !kinds[KindStatus] || seen.Requests.Left == 0 || seen.Requests.OK == 0 {
		t.Errorf("not everything has happened: %s", first)
	}
}

func encode(t *testing.T, r *Row) string {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRefusedClientsDoNotSpin: a refusal takes no time in memory.
func TestRefusedClientsDoNotSpin(t *testing.T) {
	p := DefaultPlan()
	p.Clients, p.Duration = 40, 10*time.Second
	r := inVirtualTime(t, p, func(c *serving.Config) { c.Router.QueuedMax = 32 })
	if len(r.Failures) != 1 || r.Failures[0].Name() != "status 503" || r.Failures[0].Count > 8*101 || r.Requests.OK == 0 {
		t.Errorf("%+v, %+v", r.Requests, r.Failures)
	}
}

// TestBatchingOfServers runs servers of which it is known what limits them. Their gauges lag behind, and begin with 0.
func TestBatchingOfServers(t *testing.T) {
	p := DefaultPlan()
	p.Clients = 20
	for _, c := range []struct {
		want   BatchVerdict
		words  string
		change func(c *serving.Config)
		plan   func(p *Plan)
	}{
		{Batches, "running rises to 20 while 20 requests are out", nil, nil},
		{Serialises, "decode serialises: 0 to 1 run while 20 requests are out", func(c *serving.Config) { c.Decode.RunningMax = 1 }, nil},
		{Capped, "decode batches up to a limit: 0 to 8 run while 20 requests are out", func(c *serving.Config) { c.Decode.RunningMax = 8 }, nil},
		{BeforeDecode, "something before decode is the limit", func(c *serving.Config) { c.Prefill.PerToken = 20 * time.Millisecond }, nil},
		{Unknown, "want 4 or more", nil, func(p *Plan) { p.Clients = 2 }},
		{Unknown, "want a longer run", nil, func(p *Plan) { p.Duration = time.Second }},
	} {
		t.Run(c.words, func(t *testing.T) {
			p := p
			if c.plan != nil {
				c.plan(&p)
			}
			r := inVirtualTime(t, p, c.change)
			if r.Batching.Verdict != c.want || !strings.Contains(r.Batching.Text, c.words) {
				t.Errorf("%+v of %+v", r.Batching, r.Gauges)
			}
		})
	}
}

// TestGapsAreSeen: an answer that stops for a while shows in the gaps, not only in its mean.
func TestGapsAreSeen(t *testing.T) {
	p := DefaultPlan()
	p.Clients, p.Requests, p.Duration = 1, 1, 0
	r := inVirtualTime(t, p, nil)
	if math.Abs(r.Gaps.Max-r.Gaps.Mean) > 0.2*r.Gaps.Mean {
		t.Errorf("%+v", r.Gaps)
	}
}

// TestWorldsAgree runs the same plan in memory and over HTTP.
func TestWorldsAgree(t *testing.T) {
	p := DefaultPlan()
	p.Requests, p.Duration = 32, 0
	virtual := inVirtualTime(t, p, nil)
	cfg := serving.Default()
	wall, err := Run(t.Context(), p, Options{Seed: 1, Wall: true, Scale: 10, Simulated: &Simulated{Config: cfg}})
	if err != nil {
		t.Fatal(err)
	}
	if wall.Requests.OK != 32 || wall.OutputTokens != virtual.OutputTokens || wall.Gauges == nil || wall.OwnLag == nil || virtual.OwnLag != nil {
		t.Errorf("%+v", wall)
	}
}

func TestInterrupt(t *testing.T) {
	cfg := serving.Default()
	p := DefaultPlan()
	p.Duration = time.Hour
	for _, wall := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := Run(ctx, p, Options{Seed: 1, Wall: wall, Scale: 100, Simulated: &Simulated{Config: cfg}, Watch: func(p Progress) {
			if p.OK > 16 {
				cancel()
			}
		}})
		cancel()
		if err != nil || !r.Interrupted || r.Requests.OK < 17 || r.AllDone != nil || r.Requests.Sent != r.Requests.OK+r.Requests.Cut || r.Stalled() {
			t.Errorf("wall %v: %v, %+v", wall, err, r)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	p := DefaultPlan()
	p.Clients = 0
	var field *FieldError
	if _, err := Run(t.Context(), p, Options{}); !errors.As(err, &field) || field.Field != "concurrency" {
		t.Errorf("got %v", err)
	}
	p = DefaultPlan()
	if _, err := Run(t.Context(), p, Options{}); err == nil {
		t.Error("a run without servers is taken")
	}
	p.Stream = false
	if _, err := Run(t.Context(), p, Options{Simulated: &Simulated{Config: serving.Default()}}); !errors.As(err, &field) || field.Field != "no-stream" {
		t.Errorf("got %v", err)
	}
	p = DefaultPlan()
	if _, err := Run(t.Context(), p, Options{Simulated: &Simulated{}}); err == nil {
		t.Error("servers without a configuration are taken")
	}
}

// TestOpenLoopArrives compares arrivals with their rate, and their spread with what is asked for.
func TestOpenLoopArrives(t *testing.T) {
	for _, arrivals := range []Arrivals{Poisson, Constant} {
		p := DefaultPlan()
		p.Rate, p.Clients, p.Arrivals, p.Duration, p.MaxTokens = 5, 0, arrivals, 400*time.Second, 8
		r := inVirtualTime(t, p, nil)
		near(t, string(arrivals), float64(r.Requests.Sent), 2000, 0.07)
		if arrivals == Constant && r.Requests.Sent != 2000 || r.StartLate.Max != 0 {
			t.Errorf("%s: %+v, late by %+v", arrivals, r.Requests, r.StartLate)
		}
	}
}

// liveBytes is how much memory is in use at the end of a run of so many requests.
func liveBytes(tb testing.TB, requests int) (most uint64) {
	p := DefaultPlan()
	p.Requests, p.Duration = requests, 0
	cfg := serving.Default()
	every := max(requests/4, 1)
	next := every
	_, err := Run(context.Background(), p, Options{Seed: 1, Simulated: &Simulated{Config: cfg}, Watch: func(p Progress) {
		if p.OK < next {
			return
		}
		next += every
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return most
}

func TestFlatMemory(t *testing.T) {
	few, many := liveBytes(t, 1_000), liveBytes(t, 20_000)
	if many > few+512<<10 {
		t.Errorf("%d bytes in use in a run of 20,000 requests, %d in one of 1,000", many, few)
	}
}

// BenchmarkRequest is a request of a virtual run: with -benchtime 1000000x a run of a million.
func BenchmarkRequest(b *testing.B) {
	b.ReportAllocs()
	b.ReportMetric(float64(liveBytes(b, b.N)), "live-B")
}

// BenchmarkEvents is a streamed answer of 50 tokens, as it is read.
func BenchmarkEvents(b *testing.B) {
	body := roleEvent + strings.Repeat(piece("word"), 50) + finishEvent + usageEvent + doneEvent
	w := sim.NewWall(sim.WallOptions{})
	r, e := &receipt{w: w, rec: &recorder{plan: &Plan{}}}, &events{w: w}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r.begin(nil)
		if err := e.read(strings.NewReader(body), false, r); err != nil {
			b.Fatal(err)
		}
	}
}
