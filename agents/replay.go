package agents

import (
	"context"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/pacer"
)

// replay works on a task from a trace: each call of the session is a step of one round. New input
// comes as a user message, which may have any length without taking memory of its own. Each one lists
// a single step, so that the simulated model answers every call with the same tool. Whatever tool the
// model calls, it takes the trace's wait and does nothing.
func (a *Agent) replay(ctx context.Context) error {
	a.job.tools = a.shared.replayTools
	a.job.expected = 1 + 3*len(a.job.task.Calls)
	a.say(openai.ChatMessageRoleSystem, instructions)
	for i := range a.job.task.Calls {
		if err := a.replayStep(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) replayStep(ctx context.Context, i int) error {
	c := &a.job.task.Calls[i]
	a.at(1, i+1)
	a.enter(pacer.StageThink, "")
	promptTokens := min(c.PrefixTokens+c.InputTokens-a.contextTokens(), MessageTokensLimit)
	a.say(openai.ChatMessageRoleUser, replayMessage(promptTokens*pacer.BytesPerToken))
	if err := a.ask(ctx); err != nil {
		return err
	}
	for k := range a.job.asked {
		if _, err := a.useTool(ctx, k); err != nil {
			return err
		}
	}
	if len(a.job.asked) == 0 { // the wait is the trace's, not the model's
		a.enter(pacer.StageTool, "")
		if err := a.w.Sleep(ctx, a.waitOf(0)); err != nil {
			return err
		}
	}
	a.stepDone()
	return nil
}

// replays says whether the task comes from a trace.
func (a *Agent) replays() bool { return len(a.job.task.Calls) > 0 }

// waitOf returns how long the k-th tool call after the latest call takes. The first one takes it all,
// and nobody waits after the last call.
func (a *Agent) waitOf(k int) time.Duration {
	calls := a.job.task.Calls
	if k > 0 || a.state.Step == len(calls) {
		return 0
	}
	return calls[a.state.Step-1].WaitAfter
}
