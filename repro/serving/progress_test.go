package serving_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// even makes the first token come after 100 ms, and the others every 20 ms.
func even(c *serving.Config) {
	c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 100*time.Millisecond, 0, 0
	c.Transfer = engine.TransferConfig{}
	c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 20*time.Millisecond, 0, 0
}

// TestNotStreamed checks that faults of the stream concern answers in one piece too.
func TestNotStreamed(t *testing.T) {
	for _, row := range []struct {
		what fault.What
		want error
		at   time.Duration
	}{
		{fault.Silence, context.DeadlineExceeded, time.Minute},
		{fault.Reset, serving.ErrReset, 1100 * time.Millisecond},
	} {
		t.Run(string(row.what), func(t *testing.T) {
			su := setup{cfg: even, faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: row.what, AfterTokens: 51}}}
			inBothWorlds(t, su, 1, func(p *play) {
				ctx, stop := sim.WithTimeout(p.ctx, p.w, time.Minute, context.DeadlineExceeded)
				defer stop()
				got := p.serve(ctx, serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 200}, 0)
				if !errors.Is(got.err, row.want) || got.tokens != 0 || got.endAt != sim.Instant(row.at) {
					t.Errorf("%d tokens, then %v at %v; want 0, then %v at %v", got.tokens, got.err, got.endAt, row.want, row.at)
				}
				p.sleep(10 * time.Second)
				p.atRest()
			})
		})
	}
}

// TestProgress checks what a stream says of itself while it runs and after its end.
func TestProgress(t *testing.T) {
	const ms = sim.Instant(time.Millisecond)
	type look struct {
		at     sim.Instant
		tokens int
		last   sim.Instant
	}
	for _, row := range []struct {
		whole bool // the answer is not streamed
		fault fault.Fault
		looks []look
	}{
		{true, fault.Fault{}, []look{{1115 * ms, 0, 0}, {9000 * ms, 100, 2080 * ms}}},
		{false, fault.Fault{}, []look{{99 * ms, 0, 0}, {100 * ms, 1, 100 * ms}, {119 * ms, 1, 100 * ms}, {120 * ms, 2, 120 * ms}, {1115 * ms, 51, 1100 * ms}, {9000 * ms, 100, 2080 * ms}}},
		{
			false, fault.Fault{Where: fault.Stream, What: fault.Reasoning, Delay: 1010 * time.Millisecond},
			[]look{{1109 * ms, 0, 0}, {1115 * ms, 51, 1110 * ms}, {1120 * ms, 52, 1120 * ms}, {9000 * ms, 100, 2080 * ms}},
		},
		{
			false, fault.Fault{Where: fault.Stream, What: fault.Silence, AfterTokens: 30},
			[]look{{510 * ms, 21, 500 * ms}, {1115 * ms, 30, 680 * ms}, {9000 * ms, 30, 680 * ms}},
		},
	} {
		t.Run(string(row.fault.What), func(t *testing.T) {
			su := setup{cfg: even}
			if row.fault.What != "" {
				row.fault.ID = "f"
				su.faults = []fault.Fault{row.fault}
			}
			inBothWorlds(t, su, 1, func(p *play) {
				h := p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 100, Stream: !row.whole})
				if part, more, err := h.Take(); part.Tokens != 0 || more != sim.Never || err != nil {
					t.Errorf("at first: %d tokens, more at %v, error %v", part.Tokens, more, err)
				}
				for _, want := range row.looks {
					p.sleep(want.at.Sub(p.w.Now()))
					p.w.Lock()
					got := h.Progress()
					p.w.Unlock()
					if part, more, _ := h.Take(); row.whole && part.Finish == "" && (part.Tokens != 0 || more != sim.Never) {
						t.Errorf("at %v: %d tokens, more at %v", want.at, part.Tokens, more)
					}
					if got.Tokens != want.tokens || got.LastToken != want.last || got.LastByte != got.LastToken || got.LastEvent != got.LastToken {
						t.Errorf("at %v: %+v, want %+v", want.at, got, want)
					}
				}
				h.Cancel()
				p.atRest()
			})
		})
	}
}

// TestClosedStream checks that a stream that has been closed is nobody's any more: to close it again,
// to read it or to ask for its progress does nothing to the stream that came after it.
func TestClosedStream(t *testing.T) {
	setup{}.run(t, 1, func(p *play) {
		open := func(id string) pacer.Stream {
			st, err := p.client.Open(p.ctx, &pacer.Attempt{ID: id}, prompt(100, 50))
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		first := open("first")
		p.must(first.Close())
		second := open("second")
		if _, err := second.Recv(); err != nil {
			t.Fatal(err)
		}
		p.sleep(100 * time.Millisecond)
		p.must(first.Close())
		if chunk, err := first.Recv(); err == nil || chunk.ID != "" {
			t.Errorf("a closed stream gives %+v", chunk)
		}
		p.w.Lock()
		closed, other := first.Progress(), second.Progress()
		p.w.Unlock()
		if closed != (pacer.Progress{}) || other.Tokens < 2 {
			t.Errorf("progress %+v of the closed stream, %+v of the other", closed, other)
		}
		if chunk, err := second.Recv(); err != nil || len(chunk.Choices) != 1 {
			t.Errorf("the other stream gives %+v, %v", chunk, err)
		}
		p.must(second.Close())
		p.atRest()
	})
}
