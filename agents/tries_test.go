package agents_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// A step whose tool call cannot be made is asked for again, so often at most; a round without such
// mistakes asks for nothing twice. The model plays the step that failed, and then the ones after it.
func TestStepTries(t *testing.T) {
	for _, c := range []struct {
		tries, broken int    // calls that a step may make, and write calls whose arguments are cut off
		want          string // tools and their ends
		calls         int    // of the task
	}{
		{1, 2, "read_message, write!, append, save", 4},
		{3, 2, "read_message, write!, write!, write, append, save", 6},
		{3, 9, "read_message, write!, write!, write!, append, save", 6},
	} {
		inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
			p, left := &player{w: w, latency: time.Second}, c.broken
			p.answer = func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
				m, err := play(id, req)
				if f := &m.ToolCalls[0].Function; f.Name == agents.ToolWrite && left > 0 {
					left--
					f.Arguments = f.Arguments[:len(f.Arguments)-3]
				}
				return m, err
			}
			f := fleet{w: w, wf: short(1), chat: p}
			f.wf.StepTries = c.tries
			f.start(t, ctx, 1)
			if err := f.wait(ctx); err != nil {
				t.Fatal(err)
			}
			var got []string
			steps := 0
			for _, l := range f.j.lines {
				tool, after, ran := strings.Cut(l, " took ")
				if strings.HasSuffix(l, "step done") {
					steps++
				}
				if !ran {
					continue
				}
				tool = tool[strings.LastIndex(tool, " ")+1:]
				if !strings.HasSuffix(after, "in range true ") {
					tool += "!"
				}
				got = append(got, tool)
			}
			if s := strings.Join(got, ", "); s != c.want || len(p.reqs) != c.calls || steps != 4 {
				t.Errorf("seed %d: with %d tries: %s in %d calls and %d steps, want %s in %d calls and 4 steps", seed, c.tries, s, len(p.reqs), steps, c.want, c.calls)
			}
		})
	}
}

// While a step is tried again, the state says how often and why.
func TestTriesInTheState(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		p := &player{w: w, latency: 10 * time.Second}
		p.answer = func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
			return calling("", call(agents.ToolWrite, `{"text":"cut o`)), nil
		}
		f := fleet{w: w, wf: short(1), chat: p}
		f.wf.StepTries = 100
		ctx, cancel := w.WithCancel(ctx)
		f.start(t, ctx, 1)
		_ = w.Sleep(ctx, 35*time.Second)
		if s := f.agents[0].State(); s.Step != 1 || s.Tries != 4 || !strings.Contains(s.Mistake, "not valid JSON") {
			t.Errorf("seed %d: state %+v, want the fourth call of the first step", seed, s)
		}
		cancel(context.Canceled)
		_ = f.wait(context.Background())
	})
}
