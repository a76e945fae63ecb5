package agents

import (
	"context"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Chatter makes model calls for agents. A pacer is one.
type Chatter interface {
	// Chat makes one call and returns its complete answer.
	Chat(ctx context.Context, id pacer.Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)

	// Hold reserves what the agent needs for several calls, if the Chatter is set up that way. The
	// calls are then made with the returned context, until the returned function gives it back.
	Hold(ctx context.Context, id pacer.Identity) (context.Context, func(), error)
}

var _ Chatter = (*pacer.Pacer)(nil)

// Observer is told what agents do, at once and in order. Its methods are called with the monitor
// held and must not wait. A *State is that of the agent itself: the same pointer from AgentStarted to
// AgentEnded, to be read with the monitor held only.
type Observer interface {
	// AgentStarted comes first. The agent is in stage think, before its first round.
	AgentStarted(a *State)
	// StageChanged says that since a.Since the agent thinks or runs a tool. The stages of its calls
	// are not reported here: the Chatter knows them.
	StageChanged(a *State)
	ToolCalled(a *State, c ToolCall)
	// StepDone says that the call of the step and its tools have ended well.
	StepDone(a *State)
	// AgentEnded comes last; err is nil if the task is done.
	AgentEnded(a *State, err error)
}

// ToolCall is a tool call that has ended.
type ToolCall struct {
	Tool    string        // one of the tools, [ToolSubAgent] or [ToolUnknown]
	Took    time.Duration // waits for locks included
	InRange bool          // false: the message does not exist, or the call could not be made
	Error   string        // what the model was told about a call that could not be made; empty otherwise
}

// State is where an agent is.
type State struct {
	Name     string      // such as "agent-07", or "agent-07.s1" for a sub-agent
	Task     string      // id of its task
	Parent   string      // name of the agent that spawned it; empty for none
	Round    int         // counted from 1; 0 before the first
	Step     int         // counted from 1 within the round; 0 before the first
	Tries    int         // calls of the step so far, the one under way included; 0 before the first step
	Mistake  string      // what the model was told of its latest tool call, if that could not be made
	Stage    pacer.Stage // think or tool, or the stage of its call; done at the end
	Since    sim.Instant // start of the stage
	Tool     string      // that runs in stage tool; empty otherwise
	Call     string      // id of the call in flight; empty outside calls
	Attempt  string      // id of the call's latest attempt; empty before the first
	WaitsFor []string    // what a tool waits for: names of a lock, a latch, or sub-agents; nil otherwise
}

// Follow takes over the stage of the call that the agent is in. Whoever observes the Chatter calls it
// at each change, with the monitor held, so that the agent's state and labels tell the stage.
func (s *State) Follow(c *pacer.CallState) {
	if c.Stage == pacer.StageDone {
		s.Stage, s.Since, s.Call, s.Attempt = pacer.StageThink, c.Since, "", ""
		return
	}
	s.Stage, s.Since, s.Call, s.Attempt = c.Stage, c.Since, c.ID, c.AttemptID
}

// silent is the observer of agents that nobody observes.
type silent struct{}

var _ Observer = silent{}

func (silent) AgentStarted(*State)         {}
func (silent) StageChanged(*State)         {}
func (silent) ToolCalled(*State, ToolCall) {}
func (silent) StepDone(*State)             {}
func (silent) AgentEnded(*State, error)    {}
