package pacer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// slotState is what the semaphore of the pacer's slots looks like.
func slotState(w sim.World) sim.ObjectState {
	for _, o := range w.Objects() {
		if o.Name == "pacer.slots" {
			return o
		}
	}
	return sim.ObjectState{}
}

func parties(all []sim.Party) string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name+"/"+p.What)
	}
	return strings.Join(names, " ")
}

func answers(after time.Duration) func(*pacer.Attempt) script {
	return func(*pacer.Attempt) script { return script{chunks: []chunk{say(after, "x")}} }
}

// TestHold keeps a slot over two calls and the time between them, while another agent waits.
func TestHold(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		p, err := pacer.New(w, slots(1, pacer.HoldAgent), quick(), &backend{w: w, play: answers(10 * s)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := w.Spawn(ctx, "a", func(ctx context.Context) {
			held, release, err := p.Hold(ctx, identity("a", 1))
			if err != nil {
				t.Error(err)
			}
			again, releaseAgain, err := p.Hold(held, identity("a", 1)) // changes nothing
			if err != nil || again != held {
				t.Errorf("a Hold within a Hold: %v, another context: %v", err, again != held)
			}
			_, _ = p.Chat(again, identity("a", 1), request())
			releaseAgain()
			_ = w.Sleep(held, 10*s)
			_, _ = p.Chat(held, identity("a", 2), request())
			release()
			release()
			_, _ = p.Chat(held, identity("a", 3), request()) // the hold is over: a slot of its own
		})
		b := w.Spawn(ctx, "b", func(ctx context.Context) {
			_ = w.Sleep(ctx, 1*s)
			_, _ = p.Chat(ctx, identity("b", 1), request())
		})
		_ = w.Sleep(ctx, 15*s)
		if st := slotState(w); parties(st.Holders) != "a/a-c001" || parties(st.Waiters) != "b/b-c001" {
			t.Errorf("between the calls: holders %v, waiters %v", st.Holders, st.Waiters)
		}
		if calls := p.Calls(); len(calls) != 1 || calls[0].Stage != pacer.StageSlot || calls[0].Since != sim.Instant(1*s) {
			t.Errorf("between the calls: %+v", calls)
		}
		_ = b.Wait(ctx)
		if now := w.Now(); now != sim.Instant(40*s) {
			t.Errorf("b ended at %v, want 40s: after a's 10 + 10 + 10 and its own 10", now)
		}
		_ = a.Wait(ctx)
		if now := w.Now(); now != sim.Instant(50*s) {
			t.Errorf("a's last call ended at %v, want 50s: it had to wait for b", now)
		}
		settled(t, w, p)
	})
}

// Under the other modes, Hold does nothing.
func TestHoldOff(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		for _, config := range []pacer.Config{slots(1, pacer.HoldStream), slots(1, pacer.HoldStart), slots(0, pacer.HoldAgent)} {
			p, err := pacer.New(w, config, quick(), &backend{w: w, play: answers(s)}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			held, release, err := p.Hold(ctx, identity("a", 1))
			if held != ctx || err != nil {
				t.Errorf("%+v: Hold changed something: %v", config, err)
			}
			if _, err := p.Chat(held, identity("a", 1), request()); err != nil {
				t.Error(err)
			}
			if st := slotState(w); st.InUse != 0 {
				t.Errorf("%+v: after the call: %+v", config, st)
			}
			release()
		}
		stopped, cancel := w.WithCancel(ctx)
		cancel(errors.New("why"))
		p, _ := pacer.New(w, pacer.DefaultConfig(), quick(), &backend{w: w}, nil, nil)
		if _, _, err := p.Hold(stopped, identity("a", 1)); err == nil || err.Error() != "why" {
			t.Errorf("Hold with a cancelled context: %v, want its cause", err)
		}
	})
}

// TestNestedHold shows the deadlock: parents keep all slots and wait for children who need one. The
// children's contexts descend from their parents'.
func TestNestedHold(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	var p *pacer.Pacer
	var stages []string
	err := w.Run(t.Context(), func(ctx context.Context) {
		p, _ = pacer.New(w, slots(2, pacer.HoldAgent), quick(), &backend{w: w, play: answers(s)}, nil, nil)
		var parents []*sim.Process
		for i := range 2 {
			name := fmt.Sprintf("parent-%d", i)
			parents = append(parents, w.Spawn(ctx, name, func(ctx context.Context) {
				ctx, release, _ := p.Hold(ctx, identity(name, 1))
				defer release()
				_, _ = p.Chat(ctx, identity(name, 1), request())
				child := w.Spawn(ctx, name+".child", func(ctx context.Context) {
					ctx, release, _ := p.Hold(ctx, identity(name+".child", 1))
					defer release()
					_, _ = p.Chat(ctx, identity(name+".child", 1), request())
				})
				_ = child.Wait(ctx)
			}))
		}
		w.Spawn(ctx, "watch", func(ctx context.Context) {
			_ = w.Sleep(ctx, 2*s)
			for _, c := range p.Calls() {
				stages = append(stages, c.ID+" "+c.Stage.String())
			}
		})
		for _, parent := range parents {
			_ = parent.Wait(ctx)
		}
	})
	var deadlock *sim.DeadlockError
	if !errors.As(err, &deadlock) {
		t.Fatalf("got %v, want a deadlock", err)
	}
	if want := "[parent-0.child-c001 slot parent-1.child-c001 slot]"; fmt.Sprint(stages) != want {
		t.Errorf("seed %d: calls %v, want %s", seed, stages, want)
	}
}

// TestLeak fails attempts while the fault is on: each failed attempt costs a slot for good, and only
// those do.
func TestLeak(t *testing.T) {
	for _, tc := range []struct {
		hold      pacer.Hold
		inBackoff bool
		fail      script
		leaked    int // of 3 failed attempts of a call
	}{
		{pacer.HoldStream, false, script{headers: s, refuse: busy()}, 3},
		{pacer.HoldStream, true, script{headers: s, refuse: busy()}, 3},
		{pacer.HoldStream, false, script{chunks: []chunk{say(s, "x")}, end: errors.New("reset")}, 3},
		{pacer.HoldStart, false, script{headers: s, refuse: busy()}, 3},
		{pacer.HoldStart, false, script{chunks: []chunk{say(s, "x")}, end: errors.New("reset")}, 0}, // no slot is held by then
		{pacer.HoldAgent, false, script{headers: s, refuse: busy()}, 3},
	} {
		t.Run(fmt.Sprintf("%s/%v/%d", tc.hold, tc.inBackoff, tc.leaked), func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
				faults, err := fault.NewSet(w, []fault.Fault{{ID: "leak", Where: fault.Pacer, What: fault.LeakSlot}})
				if err != nil {
					t.Fatal(err)
				}
				config := slots(8, tc.hold)
				config.HoldInBackoff = tc.inBackoff
				b := &backend{w: w, play: func(a *pacer.Attempt) script {
					if a.Of.Agent == "bad" {
						return tc.fail
					}
					return answers(s)(a)
				}}
				p, err := pacer.New(w, config, quick(), b, nil, faults)
				if err != nil {
					t.Fatal(err)
				}
				for _, agent := range []string{"good", "bad", "good"} {
					held, release, _ := p.Hold(ctx, identity(agent, 1))
					_, err := p.Chat(held, identity(agent, 1), request())
					if err == nil != (agent == "good") {
						t.Errorf("%s: %v", agent, err)
					}
					release()
				}
				if calls := p.Calls(); len(calls) != 0 {
					t.Errorf("calls are left: %+v", calls)
				}
				st := slotState(w)
				if st.InUse != tc.leaked {
					t.Errorf("%d slots leaked, want %d: %v", st.InUse, tc.leaked, st.Holders)
				}
				for _, h := range st.Holders {
					if h.Name != "bad" || h.What != "bad-c001" {
						t.Errorf("a leaked slot is held by %+v", h)
					}
				}
			})
		})
	}
}

// TestSlotsComeBack runs random agents against random servers with random cancels: whatever happens,
// all slots are free in the end.
func TestSlotsComeBack(t *testing.T) {
	outcomes := map[string]int{}
	for n := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, n))
		config := slots(1+random.IntN(3), []pacer.Hold{pacer.HoldStream, pacer.HoldStart, pacer.HoldAgent}[random.IntN(3)])
		config.HoldInBackoff = random.IntN(2) == 0
		if random.IntN(2) == 0 {
			config.RequestsPerSecond, config.TokensPerSecond, config.TokenBurst = 0.5, 10, 20
		}
		policy := pacer.DefaultPolicy()
		policy.Connect, policy.ResponseHeader, policy.FirstToken, policy.Idle, policy.Total = 4*s, 5*s, 8*s, 3*s, 12*s
		runAtRandom(t, fmt.Sprintf("seed %d/%d: %+v", seed, n, config), config, policy, n, random, outcomes)
	}
	// The check is worth something only if everything has happened.
	for _, kind := range []string{"ok", "cancelled", "*pacer.LimitError", "*pacer.StatusError", "*errors.errorString"} {
		if outcomes[kind] < 10 {
			t.Errorf("seed %d: only %d calls ended with %s: %v", seed, outcomes[kind], kind, outcomes)
		}
	}
}

func runAtRandom(t *testing.T, name string, config pacer.Config, policy pacer.Policy, n uint64, random *rand.Rand, outcomes map[string]int) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: n, Shuffle: true})
	err := w.Run(t.Context(), func(ctx context.Context) {
		rec := &recorder{w: w}
		p, err := pacer.New(w, config, policy, &backend{w: w, play: func(*pacer.Attempt) script { return randomScript(random) }}, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		var agents []*sim.Process
		for i := range 6 {
			agents = append(agents, w.Spawn(ctx, "agent", func(ctx context.Context) { randomAgent(ctx, w, p, fmt.Sprintf("agent-%d", i), random, outcomes) }))
		}
		for _, a := range agents {
			_ = a.Wait(ctx)
		}
		if st := slotState(w); st.InUse != 0 || len(st.Waiters) != 0 || len(p.Calls()) != 0 {
			t.Errorf("%s: slots %+v, calls %+v\n%s", name, st, p.Calls(), strings.Join(rec.lines, "\n"))
		}
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func randomAgent(ctx context.Context, w sim.World, p *pacer.Pacer, name string, random *rand.Rand, outcomes map[string]int) {
	held, release, err := p.Hold(ctx, identity(name, 1))
	if err != nil {
		return
	}
	defer release()
	for call := range 5 {
		callCtx, stop := held, func() {}
		if random.IntN(2) == 0 {
			callCtx, stop = sim.WithTimeout(held, w, time.Duration(random.IntN(20))*s, errors.New("enough"))
		}
		_, err := p.Chat(callCtx, identity(name, call+1), request())
		stop()
		var failed *pacer.CallError
		switch {
		case err == nil:
			outcomes["ok"]++
		case errors.As(err, &failed):
			outcomes[fmt.Sprintf("%T", failed.Err)]++
		default:
			outcomes["cancelled"]++
		}
		_ = w.Sleep(ctx, time.Duration(random.IntN(5))*s)
	}
}

func randomScript(random *rand.Rand) script {
	length := func() time.Duration { return time.Duration(random.IntN(6)) * s }
	sc := script{connect: length(), headers: length(), noTouch: random.IntN(4) == 0}
	if random.IntN(4) == 0 {
		sc.refuse = busy()
	}
	for range random.IntN(6) {
		sc.chunks = append(sc.chunks, []chunk{say(length(), "x"), {after: length()}, {after: length(), bytes: 3}, {after: length(), usage: 5}}[random.IntN(4)])
	}
	sc.end = []error{nil, nil, errHang, errors.New("reset")}[random.IntN(4)]
	return sc
}

// A backend that panics takes its call down, not the slot. (In a virtual world the run fails.)
func TestPanicGivesSlotBack(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{Seed: seed})
	p, err := pacer.New(w, slots(1, pacer.HoldStream), quick(), &backend{w: w, play: func(*pacer.Attempt) script { panic("backend") }}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = p.Chat(t.Context(), identity("a", 1), request())
	}()
	settled(t, w, p)
}
