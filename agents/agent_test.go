package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

func TestTaskFromFirstToLastCall(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		wf := short(2)
		ws, j, p := agents.NewMemory(agents.NewShared(w, &wf)), newJournal(w), &player{w: w, latency: 10 * time.Second}
		a := agents.New(w, "agent-07", &wf, ws, p, j, nil)
		if err := a.Run(ctx, agents.Task{ID: "task-07"}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		golden(t, "task", transcript(j, p.reqs[len(p.reqs)-1]))
		for i, id := range p.ids {
			want := pacer.Identity{Agent: "agent-07", Task: "task-07", Round: i/4 + 1, Step: i%4 + 1, Call: i + 1}
			if id != want {
				t.Errorf("call %d: identity %+v, want %+v", i, id, want)
			}
		}
		if text, _ := ws.Article("task-07/article.md"); text != "write 6\nappend 7\n" {
			t.Errorf("article: %q", text)
		}
		if s := a.State(); s.Stage != pacer.StageDone || s.Tool != "" || s.WaitsFor != nil {
			t.Errorf("state at the end: %+v", s)
		}
	})
}

// The same work on real files.
func TestTaskInDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, wf, dir := sim.NewWall(sim.WallOptions{Seed: seed}), delegating(2, 1), t.TempDir()
		ws, err := agents.NewDirectory(agents.NewShared(w, &wf), dir)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Run(t.Context(), func(ctx context.Context) {
			if err := agents.New(w, "a", &wf, ws, &player{w: w}, nil, nil).Run(ctx, agents.Task{ID: "line:3"}); err != nil {
				t.Error(err)
			}
		})
		if err := errors.Join(err, ws.Close()); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "=line=3a3", "article.md")); string(text) != "write 6\nappend 7\n" {
			t.Errorf("article %q, %v", text, err)
		}
	})
}

func TestTraceTask(t *testing.T) {
	calls := []workload.Call{
		{PrefixTokens: 500, InputTokens: 1000, OutputTokens: 40, WaitAfter: 2 * time.Second},
		{PrefixTokens: 1500, InputTokens: 300, OutputTokens: 0, WaitAfter: 0},
		{PrefixTokens: 100, InputTokens: 20, OutputTokens: 900, WaitAfter: time.Hour}, // shorter than the conversation is
		{PrefixTokens: 0, InputTokens: 300_000, OutputTokens: 1, WaitAfter: time.Hour},
	}
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		wf := short(5)
		wf.Tools = []string{agents.ToolSave} // a trace's task brings its own
		p, j := &player{w: w, latency: time.Second}, newJournal(w)
		a := agents.New(w, "agent-1", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, j, nil)
		if err := a.Run(ctx, agents.Task{ID: "session/9", Calls: calls}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		golden(t, "trace", transcript(j, p.reqs[len(p.reqs)-1]))
		for i, want := range []int{1500, 1800, 0, 300_000} {
			if got := promptTokens(p.reqs[i]); want > 0 && (got < want-1 || got > want+1) {
				t.Errorf("prompt of call %d has %d tokens, want %d", i+1, got, want)
			}
		}
	})
}

// promptTokens estimates the length of a conversation as everybody does.
func promptTokens(req openai.ChatCompletionRequest) int {
	n := 0
	for _, m := range req.Messages {
		n += len(m.Content)
		for _, c := range m.ToolCalls {
			n += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	return n / pacer.BytesPerToken
}

func TestDefaultContextLength(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	err := w.Run(context.Background(), func(ctx context.Context) {
		wf := agents.DefaultWorkflow()
		p := &player{w: w}
		p.answer = func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
			tokens, reasoning := agents.OutputOf(w, &wf, &agents.Task{ID: id.Task}, id.Call-1)
			m, err := play(id, req)
			m.Content = strings.Repeat("word", tokens-reasoning) // wherever it stands, it stays
			return m, err
		}
		a := agents.New(w, "a", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, nil, nil)
		if err := a.Run(ctx, agents.Task{ID: "task"}); err != nil {
			t.Fatal(err)
		}
		if n := promptTokens(p.reqs[19]); n < 20_000 || n > 40_000 {
			t.Errorf("seed %d: the 20th prompt has %d tokens, want 20,000 to 40,000", seed, n)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An answer without a tool call ends the round; one with several has them all run.
func TestOtherAnswers(t *testing.T) {
	empty := openai.ChatCompletionMessage{}
	for _, c := range []struct {
		name   string
		answer openai.ChatCompletionMessage
		calls  int      // made in two rounds of at most four steps
		last   []string // roles of the last prompt, system message left out
	}{
		{"text", openai.ChatCompletionMessage{Content: "Done."}, 2, []string{"user", "assistant", "user"}},
		{"nothing", empty, 2, []string{"user", "user"}},
		{"two tools", calling("", call("write", `{"text":"x"}`), call("save", "")), 8, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
				wf := short(2)
				p, j := &player{w: w}, newJournal(w)
				p.answer = func(pacer.Identity, openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
					m := c.answer
					m.ToolCalls = slices.Clone(m.ToolCalls)
					return m, nil
				}
				ws := agents.NewMemory(agents.NewShared(w, &wf))
				if err := agents.New(w, "a", &wf, ws, p, j, nil).Run(ctx, agents.Task{ID: "t"}); err != nil {
					t.Fatal(err)
				}
				if len(p.ids) != c.calls {
					t.Errorf("%d calls, want %d", len(p.ids), c.calls)
				}
				var roles []string
				for _, m := range p.reqs[len(p.reqs)-1].Messages[1:] {
					roles = append(roles, m.Role)
				}
				if c.last != nil && !slices.Equal(roles, c.last) {
					t.Errorf("roles %v, want %v", roles, c.last)
				}
				if text, saved := ws.Article("t/article.md"); c.last == nil && (!saved || text != "x") {
					t.Errorf("article %q, saved %v", text, saved)
				}
			})
		})
	}
}

func TestErrorsEndTheTask(t *testing.T) {
	boom := errors.New("boom")
	t.Run("call", func(t *testing.T) {
		inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
			wf := short(2)
			p, j := &player{w: w}, newJournal(w)
			p.answer = func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
				if id.Call == 6 {
					return openai.ChatCompletionMessage{}, boom
				}
				return play(id, req)
			}
			err := agents.New(w, "a-1", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, j, nil).Run(ctx, agents.Task{ID: "t"})
			if !errors.Is(err, boom) || err.Error() != "agents: a-1: round 2, step 2: boom" {
				t.Errorf("error %v", err)
			}
			if last := j.lines[len(j.lines)-1]; !strings.Contains(last, "done: agents: a-1: round 2, step 2: boom") {
				t.Errorf("the observer was told %q", last)
			}
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
			for _, after := range []time.Duration{0, time.Second / 2, 5 * time.Second, 11*time.Second + 50*time.Millisecond} {
				wf := short(1)
				ctx, stop := sim.WithTimeout(ctx, w, after, boom)
				a := agents.New(w, "a", &wf, agents.NewMemory(agents.NewShared(w, &wf)), &player{w: w, latency: 10 * time.Second}, nil, nil)
				if err := a.Run(ctx, agents.Task{ID: "t"}); err != boom { //nolint:errorlint // as it is
					t.Errorf("cancelled after %v: error %v, want the cause as it is", after, err)
				}
				stop()
			}
		})
	})
}

// What is drawn for a task depends on the seed and the task alone: neither on how long calls take nor
// on who else is there.
func TestDrawsDoNotDependOnTheRun(t *testing.T) {
	draws := func(seed uint64, latency time.Duration, fleet int) string {
		var log []string
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed, Shuffle: true})
		err := w.Run(context.Background(), func(ctx context.Context) {
			wf := agents.DefaultWorkflow()
			ws := agents.NewMemory(agents.NewShared(w, &wf))
			var all []*sim.Process
			for i := range fleet {
				all = append(all, w.Spawn(ctx, "worker", func(ctx context.Context) {
					p, j := &player{w: w, latency: latency * time.Duration(i+1)}, newJournal(w)
					if err := agents.New(w, fmt.Sprint("a", i), &wf, ws, p, j, nil).Run(ctx, agents.Task{ID: fmt.Sprint("t", i)}); err != nil {
						t.Error(err)
					}
					if i == 0 {
						log = append(log, took(j)...)
						log = append(log, fmt.Sprint(promptTokens(p.reqs[19])))
					}
				}))
			}
			for _, p := range all {
				_ = p.Wait(ctx)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(log, "\n")
	}
	for seed := range uint64(5) {
		base := draws(seed, time.Second, 1)
		if other := draws(seed, time.Minute, 5); other != base {
			t.Errorf("seed %d: draws differ:\n%s\n\n%s", seed, base, other)
		}
		if draws(seed+100, time.Second, 1) == base {
			t.Errorf("seeds %d and %d draw the same", seed, seed+100)
		}
	}
}

// took returns the lines that tell how long tools took, without their instants.
func took(j *journal) []string {
	var lines []string
	for _, l := range j.lines {
		if i := strings.Index(l, " r"); strings.Contains(l, "took") {
			lines = append(lines, l[i:])
		}
	}
	return lines
}

func TestOutputs(t *testing.T) {
	w, wf := sim.NewVirtual(sim.VirtualOptions{Seed: seed}), agents.DefaultWorkflow()
	traced := agents.Task{ID: "s", Calls: []workload.Call{{OutputTokens: 400}, {OutputTokens: 0}}}
	outputs := agents.Outputs(w, &wf, []agents.Task{{ID: "t"}, traced})
	for call, want := range [][2]int{{400, 300}, {1, 0}} {
		if tokens, reasoning := outputs("s", call, 0); tokens != want[0] || reasoning != want[1] {
			t.Errorf("call %d of the trace: %d tokens, %d of them reasoning, want %v", call, tokens, reasoning, want)
		}
	}
	seen := map[int]bool{}
	for call := range 50 {
		tokens, reasoning := outputs("t", call, call*1000)
		if again, _ := agents.OutputOf(w, &wf, &agents.Task{ID: "t"}, call); again != tokens {
			t.Errorf("call %d: %d and %d tokens", call, tokens, again)
		}
		if tokens < 3000 || tokens > 4500 || reasoning != tokens*3/4 {
			t.Errorf("call %d: %d tokens, %d of them reasoning", call, tokens, reasoning)
		}
		seen[tokens] = true
	}
	if len(seen) < 40 {
		t.Errorf("50 calls have %d sizes", len(seen))
	}
	wf.ReasoningShare = 1
	if tokens, reasoning := outputs("t", 0, 0); reasoning != tokens-1 {
		t.Errorf("share 1: %d of %d tokens are reasoning, want all but one", reasoning, tokens)
	}
}

func TestTraceTasksComeInOrderOfArrival(t *testing.T) {
	tasks := agents.TraceTasks(workload.Trace{Sessions: []workload.Session{
		{ID: "b", Arrival: 2, Calls: []workload.Call{{InputTokens: 1}}}, {ID: "c", Arrival: 2}, {ID: "a", Arrival: 1},
	}})
	if got := fmt.Sprintln(tasks[0].ID, tasks[1].ID, tasks[2].ID, len(tasks[1].Calls)); got != "a b c 1\n" {
		t.Errorf("tasks %s, want a b c 1", got)
	}
}
