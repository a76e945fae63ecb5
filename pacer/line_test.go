package pacer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
)

// lined is a configuration with one slot and a queue.
func lined(q queue.Config) pacer.Config {
	return pacer.Config{Slots: 1, Hold: pacer.HoldStream, Queue: q}
}

// TestLine sends calls in the order of their names, one a second from 0 s on, each of which takes
// 10 s, and says which ended when: in what order, and who was turned away.
func TestLine(t *testing.T) {
	for _, tc := range []struct {
		name   string
		config pacer.Config
		policy pacer.Policy
		agents string // of the calls
		want   string // the agent at the second; ! with the reason: turned away
	}{
		{"semaphore", slots(1, pacer.HoldStream), quick(), "abcd", "a10 b20 c30 d40"},
		{"fifo", lined(queue.Config{Order: queue.FIFO}), quick(), "abcd", "a10 b20 c30 d40"},
		{"lifo", lined(queue.Config{Order: queue.LIFO}), quick(), "abcd", "a10 b40 c30 d20"},
		{"adaptive lifo", lined(queue.Config{Order: queue.AdaptiveLIFO, LIFOAbove: 2}), quick(), "abcd", "a10 b30 c40 d20"},
		{"fair", lined(queue.Config{Order: queue.Fair}), quick(), "aaabb", "a10 a20 a40 b30 b50"},
		{"bounded", lined(queue.Config{Max: 2}), quick(), "abcd", "a10 b20 c30 d3!full"},
		{"max wait", lined(queue.Config{Wait: 12 * s}), quick(), "abcd", "a10 b20 c14!wait d15!wait"},
		{"lifo and max wait", lined(queue.Config{Order: queue.LIFO, Wait: 12 * s}), quick(), "abcd", "a10 b13!wait c14!wait d20"},
		{"controlled delay", lined(queue.Config{CoDel: queue.CoDelServer, Target: 4 * s, Interval: 8500 * time.Millisecond}), quick(), "abcd", "a10 b9!codel c20 d11!codel"},
		{"drop dead", lined(queue.Config{DropDead: true, Need: 10 * s}), with(func(p *pacer.Policy) { p.CallTotal = 25 * s }), "abcd", "a10 b20 c20!dead d20!dead"},
		{"two slots by a static limit", pacer.Config{Hold: pacer.HoldStream, Limit: concurrency.Config{Rule: concurrency.Static, Initial: 2}}, quick(), "abcd", "a10 b11 c20 d21"},
		{"a static limit of as many as there are slots", pacer.Config{Slots: 2, Hold: pacer.HoldStream, Limit: concurrency.Config{Rule: concurrency.Static}}, quick(), "abcd", "a10 b11 c20 d21"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
				p, err := pacer.New(w, tc.config, tc.policy, &backend{w: w, play: answers(10 * s)}, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				var got []string // guarded by the monitor
				var calls []*sim.Process
				for i, agent := range strings.Split(tc.agents, "") {
					calls = append(calls, w.Spawn(ctx, agent, func(ctx context.Context) {
						_ = w.Sleep(ctx, time.Duration(i)*s)
						_, err := p.Chat(ctx, identity(agent, i+1), request())
						w.Lock()
						defer w.Unlock()
						got = append(got, fmt.Sprintf("%s%d%s", agent, w.Now()/sim.Instant(s), reason(err)))
					}))
				}
				for _, c := range calls {
					_ = c.Wait(ctx)
				}
				slices.Sort(got) // those that end at the same instant do so in any order
				if have := strings.Join(got, " "); have != tc.want {
					t.Errorf("got %s, want %s", have, tc.want)
				}
				settled(t, w, p)
			})
		})
	}
}

// reason says why a call was turned away: it is a *ShedError within a *CallError.
func reason(err error) string {
	var call *pacer.CallError
	var shed *pacer.ShedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &call) && errors.As(err, &shed):
		return "!" + string(shed.Reason)
	}
	return "!" + err.Error()
}

// The deadline of what a call is for counts as the call's own.
func TestDropDeadByTheRound(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		p, err := pacer.New(w, lined(queue.Config{DropDead: true, Need: 10 * s}), quick(), &backend{w: w, play: answers(10 * s)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := w.Spawn(ctx, "first", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("first", 1), request()) })
		_ = w.Sleep(ctx, s)
		_, err = p.Chat(pacer.WithDeadline(ctx, sim.Instant(15*s)), identity("second", 1), request())
		if got := reason(err); got != "!dead" || w.Now() != sim.Instant(10*s) {
			t.Errorf("at %v: %v, want it turned away at 10s, when 5 s are left of the 10 that it needs", w.Now(), err)
		}
		_ = first.Wait(ctx)
		settled(t, w, p)
	})
}

// A call that is turned away is a failed call, or another try of it follows if the policy says so; then
// it is a retry to the queue.
func TestShedIsRetried(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		config := lined(queue.Config{Wait: 3 * s})
		policy := with(func(p *pacer.Policy) { p.RetryShed = true })
		rec := &recorder{w: w, calls: true}
		p, err := pacer.New(w, config, policy, &backend{w: w, play: answers(8 * s)}, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := w.Spawn(ctx, "a", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("a", 1), request()) })
		_ = w.Sleep(ctx, s)
		if _, err := p.Chat(ctx, identity("b", 2), request()); err != nil {
			t.Error(err)
		}
		_ = a.Wait(ctx)
		var own []string
		for _, line := range rec.lines {
			if at, rest, ok := strings.Cut(line, " 2: "); ok {
				own = append(own, at+" "+rest)
			}
		}
		want := "1s slot; 4s a1 shed took=0s tokens=0 again=1s; 4s backoff; 5s slot; " +
			"8s a2 shed took=0s tokens=0 again=2s; 8s backoff; 10s connect +slot; 10s headers +slot; 10s first_token +slot; " +
			"18s stream +slot; 18s a3 ok took=8s tokens=1; 18s done; 18s ended tokens=1 err=false"
		if got := strings.Join(own, "; "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		settled(t, w, p)
	})
}

// The points of the permit axis: from when to when an agent holds its slot over two calls, the first
// of which needs two attempts. An attempt takes 1 s to its headers, 2 s to its first output, 3 s in
// all; the first one is refused after 1 s; a second of backoff follows, and the agent works for 10 s
// between the calls.
func TestPermitAxis(t *testing.T) {
	limit := concurrency.Config{Rule: concurrency.Static, Initial: 1}
	for _, tc := range []struct {
		name   string
		config pacer.Config
		want   string // seconds during which the slot is held
	}{
		{"a: no slot", pacer.Config{Hold: pacer.HoldStream, RequestsPerSecond: 10}, ""},
		{"b: until the headers", pacer.Config{Hold: pacer.HoldStart, Limit: limit}, "0 2 15"},
		{"b: until the first output", pacer.Config{Hold: pacer.HoldFirstToken, Limit: limit}, "0 2 3 15 16"},
		{"c: until the end", pacer.Config{Hold: pacer.HoldStream, Limit: limit}, "0 2 3 4 15 16 17"},
		{"d: through backoff", pacer.Config{Hold: pacer.HoldStream, HoldInBackoff: true, Limit: limit}, "0 1 2 3 4 15 16 17"},
		{"e: through the agent's work", pacer.Config{Hold: pacer.HoldAgent, HoldInBackoff: true, Limit: limit}, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
	} {
		for _, semaphore := range []bool{false, true} {
			if semaphore && tc.config.Limit != (concurrency.Config{}) {
				tc.config.Limit, tc.config.Slots = concurrency.Config{}, 1
			}
			t.Run(fmt.Sprint(tc.name, semaphore), func(t *testing.T) {
				inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
					b := &backend{w: w, play: func(a *pacer.Attempt) script {
						if a.Of.Call == 1 && a.Number == 1 {
							return script{headers: s, refuse: busy()}
						}
						return script{headers: s, chunks: []chunk{say(s, "x"), say(s, "y")}}
					}}
					p, err := pacer.New(w, tc.config, quick(), b, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					a := w.Spawn(ctx, "a", func(ctx context.Context) {
						held, release, err := p.Hold(ctx, identity("a", 1))
						if err != nil {
							t.Error(err)
						}
						defer release()
						_, _ = p.Chat(held, identity("a", 1), request())
						_ = w.Sleep(held, 10*s)
						_, _ = p.Chat(held, identity("a", 2), request())
					})
					var held []string
					_ = w.Sleep(ctx, s/2)
					for sec := range 20 {
						if slotState(w).InUse > 0 {
							held = append(held, fmt.Sprint(sec))
						}
						_ = w.Sleep(ctx, s)
					}
					_ = a.Wait(ctx)
					if got := strings.Join(held, " "); got != tc.want {
						t.Errorf("held in the seconds %s, want %s", got, tc.want)
					}
					settled(t, w, p)
				})
			})
		}
	}
}

// A slot that is held until the first output is given back when the first of the attempts of a call has
// some, and the limit is told of that one.
func TestPermitOfHedgedCalls(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		config := pacer.Config{Hold: pacer.HoldFirstToken, Limit: concurrency.Config{Rule: concurrency.AIMD, Initial: 2, Min: 1,
			Max: 8, Signal: concurrency.FirstToken, Timeout: 4 * s}}
		policy := with(func(p *pacer.Policy) { p.Hedge = pacer.Hedge{After: 3 * s, Share: 1} })
		b := &backend{w: w, play: func(a *pacer.Attempt) script {
			if a.Number == 1 {
				return script{headers: s, chunks: []chunk{say(20*s, "late")}}
			}
			return script{headers: s, chunks: []chunk{say(s, "x"), say(10*s, "y")}}
		}}
		p, err := pacer.New(w, config, policy, b, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := w.Spawn(ctx, "a", func(ctx context.Context) {
			if _, err := p.Chat(ctx, identity("a", 1), request()); err != nil {
				t.Error(err)
			}
		})
		_ = w.Sleep(ctx, 4500*time.Millisecond)
		if st := slotState(w); st.InUse != 1 || st.Capacity != 2 {
			t.Errorf("before the output: %+v", st)
		}
		_ = w.Sleep(ctx, s)
		if st := slotState(w); st.InUse != 0 || st.Capacity != 3 {
			t.Errorf("with the output: %+v", st)
		}
		_ = call.Wait(ctx)
		if now := w.Now(); now != sim.Instant(15*s) {
			t.Errorf("the call ended at %v, want 15s", now)
		}
		if st := slotState(w); st.Capacity != 3 {
			t.Errorf("in the end: %+v, want the limit to have been told once", st)
		}
		settled(t, w, p)
	})
}

// While calls wait in the line, whoever looks sees who holds a slot and who waits, how many slots the
// limit allows, and the stage on the goroutine's labels.
func TestLineIsSeen(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		config := pacer.Config{Hold: pacer.HoldStream, Queue: queue.Config{Order: queue.LIFO, Wait: 60 * s},
			Limit: concurrency.Config{Rule: concurrency.AIMD, Initial: 2, Min: 1, Max: 8, Timeout: 8 * s}}
		p, err := pacer.New(w, config, quick(), &backend{w: w, play: answers(10 * s)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []*sim.Process
		for i, agent := range []string{"a", "b", "c", "d"} {
			all = append(all, w.Spawn(ctx, agent, func(ctx context.Context) {
				_ = w.Sleep(ctx, time.Duration(i)*s)
				_, _ = p.Chat(ctx, identity(agent, 1), request())
			}))
		}
		_ = w.Sleep(ctx, 5*s)
		st := slotState(w)
		if st.Kind != "semaphore" || st.Capacity != 2 || st.InUse != 2 || parties(st.Holders) != "a/a-c001 b/b-c001" || parties(st.Waiters) != "c/c-c001 d/d-c001" {
			t.Errorf("the object: %+v", st)
		}
		if st.Waiters[0].Since != sim.Instant(2*s) {
			t.Errorf("c waits since %v, want 2s", st.Waiters[0].Since)
		}
		for _, q := range w.Processes() {
			if q.Name == "d" && q.WaitsFor != "semaphore pacer.slots" {
				t.Errorf("d waits for %q", q.WaitsFor)
			}
		}
		if calls := p.Calls(); len(calls) != 4 || calls[3].Stage != pacer.StageSlot || calls[3].HoldsSlot || !calls[0].HoldsSlot {
			t.Errorf("the calls: %+v", calls)
		}
		_ = w.Sleep(ctx, 5500*time.Millisecond) // a took longer than the limit's timeout: one slot less
		if st := slotState(w); st.Capacity != 1 || st.InUse != 1 || parties(st.Holders) != "b/b-c001" {
			t.Errorf("after a: %+v", st)
		}
		for _, a := range all {
			_ = a.Wait(ctx)
		}
		settled(t, w, p)
	})
}

func TestLineLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{Seed: seed})
		var got []string
		err := w.Run(t.Context(), func(ctx context.Context) {
			p, err := pacer.New(w, lined(queue.Config{Order: queue.Fair}), quick(), &backend{w: w, play: answers(s)}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			first := w.Spawn(ctx, "first", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("first", 1), request()) })
			_ = w.Sleep(ctx, s/2)
			sim.ProcessOf(ctx).SetLabels(func() []string {
				stage := "think"
				for _, c := range p.Calls() {
					if c.Agent == "second" {
						stage = c.Stage.String()
					}
				}
				got = append(got, stage)
				return []string{"stage", stage}
			})
			_, _ = p.Chat(ctx, identity("second", 1), request())
			_ = first.Wait(ctx)
		})
		if err != nil {
			t.Error(err)
		}
		if want := "[think slot connect headers first_token stream think]"; fmt.Sprint(got) != want {
			t.Errorf("labels %v, want %s", got, want)
		}
	})
}
