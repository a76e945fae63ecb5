package record

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Start is the run_start line.
type Start struct {
	At      sim.Instant
	Run     string // name and seed, such as "starvation-3"
	Agents  int    // tasks to do; 0 if nobody knows
	Workers int
}

// End is the run_end line.
type End struct {
	At           sim.Instant
	Why          string // such as "completed" or "interrupted"
	AgentsDone   int
	AgentsFailed int
	Steps        int
	Stalls       int
}

// Task is one task of one agent, sub-agents included.
type Task struct {
	Agent  string
	Task   string
	Parent string      // the agent that it works for; empty for one of the fleet's own, and while Open
	From   sim.Instant // of a sub-agent, that of its first call or tool: nothing says when it began
	To     sim.Instant
	OK     bool
	Limit  string // of the policy or the workflow, that ended it; empty otherwise
	Err    string
	Open   bool // it had not ended: To is where the journal ends
	Cut    bool // its start is missing: From is where the journal begins
}

// StageSpan is a stretch of a call in one stage, think and done excepted.
type StageSpan struct {
	Stage   pacer.Stage
	Attempt int // counted from 1; 0 before the first
	From    sim.Instant
	To      sim.Instant
}

// Attempt is one attempt of a call.
type Attempt struct {
	N       int    // counted from 1 within the call; 0 for one that was given up before it got a number
	ID      string // what it sent as x-request-id; empty for one that was never sent, and while Open
	From    sim.Instant
	To      sim.Instant
	Outcome string // one of pacer's Attempt constants; empty while Open
	Limit   string // time limit that fired, such as "idle"
	Status  int    // of HTTP, if that is what ended it
	Tokens  int    // received
	Err     string
	Again   bool          // another one follows
	Delay   time.Duration // until then
	Stop    string        // rule of the policy because of which none follows
	Kept    int           // tokens that the next one goes on from
	Hedge   bool          // it had joined another one
	Beside  bool          // others went on
	Open    bool          // it had not ended: To is where the journal, or the call, ends
}

// Call is one call of a model.
type Call struct {
	ID       string // such as "agent-07-c012"
	Agent    string
	Task     string
	Round    int
	Step     int
	From     sim.Instant
	To       sim.Instant
	Spans    []StageSpan // one after the other, from From to To without gaps; those without length included
	Attempts []Attempt   // in the order of their ends, open ones last
	OK       bool
	Tokens   int // of the answer
	Err      string
	Open     bool // it had not ended: To is where the journal ends
	Cut      bool // its start is missing: Task, Round and Step are not known, nor the stages before the first of Spans
}

// Tool is one use of a tool.
type Tool struct {
	Agent   string
	Name    string
	From    sim.Instant
	To      sim.Instant
	InRange bool // it took as long as tools of its kind do
	Err     string
}

// Step is a step that an agent has finished.
type Step struct {
	Agent string
	Round int
	Step  int
	At    sim.Instant
}

// Stall is an episode in which no step finished for so long that the watchdog spoke.
type Stall struct {
	Episode    int         // counted from 1
	Since      sim.Instant // the last step before it
	From       sim.Instant // the watchdog's first capture
	To         sim.Instant // the step that ended it
	StalledFor time.Duration
	Captures   int
	Calls      int  // under way at From
	Sent       int  // of them, with a request out
	Open       bool // it had not ended: To is where the journal ends
	Cut        bool // its start is missing: From is that of the first line there is of it
}

// Handler is told what a journal says, each thing when it has ended, so in the order of their ends. A nil
// function is not called. What is passed belongs to the function called.
type Handler struct {
	Start    func(*Start)
	Began    func(*Task)      // a task has started, or the first is heard of it: Agent, Task (if known), From and Cut
	Stage    func(StageEvent) // a call is in another stage; call it by need: it comes for each line
	Task     func(*Task)
	Call     func(*Call)
	Tool     func(*Tool)
	Step     func(*Step)
	Stall    func(*Stall)
	Detected func(*Stall) // the watchdog has spoken: Since, From, Calls and Sent
	End      func(*End)
}

// StageEvent is a stage line: a call that enters a stage.
type StageEvent struct {
	At      sim.Instant
	Call    string
	Agent   string
	From    pacer.Stage
	Stage   pacer.Stage
	Attempt int // counted from 1; 0 before the first
}

// Summary is what a reader has seen. The zero value is that of a journal without lines.
type Summary struct {
	Run    string // of run_start; empty if that is missing
	Lines  int    // whole ones
	From   sim.Instant
	To     sim.Instant
	Cut    bool // the journal begins in the middle: older lines are gone
	Lost   int  // lines that were not written, because the disk was full
	Ended  bool // there is a run_end
	Broken bool // the last line had no end, and was left out
}
