package engine_test

import (
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// TestLife follows one request through both engines.
func TestLife(t *testing.T) {
	p := newPlay(t, nil)
	r := p.prepare("a", 1000, 128)
	r.legs[1].MarkTokens = 64
	r.send()
	p.is("legs", r.where(), "prefill transfer")
	p.until(200 * time.Millisecond)
	p.is("legs", r.where(), "inflight transfer")
	p.is("memory of prefill", p.prefill().PrefillKVTokens, 1000)
	p.is("memory of decode", p.decode().DecodeKVTokens, 1000)
	p.until(217500 * time.Microsecond)
	p.is("legs", r.where(), "done decode")
	p.is("memory of prefill", p.prefill().PrefillKVTokens, 0)
	p.is("memory of decode", p.decode().DecodeKVTokens, 1001)
	p.is("tokens", r.made(), 1)
	p.is("next token", r.legs[1].NextToken(p.Now()), "238.00003ms")
	p.end()
	p.want("218ms a P ended", "218ms a D first token", "1.509s a D mark 64", "2.821s a D ended")
	p.empty()
	p.is("tokens", r.made(), 128)
	p.is("time in prefill", r.legs[0].Time(engine.StagePrefill), "195.5ms")
	p.is("time in inflight", r.legs[0].Time(engine.StageInflight), "22ms")
	p.is("time in decode", r.legs[1].Time(engine.StageDecode), "2.60374384s")
	p.is("gone", r.legs[0].Gone() && r.legs[1].Gone(), true)
}

// TestMarks: marks can be moved in the callbacks and, with Remark, in between.
func TestMarks(t *testing.T) {
	p := newPlay(t, nil)
	r := &marker{pair: p.prepare("a", 1000, 100), marks: []int{1, 3, 7, 200}}
	r.legs[1].Owner = r
	r.send()
	for r.made() < 20 {
		p.Advance(p.Next())
		if p.Next() == sim.Never {
			t.Fatal("at its end")
		}
		if r.made() >= 7 {
			p.until(time.Second)
		}
	}
	for _, mark := range []int{90, 60, 50, 5} {
		r.legs[1].MarkTokens = mark
		r.legs[1].Remark()
	}
	r.legs[1].MarkTokens = 50
	r.legs[1].Remark()
	p.end()
	told := strings.Join(p.told, "\n")
	for _, want := range []string{"D first token\n218ms a D mark 1\n", "a D mark 3\n", "a D mark 7\n", "a D mark 50\n", "a D ended"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	p.is("lines", len(p.told), 7)
}

// marker asks for one mark after the other.
type marker struct {
	*pair
	marks []int
}

func (m *marker) FirstToken(l *engine.Leg) {
	m.pair.FirstToken(l)
	l.MarkTokens = m.marks[0]
}

func (m *marker) Marked(l *engine.Leg) {
	m.pair.Marked(l)
	if len(m.marks) > 1 {
		m.marks = m.marks[1:]
		l.MarkTokens = m.marks[0]
	}
}

// TestChunks: a chunk has whole prompts, and of one a part, whose rest comes first in the next.
func TestChunks(t *testing.T) {
	p := newLoggedPlay(t, func(c *engine.Config) { c.Prefill.PerTokenPair = 0 })
	p.ask("a", 5000, 1)
	for _, n := range []string{"b", "c", "d"} {
		p.ask(n, 5000, 1)
	}
	p.is("waiting", p.prefill().PrefillWait, 3)
	p.is("tokens pending", p.prefill().PendingTokens, 15_000)
	p.end()
	p.empty()
	var got []string
	for line := range strings.Lines(p.logs["prefill-0"].String()) {
		_, line, _ = strings.Cut(line, "#new-seq: ")
		line, _, _ = strings.Cut(line, ", #cached")
		got = append(got, strings.Replace(line, ", #new-token:", "", 1))
	}
	p.is("chunks", strings.Join(got, "; "), "1 5000; 2 8192; 2 6808")
}

// TestAdmission: nobody overtakes the head of the prealloc queue, and prefill's bootstrap queue shows it.
func TestAdmission(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.KVTokens, c.Decode.ClipTokens = 10_000, 0 })
	a, b, c, d := p.ask("a", 4000, 500), p.ask("b", 4000, 100), p.ask("c", 4000, 100), p.ask("d", 10, 10)
	// 4000 and 512 for each that is in.
	p.until(700 * time.Millisecond)
	p.is("a", a.where(), "inflight transfer")
	p.is("b", b.where(), "prefill transfer")
	p.is("c", c.where(), "bootstrap prealloc")
	p.is("d", d.where(), "bootstrap prealloc")
	p.is("bootstrap", p.prefill().Bootstrap, 2)
	p.is("prealloc", p.decode().Prealloc, 2)
	p.end()
	p.empty()
	// The chunk of c and d is one, and d's memory is there sooner.
	p.want("726ms a P ended", "726ms a D first token", "1.424s b P ended", "1.424s b D first token", "3.573s b D ended",
		"4.292s d P ended", "4.292s d D first token", "4.3s c P ended", "4.3s c D first token",
		"4.496s d D ended", "6.47s c D ended", "11.229s a D ended")
}

// TestNeediest: what the neediest of the running requests may still need is kept free too.
func TestNeediest(t *testing.T) {
	for _, c := range []struct {
		reserve, clip, max int
		want               string
	}{
		{0, 0, 4000, "transfer"},
		{0, 4096, 4000, "prealloc"}, // 1000 + 4000 - what a has
		{0, 2000, 4000, "transfer"},
		{0, 4096, 100, "transfer"},
		{4500, 4096, 100, "prealloc"},
	} {
		p := newPlay(t, func(cfg *engine.Config) {
			cfg.Decode.KVTokens, cfg.Decode.ReserveTokens, cfg.Decode.ClipTokens = 10_000, c.reserve, c.clip
		})
		a := p.prepare("a", 1000, 3000)
		a.job.TokensMax = c.max
		a.send()
		p.until(time.Second)
		b := p.ask("b", 6000, 1)
		s, _ := b.legs[1].Stage()
		p.is("b", s, c.want)
	}
}

// TestSlots: metadata slots bound what is between bootstrap and the end of the transfer, request slots
// what decode has admitted.
func TestSlots(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Prefill.RequestsMax, c.Decode.RequestsMax = 2, 3 })
	var all []*pair
	for _, name := range []string{"a", "b", "c", "d"} {
		all = append(all, p.ask(name, 1000, 100))
	}
	for i, want := range []string{"prefill transfer", "prefill_wait transfer", "bootstrap transfer", "bootstrap prealloc"} {
		p.is(all[i].name, all[i].where(), want)
	}
	p.is("slots", []int{p.prefill().PrefillSlots, p.decode().DecodeSlots}, []int{2, 3})
	p.until(300 * time.Millisecond)
	for i, want := range []string{"done decode", "prefill transfer", "prefill_wait transfer", "bootstrap prealloc"} {
		p.is(all[i].name, all[i].where(), want)
	}
	p.end()
	p.empty()
	p.is("lines", len(p.told), 12)
}

// TestRunningMax: who finds no room in the batch waits, and a batch of one is the fault of an engine
// that serialises.
func TestRunningMax(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.RunningMax = 2 },
		fault.Fault{Where: fault.Decode, What: fault.Serialize, From: 4 * time.Second, To: 12 * time.Second})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		p.ask(name, 100, 400)
	}
	p.until(6 * time.Second) // those who run go on
	p.is("running", []int{p.decode().Running, p.decode().DecodeWait}, []int{2, 3})
	p.until(10 * time.Second)
	p.is("running", []int{p.decode().Running, p.decode().DecodeWait}, []int{1, 2})
	p.until(12 * time.Second)
	p.is("running", []int{p.decode().Running, p.decode().DecodeWait}, []int{2, 1})
	p.end()
	p.empty()
}

// TestTooLong: a prompt that no memory will ever be enough for is refused by each engine.
func TestTooLong(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Prefill.KVTokens, c.Decode.KVTokens = 2000, 3000 })
	a := p.ask("a", 2001, 1)
	p.is("message", a.legs[0].Failure().Message, "Request a exceeds the maximum number of tokens: 2001 > 2000")
	b := p.ask("b", 3001, 1)
	p.is("message", b.legs[1].Failure().Message, "Request b exceeds the maximum number of tokens: 3001 > 3000")
	p.end()
	// The decode leg of a notices that there is no other.
	p.want("0s a P failed 400 BAD_REQUEST", "0s b P failed 400 BAD_REQUEST", "0s b D failed 400 BAD_REQUEST", "8s a D failed 500 INTERNAL_SERVER_ERROR")
	p.empty()
}
