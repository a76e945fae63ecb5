package agents_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// fleet is some agents at work, each on a task of its own and observed by one journal.
type fleet struct {
	w      sim.World
	wf     agents.Workflow
	chat   agents.Chatter
	faults []fault.Fault
	j      *journal
	agents []*agents.Agent
	procs  []*sim.Process
	errs   []error
}

func (f *fleet) start(t *testing.T, ctx context.Context, n int) {
	t.Helper()
	set, err := fault.NewSet(f.w, f.faults)
	if err != nil {
		t.Fatal(err)
	}
	if f.chat == nil {
		f.chat = &player{w: f.w, latency: time.Second}
	}
	f.j, f.errs = newJournal(f.w), make([]error, n)
	ws := agents.NewMemory(agents.NewShared(f.w, &f.wf))
	for i := range n {
		a := agents.New(f.w, fmt.Sprintf("agent-%02d", i+1), &f.wf, ws, f.chat, f.j, set)
		f.agents = append(f.agents, a)
		f.procs = append(f.procs, f.w.Spawn(ctx, a.State().Name, func(ctx context.Context) {
			f.errs[i] = a.Run(ctx, agents.Task{ID: fmt.Sprintf("task-%02d", i+1)})
		}))
	}
}

// wait waits for the fleet and returns its errors as one.
func (f *fleet) wait(ctx context.Context) error {
	for _, p := range f.procs {
		_ = p.Wait(ctx)
	}
	return errors.Join(f.errs...)
}

func slowTools(wf agents.Workflow) agents.Workflow {
	slow := workload.Must(workload.Uniform(2*time.Second, 10*time.Second))
	wf.ToolTime.Append, wf.ToolTime.Save = slow, slow
	return wf
}

func inverted() []fault.Fault {
	return []fault.Fault{{ID: "inverted", Where: fault.Tool, What: fault.LockOrder, Tool: agents.ToolSave}}
}

func TestLockOrderDeadlockInVirtualTime(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	f := fleet{w: w, wf: slowTools(short(5)), faults: inverted()}
	f.wf.Locks = true
	err := w.Run(context.Background(), func(ctx context.Context) {
		f.start(t, ctx, 6)
		_ = f.wait(ctx)
	})
	var deadlock *sim.DeadlockError
	if !errors.As(err, &deadlock) {
		t.Fatalf("seed %d: %v, want a deadlock", seed, err)
	}
	for _, name := range []string{"workspace.lock", "journal.lock"} {
		if !strings.Contains(err.Error(), "semaphore "+name) {
			t.Errorf("seed %d: %s is not named by: %v", seed, name, err)
		}
	}
}

// The two locks' holders each wait for the other's lock, and say so; cancelling one lets the others
// go on.
func TestLockOrderDeadlock(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := fleet{w: w, wf: slowTools(short(5)), faults: inverted()}
		f.wf.Locks = true
		ctx, cancel := w.WithCancel(ctx)
		f.start(t, ctx, 6)
		_ = w.Sleep(ctx, time.Hour)

		holders := map[string]string{} // of locks
		for _, o := range w.Objects() {
			if len(o.Holders) != 1 {
				t.Fatalf("seed %d: object %+v, want one holder", seed, o)
			}
			holders[o.Name] = o.Holders[0].Name
		}
		other := map[string]string{"workspace.lock": "journal.lock", "journal.lock": "workspace.lock"}
		for _, a := range f.agents {
			s := a.State()
			for lock, holder := range holders {
				if s.Name == holder && !slices.Equal(s.WaitsFor, []string{other[lock]}) {
					t.Errorf("seed %d: the holder of %s waits for %v: %+v", seed, lock, s.WaitsFor, s)
				}
			}
			if s.Stage != pacer.StageTool || len(s.WaitsFor) != 1 {
				t.Errorf("seed %d: state %+v, want a tool that waits for a lock", seed, s)
			}
		}
		stop := errors.New("stop")
		cancel(stop)
		for _, p := range f.procs {
			_ = p.Wait(context.Background())
		}
		for i, err := range f.errs {
			if err != stop { //nolint:errorlint // as it is
				t.Errorf("agent %d: error %v, want the cause", i, err)
			}
		}
		for _, o := range w.Objects() {
			if o.InUse != 0 || len(o.Waiters) != 0 {
				t.Errorf("left behind: %+v", o)
			}
		}
	})
}

// With the locks in one order nothing goes wrong, only slowly.
func TestLocksSerialise(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		for _, locks := range []bool{false, true} {
			f := fleet{w: w, wf: slowTools(short(1))}
			f.wf.Locks = locks
			start := w.Now()
			f.start(t, ctx, 6)
			if err := f.wait(ctx); err != nil {
				t.Fatal(err)
			}
			// Twelve appends and saves of 2 to 10 s, one after the other or six at a time.
			if took := w.Now().Sub(start); locks != (took > 40*time.Second) {
				t.Errorf("seed %d: with locks %v it took %v", seed, locks, took)
			}
		}
	})
}

// A lock that is held over the whole step lets one agent at a time have its call.
func TestLockOverCall(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := fleet{w: w, wf: short(1)}
		f.wf.Locks, f.wf.LockScope = true, agents.LockStep
		f.chat = &player{w: w, latency: 30 * time.Second}
		f.start(t, ctx, 3)
		_ = w.Sleep(ctx, 20*time.Second)
		inCall := 0
		for _, a := range f.agents {
			s := a.State()
			switch waits := slices.Equal(s.WaitsFor, []string{"workspace.lock"}); {
			case s.Stage == pacer.StageThink && !waits: // this Chatter tells nobody of its stages
				inCall++
			case s.Stage != pacer.StageThink:
				t.Errorf("seed %d: state %+v, want one that has not begun its call", seed, s)
			}
		}
		if inCall != 1 {
			t.Errorf("seed %d: %d agents are past the lock, want 1", seed, inCall)
		}
		if err := f.wait(ctx); err != nil {
			t.Fatal(err)
		}
		if took, least := time.Duration(w.Now()), 3*4*30*time.Second; took < least {
			t.Errorf("seed %d: 3 tasks of 4 calls took %v, want %v at least, one after the other", seed, took, least)
		}
		if o := w.Objects(); o[0].InUse != 0 || len(o[0].Waiters) != 0 {
			t.Errorf("left behind: %+v", o[0])
		}
	})
}

// mailboxes is a fleet whose sub-agents leave their results in mailboxes.
func mailboxes(w sim.World, faults ...fault.Fault) fleet {
	f := fleet{w: w, wf: delegating(2, 2), faults: faults, chat: &player{w: w, latency: 10 * time.Second}}
	f.wf.SubAgents.Results = agents.ResultsMailbox
	return f
}

// Without faults, mailboxes do what joins do.
func TestMailboxes(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := mailboxes(w)
		f.start(t, ctx, 3)
		if err := f.wait(ctx); err != nil {
			t.Fatal(err)
		}
		for _, o := range w.Objects() {
			if o.InUse != 0 {
				t.Errorf("seed %d: left behind: %+v", seed, o)
			}
		}
	})
}

// A ring that is lost leaves its result in the mailbox and the owner asleep, until another one rings.
func TestLostWakeup(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := mailboxes(w,
			fault.Fault{ID: "both", Where: fault.Harness, What: fault.LoseWakeup, Agent: "agent-01.s*"},
			fault.Fault{ID: "one", Where: fault.Harness, What: fault.LoseWakeup, Agent: "agent-02.s*", Nth: 2, From: time.Hour})
		ctx, stop := w.WithCancel(ctx)
		f.start(t, ctx, 2)
		_ = w.Sleep(ctx, time.Hour)
		want := []string{"results for agent-01", "agent-01.s1", "agent-01.s2"}
		if s := f.agents[0].State(); s.Tool != agents.ToolSubAgent || !slices.Equal(s.WaitsFor, want) {
			t.Errorf("seed %d: state %+v, want one that waits for %v", seed, s, want)
		}
		if s := f.agents[1].State(); s.Stage != pacer.StageDone {
			t.Errorf("seed %d: state %+v, want one that is done", seed, s)
		}
		for _, o := range w.Objects() {
			if want := map[string]int{"results for agent-01": 2}[o.Name]; o.InUse != want {
				t.Errorf("seed %d: %+v, want %d results in it", seed, o, want)
			}
		}
		cause := errors.New("stop")
		stop(cause)
		if err := f.wait(context.Background()); err == nil || err.Error() != "stop" {
			t.Errorf("seed %d: error %v, want the cause", seed, err)
		}
	})
}

// The error of a sub-agent reaches its parent through the mailbox, unless it is swallowed.
func TestSwallowedError(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := mailboxes(w, fault.Fault{ID: "lost", Where: fault.Harness, What: fault.SwallowError, Agent: "agent-01.s2"})
		refused := errors.New("refused")
		f.chat.(*player).answer = func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
			if strings.HasSuffix(id.Agent, ".s2") {
				return openai.ChatCompletionMessage{}, refused
			}
			return play(id, req)
		}
		ctx, stop := w.WithCancel(ctx)
		f.start(t, ctx, 2)
		_ = w.Sleep(ctx, time.Hour)
		want := []string{"results for agent-01", "agent-01.s2"}
		if s := f.agents[0].State(); !slices.Equal(s.WaitsFor, want) {
			t.Errorf("seed %d: state %+v, want one that waits for %v", seed, s, want)
		}
		if !errors.Is(f.errs[1], refused) {
			t.Errorf("seed %d: the other parent ended with %v, want %v", seed, f.errs[1], refused)
		}
		stop(errors.New("stop"))
		_ = f.wait(context.Background())
	})
}

func TestToolFaults(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := fleet{w: w, wf: short(3), faults: []fault.Fault{
			{ID: "slow", Where: fault.Tool, What: fault.Latency, Tool: agents.ToolWrite, Round: 2, Delay: time.Minute},
			{ID: "late", Where: fault.Tool, What: fault.Latency, From: 4 * time.Second, To: 6 * time.Second, Delay: time.Hour},
		}}
		f.start(t, ctx, 1)
		if err := f.wait(ctx); err != nil {
			t.Fatal(err)
		}
		want := []string{
			" r1 s1 read_message took 100ms, in range true ",
			" r1 s2 write took 1h0m0.1s, in range true ",
			" r1 s3 append took 100ms, in range true ",
			" r1 s4 save took 100ms, in range true ",
			" r2 s1 read_message took 100ms, in range true ",
			" r2 s2 write took 1m0.1s, in range true ",
		}
		if got := took(f.j)[:6]; !slices.Equal(got, want) {
			t.Errorf("tools %q, want %q", got, want)
		}
	})
}

func TestToolThatNeverReturns(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		f := fleet{w: w, wf: short(3), faults: []fault.Fault{{ID: "hang", Where: fault.Tool, What: fault.Hang, Tool: agents.ToolAppend, Round: 2}}}
		ctx, stop := sim.WithTimeout(ctx, w, 2*time.Hour, errors.New("stop"))
		defer stop()
		f.start(t, ctx, 3)
		_ = w.Sleep(ctx, time.Hour)
		const name = "tool append of agent-03"
		if s := f.agents[2].State(); s.Stage != pacer.StageTool || s.Tool != agents.ToolAppend || s.Round != 2 || s.Step != 3 || !slices.Equal(s.WaitsFor, []string{name}) {
			t.Errorf("state %+v", s)
		}
		if !slices.ContainsFunc(w.Processes(), func(p sim.ProcessState) bool { return p.Name == "agent-03" && strings.Contains(p.WaitsFor, name) }) {
			t.Errorf("no process waits for %q: %+v", name, w.Processes())
		}
		if !slices.ContainsFunc(w.Objects(), func(o sim.ObjectState) bool { return o.Name == name && len(o.Waiters) == 1 }) {
			t.Errorf("no object %q has a waiter: %+v", name, w.Objects())
		}
		_ = f.wait(context.Background())
		for i, err := range f.errs {
			if err == nil || err.Error() != "stop" {
				t.Errorf("agent %d: error %v, want the cause", i+1, err)
			}
		}
	})
}

// The same faults fire whatever the calls' latency is.
func TestFaultsAreThoseOfTheTask(t *testing.T) {
	story := func(latency time.Duration) []string {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		var lines []string
		err := w.Run(context.Background(), func(ctx context.Context) {
			f := fleet{w: w, wf: short(5), chat: &player{w: w, latency: latency}, faults: []fault.Fault{
				{ID: "sometimes", Where: fault.Tool, What: fault.Latency, Probability: 0.3, Delay: time.Minute}}}
			f.start(t, ctx, 4)
			if err := f.wait(ctx); err != nil {
				t.Error(err)
			}
			for _, l := range f.j.lines {
				if i := strings.Index(l, "agent"); strings.Contains(l, "took") {
					lines = append(lines, l[i:])
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(lines)
		return lines
	}
	one, other := story(time.Second), story(17*time.Second)
	if !slices.Equal(one, other) {
		t.Errorf("seed %d: %q\n\n%q", seed, one, other)
	}
	if n := strings.Count(strings.Join(one, "\n"), "1m0.1s"); n < 10 || n > 40 {
		t.Errorf("seed %d: the fault fired %d times in 80 tool calls, want about 24", seed, n)
	}
}
