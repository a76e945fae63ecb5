package live

// Schema names the form of snapshots as they are served. A name changes when a field changes its meaning.
const Schema = "wedge.live/1"

// Run says which run it is. It stays as it is.
type Run struct {
	Command  string  `json:"command"` // such as "soak"
	Scenario string  `json:"scenario"`
	Seed     uint64  `json:"seed"`
	Clock    string  `json:"clock"`              // "virtual" or "wall"
	Scale    float64 `json:"scale,omitempty"`    // of the wall clock; 0: virtual
	Model    string  `json:"model,omitempty"`    // that calls ask for
	Tasks    int     `json:"tasks,omitempty"`    // to do in all; 0: they do not end, or their number is not known
	UntilS   float64 `json:"until_s,omitempty"`  // when it ends on its own clock at the latest; 0: that is open
	Version  string  `json:"version,omitempty"`  // of wedge
	Evidence string  `json:"evidence,omitempty"` // directory; empty: none is written
}

// State says how far a run has come.
type State string

// The states, in their order.
const (
	Starting State = "starting"
	Running  State = "running"
	Ended    State = "ended"
)

// Snapshot is a run at one instant, as page and screen show it. Times end in S and are in seconds of the run's own
// clock, unless they say otherwise. The zero value is a run that has not begun. A snapshot that a [View] has given out
// is never changed.
type Snapshot struct {
	Schema string  `json:"schema"`
	Run    Run     `json:"run"`
	State  State   `json:"state"`
	AtS    float64 `json:"at_s"`
	RealS  float64 `json:"real_s"` // since the view began, on the machine's clock

	Agents     Agents  `json:"agents"`
	Calls      Calls   `json:"calls"`
	Tokens     Tokens  `json:"tokens"`
	Slots      Slots   `json:"slots"`
	Rates      []Rate  `json:"rates"`
	Gauges     []Gauge `json:"gauges"`       // in the order in which the servers have them
	GaugesAgeS float64 `json:"gauges_age_s"` // since they were read; says nothing without gauges
	GaugesErr  string  `json:"gauges_error"` // why they could not be read the last time; empty: they were
	Oldest     *Oldest `json:"oldest"`       // nil: no call is in flight
	IdleS      float64 `json:"idle_s"`       // since the last finished step, while there is work
	Stalls     int     `json:"stalls"`       // so far
	Stall      *Stall  `json:"stall"`        // the last one; nil: nothing has stalled
	Facts      []Fact  `json:"facts"`        // what else whoever runs it wants to be seen
}

// Agents counts agents and their tasks.
type Agents struct {
	AtWork  int     `json:"at_work"` // sub-agents included
	Begun   int     `json:"begun"`   // tasks
	Done    int     `json:"done"`    // tasks completed
	Failed  int     `json:"failed"`  // tasks given up
	Steps   int     `json:"steps"`   // finished
	ByStage []Count `json:"by_stage"`
}

// Count is how many are in a stage. All stages are there but "done", in the order in which a step passes them.
type Count struct {
	Stage string `json:"stage"`
	N     int    `json:"n"`
}

// Calls counts calls and their attempts.
type Calls struct {
	InFlight  int     `json:"in_flight"`
	Sent      int     `json:"sent"` // attempts under way at the servers, by the agents' count
	Completed int     `json:"completed"`
	Failed    int     `json:"failed"`
	Attempts  int     `json:"attempts"`
	Retries   int     `json:"retries"`  // waits before another attempt, begun
	Timeouts  int     `json:"timeouts"` // attempts that a time limit has ended
	Refused   int     `json:"refused"`  // attempts that ended with an error status
	PerS      float64 `json:"per_s"`    // completed in a second of the run's clock, over the last few looks
	ByStage   []Count `json:"by_stage"` // of those in flight, from "slot" to "stream"
}

// Tokens counts output tokens of attempts that have ended.
type Tokens struct {
	Received int     `json:"received"`
	Wasted   int     `json:"wasted"` // by attempts that failed
	PerS     float64 `json:"per_s"`
}

// Slots is how the pacer's slots are used. Without a limit Max is 0.
type Slots struct {
	Max     int `json:"max"`
	InUse   int `json:"in_use"`
	Waiting int `json:"waiting"` // calls
}

// Rate is a rate limit of the pacer.
type Rate struct {
	Of      string  `json:"of"`      // "requests" or "tokens"
	PerS    float64 `json:"per_s"`   // what is allowed
	Left    float64 `json:"left"`    // what may be spent at once; below 0: promised to those that wait
	Waiting int     `json:"waiting"` // calls, for either of the limits
}

// Gauge is a number read from the servers.
type Gauge struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Oldest is that of the calls in flight that began first.
type Oldest struct {
	ID     string  `json:"id"`
	Agent  string  `json:"agent"`
	Stage  string  `json:"stage"`
	AgeS   float64 `json:"age_s"`   // since the call began
	StageS float64 `json:"stage_s"` // since its stage did
}

// Stall is a stall with what is thought of it.
type Stall struct {
	Episode   int     `json:"episode"` // counted from 1
	Open      bool    `json:"open"`
	StartedS  float64 `json:"started_s"` // the last step before it
	DetectedS float64 `json:"detected_s"`
	LastedS   float64 `json:"lasted_s"` // until it ended, or so far
	EndedBy   string  `json:"ended_by"` // agent whose step that was
	Outcome   string  `json:"outcome"`  // such as "wedged"; empty: there is no verdict yet
	Layer     string  `json:"layer"`    // where the cause is
	Cause     string  `json:"cause"`    // empty: none, or not known
	Why       string  `json:"why"`      // in words
}

// Fact is something that whoever runs the run wants to be seen, such as a threshold and how it stands.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Bad   bool   `json:"bad"` // it is not as it should be
}
