package agents

import (
	"context"
	"errors"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/pacer"
)

var errNoChoice = errors.New("the answer has no choice")

// playRounds works on a task that has no trace.
func (a *Agent) playRounds(ctx context.Context) error {
	rounds := a.planRounds()
	a.job.expected = 1 + rounds*(1+2*a.steps())
	a.say(openai.ChatMessageRoleSystem, a.shared.system)
	for round := 1; round <= rounds; round++ {
		if err := a.pause(ctx, round); err != nil {
			return err
		}
		err := a.within(ctx, LimitRound, a.limits.Round, func(ctx context.Context) error { return a.playRound(ctx, round) })
		if err != nil {
			return err
		}
	}
	return nil
}

// planRounds returns how many rounds the task has, and draws how many steps if the workflow wants that.
func (a *Agent) planRounds() int {
	if a.sub || a.wf.TaskCalls.Mean() == 0 {
		return a.rounds()
	}
	draw := a.w.Stream(a.job.task.ID, purposeCalls)
	n := min(max(a.wf.TaskCalls.Sample(&draw), 1), TaskCallsLimit)
	a.job.stepsLeft = n
	return (n + a.wf.Steps - 1) / a.wf.Steps
}

// pause waits before a round for whoever asks for it.
func (a *Agent) pause(ctx context.Context, round int) error {
	if round == 1 || a.sub {
		return nil
	}
	draw := a.w.Stream(a.job.task.ID, purposePause).At(round)
	d := a.wf.Pause.Sample(&draw)
	if d == 0 {
		return nil
	}
	a.enter(pacer.StageThink, "")
	return a.w.Sleep(ctx, d)
}

// playRound plays one round: at most so many steps, until an answer asks for no tool.
func (a *Agent) playRound(ctx context.Context, round int) error {
	a.say(openai.ChatMessageRoleUser, a.prompt(round))
	for step := 1; step <= a.steps(); step++ {
		if err := a.step(ctx, round, step); err != nil {
			return err
		}
		if a.job.stepsLeft--; a.job.stepsLeft == 0 {
			return nil
		}
		if len(a.job.asked) == 0 {
			return nil
		}
		if step == 1 && !a.sub && a.wf.SubAgents.PerRound > 0 {
			if err := a.delegate(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Agent) step(ctx context.Context, round, step int) error {
	a.at(round, step)
	if err := a.think(ctx); err != nil {
		return err
	}
	held, err := a.lockStep(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }() // fails only if released twice
	for try := 1; ; try++ {
		made, err := a.try(ctx)
		if err != nil {
			return err
		}
		if made > 0 || len(a.job.asked) == 0 || try >= a.wf.StepTries {
			break
		}
		a.again(step, try+1)
	}
	a.stepDone()
	return nil
}

// try makes a call and runs the tools that its answer asks for. It returns how many of these calls could be
// made.
func (a *Agent) try(ctx context.Context) (made int, err error) {
	if err := a.ask(ctx); err != nil {
		return 0, err
	}
	for i := range a.job.asked {
		ok, err := a.useTool(ctx, i)
		if err != nil {
			return made, err
		}
		if ok {
			made++
		}
	}
	return made, nil
}

// again asks for the same step once more: the model begins anew with it, as with the first of a round.
func (a *Agent) again(step, try int) {
	a.say(openai.ChatMessageRoleUser, "None of these calls could be made. Once more.\n"+a.shared.stepsFrom(step, a.steps()))
	a.w.Lock()
	a.state.Tries = try
	a.w.Unlock()
}

// prompt returns the user message that begins a round. The first one names the task, so that servers
// with a prefix cache do not take the conversations of different tasks for one; the others are shared.
func (a *Agent) prompt(round int) string {
	if a.sub {
		return "Task " + a.job.task.ID + ".\n" + a.shared.subSteps
	}
	if round == 1 {
		return "Task " + a.job.task.ID + ". " + a.shared.prompt(1)
	}
	return a.shared.prompt(round)
}

func (a *Agent) think(ctx context.Context) error {
	a.enter(pacer.StageThink, "")
	a.job.draw = a.job.think.At(a.job.calls)
	return a.w.Sleep(ctx, a.wf.Think.Sample(&a.job.draw))
}

// ask makes the call of a step and takes the answer into the conversation.
func (a *Agent) ask(ctx context.Context) error {
	id := a.identity()
	a.calls++
	resp, err := a.chat.Chat(ctx, id, openai.ChatCompletionRequest{
		Model: a.wf.Model, Stream: true,
		//lint:ignore SA1019 the newer name is not known to every OpenAI-compatible server, this one is
		MaxTokens: a.wf.MaxTokens,
		Messages:  a.job.messages, Tools: a.job.tools, User: a.job.task.ID,
	})
	if err != nil {
		return err
	}
	if len(resp.Choices) == 0 {
		return errNoChoice
	}
	a.job.calls++
	a.takeAnswer(&resp.Choices[0].Message)
	return nil
}

// takeAnswer readies an answer for going back to the model with the next call.
func (a *Agent) takeAnswer(m *openai.ChatCompletionMessage) {
	m.Role, m.ReasoningContent = openai.ChatMessageRoleAssistant, ""
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		c.Index, c.Type = nil, openai.ToolTypeFunction // an index belongs to chunks only
		if c.ID == "" {
			c.ID = "call_" + strconv.Itoa(a.job.calls) + "_" + strconv.Itoa(i) // some servers leave it out
		}
		a.job.bytes += len(c.Function.Name) + len(c.Function.Arguments)
	}
	a.job.asked = m.ToolCalls
	if m.Content == "" && len(m.ToolCalls) == 0 {
		return // servers refuse a conversation with an empty message in it
	}
	a.job.bytes += len(m.Content)
	*a.extend() = *m
}

// say appends a message that is plain text.
func (a *Agent) say(role, text string) {
	a.job.bytes += len(text)
	m := a.extend()
	m.Role, m.Content = role, text
}

// extend appends an empty message. The room for messages is most of what a parked agent costs, so it
// grows by less than append would have it, and to what the task is expected to need at first.
func (a *Agent) extend() *openai.ChatCompletionMessage {
	messages := a.job.messages
	n := len(messages)
	if n == cap(messages) {
		room := n + max(12, min(n, 24), n/8)
		if n < a.job.expected {
			room = min(room, a.job.expected)
		}
		messages = append(make([]openai.ChatCompletionMessage, 0, room), messages...)
	}
	messages = messages[:n+1]
	a.job.messages = messages
	return &messages[n]
}

// contextTokens is the length of the conversation.
func (a *Agent) contextTokens() int { return a.job.bytes / pacer.BytesPerToken }

func (a *Agent) at(round, step int) {
	a.w.Lock()
	a.state.Round, a.state.Step, a.state.Tries = round, step, 1
	a.w.Unlock()
}

// enter begins a stage of the agent's own.
func (a *Agent) enter(stage pacer.Stage, tool string) {
	a.w.Lock()
	s := &a.state
	s.Stage, s.Since, s.Tool, s.Call, s.Attempt = stage, a.w.Now(), tool, "", ""
	a.obs.StageChanged(s)
	a.w.Unlock()
	if a.proc != nil {
		a.proc.Relabel()
	}
}

// waitFor notes what a tool waits for; nil ends it.
func (a *Agent) waitFor(names []string) {
	a.w.Lock()
	a.state.WaitsFor = names
	a.w.Unlock()
}

func (a *Agent) stepDone() {
	a.w.Lock()
	a.obs.StepDone(&a.state)
	a.w.Unlock()
}
