package agents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a workflow. They are far above anything that runs today.
const (
	RoundsLimit        = 10_000
	StepsLimit         = 1_000
	StepTriesLimit     = 1_000_000
	ToolsLimit         = 64
	MessagesLimit      = 1_000_000
	MessageTokensLimit = 1 << 20 // of one message: 4 MiB of text
	SubAgentsLimit     = 1_000
	MaxTokensLimit     = 100_000_000
	TaskCallsLimit     = 100_000
	ToolOutputLimit    = 1 << 30 // bytes of one tool call
)

var toolNames = [...]string{ToolReadMessage, ToolWrite, ToolAppend, ToolSave}

// Validate says what is wrong with the workflow, in one line that names the field, what was found and
// what is allowed, or returns nil. It does not look at the file that Trace names.
func (wf *Workflow) Validate() error {
	for _, c := range []struct {
		field    string
		found    int
		min, max int
	}{
		{"rounds", wf.Rounds, 1, RoundsLimit},
		{"steps", wf.Steps, 1, StepsLimit},
		{"step_tries", wf.StepTries, 1, StepTriesLimit},
		{"system_tokens", wf.SystemTokens, 0, MessageTokensLimit},
		{"messages", wf.Messages, 0, MessagesLimit},
		{"tool_output_bytes", wf.ToolOutputBytes, 0, ToolOutputLimit},
		{"max_tokens", wf.MaxTokens, 0, MaxTokensLimit},
		{"sub_agents.per_round", wf.SubAgents.PerRound, 0, SubAgentsLimit},
		{"sub_agents.steps", wf.SubAgents.Steps, min(wf.SubAgents.PerRound, 1), StepsLimit},
	} {
		if c.found < c.min || c.found > c.max {
			return fmt.Errorf("%s: found %d, want %d to %d", c.field, c.found, c.min, c.max)
		}
	}
	if wf.Profile != "" {
		if _, err := Profile(wf.Profile); err != nil {
			return err
		}
	}
	if err := wf.validateTools(); err != nil {
		return err
	}
	switch {
	case wf.Ending != EndingToolCall:
		return fmt.Errorf("ending: found %q, want %q", wf.Ending, EndingToolCall)
	case !(wf.ReasoningShare >= 0 && wf.ReasoningShare <= 1):
		return fmt.Errorf("reasoning_share: found %v, want a number from 0 to 1", wf.ReasoningShare)
	case wf.Model == "":
		return fmt.Errorf("model: found nothing, want the name of a model")
	case wf.SubAgents.Results != "" && wf.SubAgents.Results != ResultsJoin && wf.SubAgents.Results != ResultsMailbox:
		return fmt.Errorf("sub_agents.results: found %q, want %s or %s", wf.SubAgents.Results, ResultsJoin, ResultsMailbox)
	case wf.LockScope != LockTool && wf.LockScope != LockStep:
		return fmt.Errorf("lock_scope: found %q, want %s or %s", wf.LockScope, LockTool, LockStep)
	case wf.LockScope == LockStep && !wf.Locks:
		return fmt.Errorf("lock_scope: found %s while locks is false, want locks true: without locks nothing is held", LockStep)
	}
	return wf.validateSizes()
}

func (wf *Workflow) validateTools() error {
	if n := len(wf.Tools); n < 1 || n > ToolsLimit {
		return fmt.Errorf("tools: found %d names, want 1 to %d", n, ToolsLimit)
	}
	for i, name := range wf.Tools {
		if !slices.Contains(toolNames[:], name) {
			return fmt.Errorf("tools[%d]: found %s, want one of %s", i, strconv.Quote(name), strings.Join(toolNames[:], ", "))
		}
	}
	return nil
}

// validateSizes refuses distributions whose typical value is absurd. A rare draw above the limit is
// cut to it.
func (wf *Workflow) validateSizes() error {
	if m := wf.MessageTokens.Mean(); m > MessageTokensLimit {
		return fmt.Errorf("message_tokens: found a mean of %d, want at most %d", m, MessageTokensLimit)
	}
	if m := wf.TaskCalls.Mean(); m > TaskCallsLimit {
		return fmt.Errorf("task_calls: found a mean of %d, want at most %d", m, TaskCallsLimit)
	}
	if m := wf.OutputTokens.Mean(); m < 1 || m > MessageTokensLimit {
		return fmt.Errorf("output_tokens: found a mean of %d, want 1 to %d", m, MessageTokensLimit)
	}
	return nil
}
