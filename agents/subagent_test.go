package agents_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

func delegating(rounds, perRound int) agents.Workflow {
	wf := short(rounds)
	wf.SubAgents = agents.SubAgents{PerRound: perRound, Steps: 2}
	return wf
}

func TestSubAgents(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	err := w.Run(context.Background(), func(ctx context.Context) {
		p := &player{w: w, latency: 10 * time.Second}
		f := fleet{w: w, wf: delegating(2, 2), chat: p}
		f.start(t, ctx, 1)
		if err := f.wait(ctx); err != nil {
			t.Fatal(err)
		}
		golden(t, "subagents", transcript(f.j, p.reqs[len(p.reqs)-1]))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// While sub-agents work, their parent waits for them by name; each has its own identity.
func TestParentNamesItsChildren(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		p := &player{w: w, latency: 10 * time.Second}
		f := fleet{w: w, wf: delegating(3, 3), chat: p}
		f.start(t, ctx, 2)
		for step := 0; ; step++ {
			if err := w.Sleep(ctx, 700*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			waiting := 0
			for _, a := range f.agents {
				s := a.State()
				waiting += len(s.WaitsFor)
				for _, child := range s.WaitsFor {
					if !strings.HasPrefix(child, s.Name+".s") || s.Tool != agents.ToolSubAgent {
						t.Errorf("seed %d: %+v", seed, s)
					}
				}
			}
			working := 0
			for _, p := range w.Processes() {
				if strings.Contains(p.Name, ".s") {
					working++
				}
			}
			if working != waiting {
				t.Errorf("seed %d at %v: %d sub-agents work, %d are waited for", seed, w.Now(), working, waiting)
			}
			if len(w.Processes()) == 1 {
				break
			}
		}
		if err := f.wait(ctx); err != nil {
			t.Error(err)
		}
		ids := map[string]bool{}
		for _, id := range p.ids {
			ids[fmt.Sprint(id.Agent, id.Call)] = true
		}
		// Two agents with 3 rounds of 4 steps, each with 3 sub-agents of 2 steps a round.
		if want := 2 * 3 * (4 + 3*2); len(p.ids) != want || len(ids) != want {
			t.Errorf("seed %d: %d calls of %d identities, want %d", seed, len(p.ids), len(ids), want)
		}
	})
}

// Parents that hold all slots and wait for children who need one: the classic nested acquire.
func TestNestedHoldDeadlocks(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	err := w.Run(context.Background(), func(ctx context.Context) {
		f := fleet{w: w, wf: delegating(1, 1), chat: &player{w: w, slots: sim.NewSemaphore(w, "slots", 3)}}
		f.start(t, ctx, 3)
		_ = f.wait(ctx)
	})
	var deadlock *sim.DeadlockError
	if !errors.As(err, &deadlock) {
		t.Fatalf("seed %d: %v, want a deadlock", seed, err)
	}
	for _, part := range []string{"agent-01 waits for process agent-01.s1", "agent-01.s1 waits for semaphore slots"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("seed %d: %q is missing in: %v", seed, part, err)
		}
	}
}

func TestFailingSubAgent(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		p := &player{w: w, latency: time.Second}
		p.answer = func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
			if id.Agent == "agent-01.s2" {
				return openai.ChatCompletionMessage{}, errors.New("boom")
			}
			return play(id, req)
		}
		f := fleet{w: w, wf: delegating(1, 3), chat: p}
		f.start(t, ctx, 1)
		err := f.wait(ctx)
		want := "agents: agent-01: round 1, step 1: agents: agent-01.s2: round 1, step 1: boom"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		// The others were waited for.
		var ends []string
		for _, l := range f.j.lines {
			if strings.Contains(l, " done: ") {
				ends = append(ends, strings.Fields(l)[1])
			}
		}
		slices.Sort(ends[1:3])
		if fmt.Sprint(ends) != "[agent-01.s2 agent-01.s1 agent-01.s3 agent-01]" {
			t.Errorf("ends in the order %v", ends)
		}
	})
}

// A cancelled parent ends after its children.
func TestCancelledTree(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := fleet{w: w, wf: delegating(1, 3), chat: &player{w: w, latency: time.Minute}}
		stop := errors.New("stop")
		cancelled, release := sim.WithTimeout(ctx, w, 90*time.Second, stop)
		defer release()
		f.start(t, cancelled, 1)
		if err := f.wait(ctx); err == nil || err.Error() != "stop" {
			t.Errorf("error %v, want the cause", err)
		}
		if last := f.j.lines[len(f.j.lines)-1]; !strings.Contains(last, " agent-01 r1 s1 done: stop") {
			t.Errorf("the last to end is %q", last)
		}
	})
}

func TestLabels(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	err := w.Run(context.Background(), func(ctx context.Context) {
		f := fleet{w: w, wf: delegating(1, 1), chat: &player{w: w, latency: time.Minute}}
		f.start(t, ctx, 1)
		_ = w.Sleep(ctx, 61*time.Second+150*time.Millisecond) // the child thinks, its parent waits
		w.Lock()
		f.j.states["agent-01.s1"].Follow(&pacer.CallState{ID: "agent-01.s1-c001", AttemptID: "agent-01.s1-c001-a1", Stage: pacer.StageHeaders, Since: sim.Instant(5 * time.Second)})
		w.Unlock()
		w.RefreshLabels()
		var dump bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&dump, 1); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`# labels: {"agent":"agent-01", "attempt":"", "call":"", "round":"1", "since":"1m1.1s", "stage":"tool", "step":"1", "task":"task-01"}`,
			`# labels: {"agent":"agent-01.s1", "attempt":"agent-01.s1-c001-a1", "call":"agent-01.s1-c001", "round":"1", "since":"5s", "stage":"headers", "step":"1", "task":"task-01.s1"}`,
		} {
			if !strings.Contains(dump.String(), want) {
				t.Errorf("%s is missing in\n%s", want, dump.String())
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFollow(t *testing.T) {
	var s agents.State
	s.Follow(&pacer.CallState{ID: "c", AttemptID: "c-a1", Stage: pacer.StageStream, Since: 7})
	if got := fmt.Sprintf("%v %v %s %s", s.Stage, s.Since, s.Call, s.Attempt); got != "stream 7ns c c-a1" {
		t.Errorf("in a call: %s", got)
	}
	s.Follow(&pacer.CallState{ID: "c", AttemptID: "c-a1", Stage: pacer.StageDone, Since: 9})
	if got := fmt.Sprintf("%v %v %q %q", s.Stage, s.Since, s.Call, s.Attempt); got != `think 9ns "" ""` {
		t.Errorf("after it: %s", got)
	}
}
