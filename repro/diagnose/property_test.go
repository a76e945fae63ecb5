package diagnose

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// dice are the random choices of the property tests. Every failure prints the seed.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 1))} }

func (d dice) between(a, b int) int { return a + d.IntN(b-a+1) }

func (d dice) seconds(a, b float64) time.Duration {
	return time.Duration((a + (b-a)*d.Float64()) * float64(time.Second))
}

// controls are evidence of runs in which all is well, of random sizes.
var controls = []struct {
	name string
	make func(d dice) *harness.Evidence
}{
	{"slow-but-fine", func(d dice) *harness.Evidence {
		n, at := d.between(1, 60), d.seconds(100, 5000)
		b := stallOf("slow", n, d.between(n, 2*n), at, d.seconds(60, 240))
		for range n {
			b.stream(1, d.seconds(20, 400), d.seconds(0, 2))
		}
		return d.maybeBlind(b, 0, float64(10*n), gauge(harness.GaugeDecodeRunning, float64(n)))
	}},
	{"slow-with-tools-and-prefill", func(d dice) *harness.Evidence {
		n, early, tools := d.between(4, 60), d.between(0, 2), d.between(0, 3)
		b := stallOf("slow", n+early+tools, 0, d.seconds(300, 5000), d.seconds(60, 240))
		for range n {
			b.stream(1, d.seconds(20, 400), d.seconds(0, 2))
		}
		b.headers(early, d.seconds(0, 60)).tool(tools, "write", d.seconds(0, 20)).think(d.between(0, 2), d.seconds(0, 90))
		return b.gauges(3000, float64(10*n), gauge(harness.GaugeDecodeRunning, float64(n)), gauge(harness.GaugePrefillQueue, float64(early)), gauge(harness.GaugeDecodeTransfer, float64(early))).done()
	}},
	{"long-reasoning", func(d dice) *harness.Evidence {
		n, seen := d.between(1, 60), d.between(0, 30)
		b := stallOf("reasoning", n+seen, n+seen, d.seconds(200, 5000), d.seconds(60, 240))
		for range n {
			b.headers(1, d.seconds(11, 180))
		}
		for i := range b.ev.Calls {
			if d.IntN(2) == 0 {
				b.ev.Calls[i].Stage = pacer.StageFirstToken
			}
		}
		b.stream(seen, d.seconds(5, 100), 0)
		return b.gauges(0, float64(50*(n+seen)), gauge(harness.GaugeDecodeRunning, float64(n+seen))).done()
	}},
	{"long-reasoning-unseen", func(d dice) *harness.Evidence {
		n := d.between(1, 60)
		b := stallOf("reasoning", n, 0, d.seconds(200, 5000), d.seconds(60, 240)).headers(n, d.seconds(11, 180))
		return blind(b).done()
	}},
	{"unseen-and-impatient", func(d dice) *harness.Evidence {
		// A real server of which nothing is known, and a watchdog of any patience.
		c := realServer{stallAfter: d.seconds(1, 120), calls: d.between(1, 30), slots: 30, waiting: 0}
		c.out, c.stage = d.seconds(1, 299), []pacer.Stage{pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream}[d.IntN(3)]
		switch {
		case c.stage == pacer.StageStream: // tokens, and a pause that is no longer than the patience
			c.tokens = d.between(1, 5000)
			c.quiet = min(c.out, d.seconds(0, max(10, c.stallAfter.Seconds())))
		case c.stage == pacer.StageFirstToken && d.IntN(2) == 0:
			c.bytes, c.out = true, d.seconds(1, max(60, 3*c.stallAfter.Seconds()))
		}
		return c.evidence()
	}},
	{"slow-tools", func(d dice) *harness.Evidence {
		// Either as long as before, or nobody knows and it is the first capture.
		n, longest := d.between(1, 30), d.seconds(1, 3000)
		b := stallOf("tools", n+2, 0, 5000*s, m).think(d.between(0, 2), s)
		if d.IntN(2) == 0 {
			b.returned("append", d.between(1, 50), longest).ev.StalledFor = d.seconds(60, 600)
			for range n {
				b.tool(1, "append", d.seconds(0, 2*longest.Seconds()))
			}
			return b.done()
		}
		for range n {
			b.tool(1, "append", d.seconds(0, 3000))
		}
		return b.done()
	}},
	{"slow-tool-that-came-back", func(d dice) *harness.Evidence {
		n := d.between(1, 30)
		out := d.seconds(30, 3000)
		b := stallOf("tools", n, 0, 5000*s, d.seconds(60, 600)).tool(n, "append", out)
		if d.IntN(2) == 0 {
			b.returned("append", 3, s)
		}
		return b.endedBy([]string{"agent-01", ""}[d.IntN(2)], d.seconds(0, 300)).done()
	}},
	{"too-many-requests", func(d dice) *harness.Evidence { return retryAfterEvidence(d.between(1, 30), d.seconds(0, 9999)) }},
	{"some-failed-of-refusals", func(d dice) *harness.Evidence {
		n := d.between(2, 200)
		return failedEvidence(n, d.between(1, n-1), []int{429, 503, 500}[d.IntN(3)])
	}},
	{"clients-that-left-are-noticed-late", func(d dice) *harness.Evidence {
		n := d.between(10, 60)
		b := stallOf("left", n, n, d.seconds(300, 5000), d.seconds(60, 240)).left(d.between(1, 50)).passed(100, d.seconds(1, 60))
		for range n {
			b.stream(1, d.seconds(20, 400), d.seconds(0, 2))
		}
		return d.maybeBlind(b, 500, float64(10*n), gauge(harness.GaugeDecodeRunning, float64(n+d.between(0, n/8))), gauge(harness.GaugeEngineAborted, 3))
	}},
	{"some-answers-came-at-once", func(d dice) *harness.Evidence {
		n := d.between(2, 60)
		b := stallOf("bursts", n, n, d.seconds(300, 5000), d.seconds(60, 240)).passed(100, d.seconds(1, 60))
		for range n {
			b.stream(1, d.seconds(20, 400), d.seconds(0, 2))
		}
		b.ev.Totals.AnswersLate, b.ev.Totals.AnswersAtOnce = d.between(20, 90), d.between(0, 20)
		return d.maybeBlind(b, 0, float64(10*n), gauge(harness.GaugeDecodeRunning, float64(n)))
	}},
	{"healthy", func(d dice) *harness.Evidence {
		// Seen while it runs: a step finished a moment ago.
		n := d.between(1, 40)
		b := stallOf("healthy", n+9, n, d.seconds(60, 5000), d.seconds(0, 50)).stream(n, d.seconds(1, 60), 0).slot(d.between(0, 9), d.seconds(0, 40))
		b.ev.Episode = 0
		return d.maybeBlind(b, 0, 300, gauge(harness.GaugeDecodeRunning, float64(n)))
	}},
	{"bench", func(d dice) *harness.Evidence { return finished(d.between(1, 200), d.seconds(1, 900)) }},
	{"idle", func(d dice) *harness.Evidence {
		ev := stallOf("idle", 0, d.between(0, 40), d.seconds(1, 9000), d.seconds(60, 9000)).gauges(0, 0).done()
		ev.Episode = d.IntN(2)
		return ev
	}},
}

// maybeBlind finishes evidence with or without gauges and router log.
func (d dice) maybeBlind(b *builder, prefillRate, decodeRate float64, values ...harness.Gauge) *harness.Evidence {
	switch d.IntN(3) {
	case 0:
		b.ev.Router = nil
	case 1:
		b.headersLog()
	}
	if d.IntN(3) > 0 {
		b.gauges(prefillRate, decodeRate, values...)
	}
	return b.done()
}

func TestControlsAreNoHang(t *testing.T) {
	for _, c := range controls {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(300) {
				v := Diagnose(c.make(newDice(seed)), nil)
				if v.Outcome.Hang() {
					t.Fatalf("seed %d: called %s\n%s", seed, v.Outcome, transcript(&v))
				}
				checkWords(t, &v)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// TestMutations damages the evidence of every story at random. Whatever it is, there is a verdict in
// the words of the contract, the same each time, and the evidence is left as it was.
func TestMutations(t *testing.T) {
	all := stories()
	for seed := range uint64(600) {
		d := newDice(seed)
		now, before := all[d.IntN(len(all))].now(), all[d.IntN(len(all))].now()
		if now == nil || before == nil {
			continue
		}
		for range d.between(1, 8) {
			d.mutate(reflect.ValueOf(now).Elem())
			d.mutate(reflect.ValueOf(before).Elem())
		}
		kept := asJSON(t, now)
		v := Diagnose(now, before)
		again := Diagnose(now, before)
		checkWords(t, &v)
		if a, b := asJSON(t, &v), asJSON(t, &again); a != b {
			t.Errorf("two verdicts from one evidence:\n%s\n%s", a, b)
		}
		if asJSON(t, now) != kept {
			t.Error("the evidence was changed")
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mutate changes one thing somewhere in a value.
func (d dice) mutate(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		d.mutate(v.Field(d.IntN(v.NumField())))
	case reflect.Pointer:
		if v.IsNil() || d.IntN(4) == 0 {
			v.SetZero()
			return
		}
		d.mutate(v.Elem())
	case reflect.Slice, reflect.Array:
		d.mutateList(v)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 7, v.Int() + 1, math.MaxInt64, math.MinInt64, d.Int64()}[d.IntN(8)])
	case reflect.Uint8:
		v.SetUint(uint64(d.IntN(256)))
	case reflect.Float64:
		v.SetFloat([]float64{0, -1, 1e308, 0.5, v.Float() + 1}[d.IntN(5)])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString([]string{"", SlotObject, "agent-01", "semaphore", "process agent-02", "agent"}[d.IntN(6)])
	}
}

func (d dice) mutateList(v reflect.Value) {
	n := v.Len()
	switch {
	case n == 0:
		return
	case v.Kind() == reflect.Slice && d.IntN(3) == 0:
		v.SetLen(d.IntN(n)) // cut
	case v.Kind() == reflect.Slice && d.IntN(3) == 0:
		v.Set(reflect.AppendSlice(v.Slice(0, n), v.Slice(0, d.IntN(n)))) // doubled
	default:
		d.mutate(v.Index(d.IntN(n)))
	}
}

// storiesWithEvidence leaves out the one in which there is none at all.
func storiesWithEvidence() []story {
	return slices.DeleteFunc(stories(), func(st story) bool { return st.now() == nil })
}

// TestShiftInTime moves a story along the run's clock. Only instants may change in its verdict.
func TestShiftInTime(t *testing.T) {
	for _, st := range storiesWithEvidence() {
		t.Run(st.name, func(t *testing.T) {
			a, b := st.now(), st.now()
			shift(reflect.ValueOf(b).Elem(), 1000*time.Second)
			va, vb := Diagnose(a, nil), Diagnose(b, nil)
			if va.Outcome != vb.Outcome || va.Layer != vb.Layer || va.Cause != vb.Cause {
				t.Errorf("%s/%s %s became %s/%s %s", va.Outcome, va.Layer, va.Cause, vb.Outcome, vb.Layer, vb.Cause)
			}
			if !reflect.DeepEqual(va.Hypotheses, vb.Hypotheses) {
				t.Errorf("hypotheses changed:\n%s\n%s", transcript(&va), transcript(&vb))
			}
		})
	}
}

// shift adds to every instant that is set.
func shift(v reflect.Value, by time.Duration) {
	switch {
	case v.Type() == reflect.TypeFor[sim.Instant]():
		if v.Int() != 0 {
			v.SetInt(v.Int() + int64(by))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			shift(v.Field(i), by)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		shift(v.Elem(), by)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			shift(v.Index(i), by)
		}
	}
}

// TestOrderDoesNotMatter lists the agents, calls, objects and router requests of a story in another
// order.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, st := range storiesWithEvidence() {
		t.Run(st.name, func(t *testing.T) {
			want := Diagnose(st.now(), nil)
			for seed := range uint64(5) {
				d := newDice(seed)
				ev := st.now()
				d.Shuffle(len(ev.Agents), func(i, j int) { ev.Agents[i], ev.Agents[j] = ev.Agents[j], ev.Agents[i] })
				d.Shuffle(len(ev.Calls), func(i, j int) { ev.Calls[i], ev.Calls[j] = ev.Calls[j], ev.Calls[i] })
				d.Shuffle(len(ev.Objects), func(i, j int) { ev.Objects[i], ev.Objects[j] = ev.Objects[j], ev.Objects[i] })
				if ev.Router != nil {
					slices.Reverse(ev.Router.Open)
				}
				got := Diagnose(ev, nil)
				if got.Outcome != want.Outcome || got.Layer != want.Layer || got.Cause != want.Cause || !reflect.DeepEqual(got.Stages, want.Stages) {
					t.Fatalf("seed %d: %s\nwant\n%s", seed, transcript(&got), transcript(&want))
				}
				for i := range want.Hypotheses {
					if got.Hypotheses[i].Cause != want.Hypotheses[i].Cause || got.Hypotheses[i].Score != want.Hypotheses[i].Score {
						t.Fatalf("seed %d: hypothesis %d is %s %.2f, want %s %.2f", seed, i, got.Hypotheses[i].Cause, got.Hypotheses[i].Score, want.Hypotheses[i].Cause, want.Hypotheses[i].Score)
					}
				}
			}
		})
	}
}
