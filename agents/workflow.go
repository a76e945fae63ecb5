package agents

import (
	"time"

	"example.com/wedge/agents/workload"
)

// Names of the tools.
const (
	ToolReadMessage = "read_message"
	ToolWrite       = "write"
	ToolAppend      = "append"
	ToolSave        = "save"
)

// What stands in the place of a tool's name where none of the tools runs.
const (
	ToolSubAgent = "sub_agent" // an agent waits for its sub-agents
	ToolUnknown  = "unknown"   // the model asked for a tool that is not offered
)

// EndingToolCall is the only ending so far: every call ends in a tool call.
const EndingToolCall = "tool_call"

// Workflow says what an agent does with a task: the block workflow of a scenario. The zero value is
// not valid; start from [DefaultWorkflow]. Agents read it and never change it.
type Workflow struct {
	// Profile is the name of the workflow that this began as, if it had one; it changes nothing by itself.
	// See [Profile].
	Profile string `json:"profile,omitempty" yaml:"profile,omitempty"`

	Rounds int `json:"rounds" yaml:"rounds"` // of a task
	// TaskCalls is how many steps a task has in all, in as many rounds as it takes: it replaces Rounds. The
	// zero value is off.
	TaskCalls workload.Tokens `json:"task_calls,omitzero" yaml:"task_calls,omitzero"`
	Steps     int             `json:"steps" yaml:"steps"` // of a round, at most: an answer without a tool call ends the round
	// StepTries is how many calls a step makes at most while none of the tool calls that are asked for can be
	// made, because their arguments are cut off, say. 1: the model is told of the mistake, and the step counts.
	StepTries int      `json:"step_tries" yaml:"step_tries"`
	Tools     []string `json:"tools" yaml:"tools"`   // what the steps of a round call, in this order, from the start again after the last
	Ending    string   `json:"ending" yaml:"ending"` // what every call ends in: "tool_call"

	Think    workload.Duration `json:"think" yaml:"think"`                   // before each call
	Pause    workload.Duration `json:"pause,omitzero" yaml:"pause,omitzero"` // before each round but the first: whoever asks takes his time
	ToolTime ToolTimes         `json:"tool_time" yaml:"tool_time"`           // how long tools run

	// ToolOutputBytes is how much a tool call prints besides its result, such as its log, into a pipe that
	// the agent's tools share. It holds 64 KiB; the harness reads what is in it after each call.
	ToolOutputBytes int `json:"tool_output_bytes" yaml:"tool_output_bytes"`

	SystemTokens  int             `json:"system_tokens" yaml:"system_tokens"`   // length of the system message, the same for all agents
	Messages      int             `json:"messages" yaml:"messages"`             // in the long conversation of each task; read_message knows 0 to messages-1
	MessageTokens workload.Tokens `json:"message_tokens" yaml:"message_tokens"` // what read_message returns, cut to a million

	// FreshMessages draws the length of a message anew for each call that reads one, whatever its number, as
	// if the tool were another one each time.
	FreshMessages bool `json:"fresh_messages,omitzero" yaml:"fresh_messages,omitzero"`

	// OutputTokens is how much the simulated model generates in a call, reasoning included.
	OutputTokens workload.Tokens `json:"output_tokens" yaml:"output_tokens"`
	// ReasoningShare is the part of the output, 0 to 1, that is reasoning, which does not stay in the
	// conversation.
	ReasoningShare float64 `json:"reasoning_share" yaml:"reasoning_share"`

	Model     string `json:"model" yaml:"model"`           // as requests name it
	MaxTokens int    `json:"max_tokens" yaml:"max_tokens"` // limit of an answer that requests carry; 0: none

	SubAgents SubAgents `json:"sub_agents" yaml:"sub_agents"`
	// Locks makes append and save take the two locks of the workspace, which serialises them.
	Locks bool `json:"locks" yaml:"locks"`
	// LockScope says how long the locks are held, if there are any.
	LockScope LockScope `json:"lock_scope" yaml:"lock_scope"`
	// Trace is the path of a recorded workload whose sessions are the tasks; empty: none. It replaces
	// rounds, steps, think, tool_time, message_tokens and output_tokens. See [TraceTasks].
	Trace string `json:"trace" yaml:"trace"`
}

// LockScope says how long an agent holds the locks of the workspace.
type LockScope string

// The scopes.
const (
	LockTool LockScope = "tool" // append and save take both locks, one after the other, while they run
	LockStep LockScope = "step" // a step takes the workspace's lock before its call and keeps it until its tools have ended
)

// ToolTimes is how long each tool runs, waits for locks not counted.
type ToolTimes struct {
	ReadMessage workload.Duration `json:"read_message" yaml:"read_message"`
	Write       workload.Duration `json:"write" yaml:"write"`
	Append      workload.Duration `json:"append" yaml:"append"`
	Save        workload.Duration `json:"save" yaml:"save"`
}

// SubAgents says how an agent delegates: after the first step of each round it spawns sub-agents and
// waits until all have ended. They share its Chatter.
type SubAgents struct {
	PerRound int `json:"per_round" yaml:"per_round"` // 0: none
	Steps    int `json:"steps" yaml:"steps"`         // of the one round that a sub-agent works
	// Results says how their parent learns of their end. Empty means join.
	Results Results `json:"results" yaml:"results"`
}

// Results says how sub-agents tell their parent that they have ended.
type Results string

// The ways.
const (
	ResultsJoin Results = "join" // it waits for the end of each
	// ResultsMailbox: each puts its result into the parent's mailbox and rings. The bell keeps nothing:
	// a ring that nobody hears is gone, while the result stays.
	ResultsMailbox Results = "mailbox"
)

// DefaultWorkflow returns the workflow of the incident that wedge exists for: articles about messages
// of long conversations, written by a reasoning model at maximum effort. After its 20 calls a
// conversation has some 35,000 tokens. Tool times are those of file tools (medians as TraceLab
// measured them for reading and editing).
func DefaultWorkflow() Workflow {
	edit := workload.Must(clamped(95*time.Millisecond, 400*time.Millisecond))
	return Workflow{
		Rounds:    5,
		Steps:     4,
		StepTries: 1,
		Tools:     []string{ToolReadMessage, ToolWrite, ToolAppend, ToolSave},
		Ending:    EndingToolCall,
		Think:     workload.Must(workload.Uniform(time.Second, 3*time.Second)),
		ToolTime: ToolTimes{
			ReadMessage: workload.Must(clamped(36*time.Millisecond, 150*time.Millisecond)),
			Write:       edit,
			Append:      edit,
			Save:        edit,
		},
		SystemTokens:   2_000,
		Messages:       200,
		MessageTokens:  workload.Must(workload.Uniform(2_000, 4_000)),
		OutputTokens:   workload.Must(workload.Uniform(3_000, 4_500)),
		ReasoningShare: 0.75,
		Model:          "simulated",
		SubAgents:      SubAgents{Steps: 2, Results: ResultsJoin},
		LockScope:      LockTool,
	}
}

// clamped is a log-normal without the tail that would make a slow tool out of a fast one.
func clamped(median, p90 time.Duration) (workload.Duration, error) {
	d, err := workload.LogNormal(median, p90)
	if err != nil {
		return d, err
	}
	return d.Clamp(0, 10*p90)
}

// toolTime returns the distribution of a tool's time. An unknown tool takes none.
func (wf *Workflow) toolTime(tool string) *workload.Duration {
	switch tool {
	case ToolReadMessage:
		return &wf.ToolTime.ReadMessage
	case ToolWrite:
		return &wf.ToolTime.Write
	case ToolAppend:
		return &wf.ToolTime.Append
	case ToolSave:
		return &wf.ToolTime.Save
	}
	return new(workload.Duration)
}
