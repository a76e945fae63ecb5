package agents_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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

var update = flag.Bool("update", false, "rewrite the golden files")

const seed = 7

// inBothWorlds runs a test's body as the first process of a virtual world, and of a wall world within
// a synctest bubble.
func inBothWorlds(t *testing.T, body func(t *testing.T, ctx context.Context, w sim.World)) {
	t.Helper()
	t.Run("virtual", func(t *testing.T) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		if err := w.Run(context.Background(), func(ctx context.Context) { body(t, ctx, w) }); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWall(sim.WallOptions{Seed: seed})
			if err := w.Run(context.Background(), func(ctx context.Context) { body(t, ctx, w) }); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	})
}

// player is a Chatter that plays the model's part of the conversation, with the protocol of the
// package comment and nothing else.
type player struct {
	w       sim.World
	latency time.Duration // of every call
	// answer, if not nil, replaces the answer to a call.
	answer func(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error)
	slots  *sim.Semaphore // not nil: Hold takes one

	// Guarded by the monitor:
	ids  []pacer.Identity
	reqs []openai.ChatCompletionRequest
}

func (p *player) Chat(ctx context.Context, id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error) {
	p.w.Lock()
	p.ids, p.reqs = append(p.ids, id), append(p.reqs, req)
	p.w.Unlock()
	if err := p.w.Sleep(ctx, p.latency); err != nil {
		return openai.ChatCompletionResponse{}, err
	}
	play := play
	if p.answer != nil {
		play = p.answer
	}
	m, err := play(id, req)
	return openai.ChatCompletionResponse{Choices: []openai.ChatCompletionChoice{{Message: m}}}, err
}

func (p *player) Hold(ctx context.Context, id pacer.Identity) (context.Context, func(), error) {
	if p.slots == nil {
		return ctx, func() {}, nil
	}
	lease, err := p.slots.Acquire(ctx, sim.Party{Name: id.Agent})
	return ctx, func() { _ = lease.Release() }, err
}

// play answers as the simulated model does.
func play(id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
	steps, done := []string{}, 0
	for _, m := range req.Messages {
		switch m.Role {
		case openai.ChatMessageRoleUser:
			_, list, _ := strings.Cut(m.Content, "Steps: ")
			list, _, _ = strings.Cut(list, ".")
			steps, done = strings.Split(list, ", "), 0
		case openai.ChatMessageRoleTool:
			done++
		}
	}
	arguments := "{}"
	switch tool := steps[done%len(steps)]; tool {
	case agents.ToolReadMessage:
		arguments = fmt.Sprintf(`{"message":%d}`, id.Round)
	case agents.ToolWrite, agents.ToolAppend:
		arguments = fmt.Sprintf(`{"text":"%s %d\n"}`, tool, id.Call)
	}
	return calling("Thus.", call(steps[done%len(steps)], arguments)), nil
}

func calling(content string, calls ...openai.ToolCall) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Content: content, ReasoningContent: "Hm.", ToolCalls: calls}
}

func call(tool, arguments string) openai.ToolCall {
	return openai.ToolCall{Index: new(int), ID: "id-" + tool, Function: openai.FunctionCall{Name: tool, Arguments: arguments}}
}

// journal is an observer that keeps a line for each event.
type journal struct {
	w      sim.World
	lines  []string
	states map[string]*agents.State // for tests that ask while the agent runs
}

func newJournal(w sim.World) *journal { return &journal{w: w, states: map[string]*agents.State{}} }

func (j *journal) note(a *agents.State, format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf("%10v %s r%d s%d %s", j.w.Now(), a.Name, a.Round, a.Step, fmt.Sprintf(format, args...)))
}

func (j *journal) AgentStarted(a *agents.State) {
	j.states[a.Name] = a
	j.note(a, "starts %s, child of %q", a.Task, a.Parent)
}
func (j *journal) StageChanged(a *agents.State) { j.note(a, "%v %s", a.Stage, a.Tool) }
func (j *journal) ToolCalled(a *agents.State, c agents.ToolCall) {
	j.note(a, "%s took %v, in range %v %s", c.Tool, c.Took, c.InRange, c.Error)
}
func (j *journal) StepDone(a *agents.State)              { j.note(a, "step done") }
func (j *journal) AgentEnded(a *agents.State, err error) { j.note(a, "%v: %v", a.Stage, err) }

// short returns a workflow with round numbers: what is left of the default one is its shape.
func short(rounds int) agents.Workflow {
	wf := agents.DefaultWorkflow()
	wf.Rounds, wf.SystemTokens = rounds, 0
	wf.MessageTokens = workload.Must(workload.Constant(50))
	wf.Think = workload.Must(workload.Constant(time.Second))
	tool := workload.Must(workload.Constant(100 * time.Millisecond))
	wf.ToolTime = agents.ToolTimes{ReadMessage: tool, Write: tool, Append: tool, Save: tool}
	return wf
}

// transcript is the story of a run: what happened, and the last conversation.
func transcript(j *journal, req openai.ChatCompletionRequest) []byte {
	var b bytes.Buffer
	for _, l := range j.lines {
		fmt.Fprintln(&b, l)
	}
	fmt.Fprintf(&b, "\nlast request of %s to %s, %d tools:\n", req.User, req.Model, len(req.Tools))
	for _, m := range req.Messages {
		text := strings.ReplaceAll(m.Content, "\n", "|")
		if len(text) > 60 {
			text = fmt.Sprintf("%s… (%d bytes)", text[:60], len(m.Content))
		}
		fmt.Fprintf(&b, "%-9s %s", m.Role, text)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, " [%s %s %s]", c.ID, c.Function.Name, c.Function.Arguments)
		}
		if m.ToolCallID != "" {
			fmt.Fprintf(&b, " [to %s]", m.ToolCallID)
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("seed %d: %s differs (go test -update rewrites it); got:\n%s", seed, path, got)
	}
}
