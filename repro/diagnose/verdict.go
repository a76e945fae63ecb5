package diagnose

import (
	"math"
	"slices"
	"time"
)

// Schema is the name and version of the verdict's JSON form.
const Schema = "wedge.verdict/1"

// Verdict is what the evidence of one stall episode says. Its JSON form is a contract: fields may be
// added, not renamed. Every duration and instant is in seconds of the run's own clock.
type Verdict struct {
	Schema   string `json:"schema"`   // always Schema
	Scenario string `json:"scenario"` // filled in by the caller
	Seed     uint64 `json:"seed"`     // filled in by the caller
	Clock    string `json:"clock"`    // "virtual" or "wall"; filled in by the caller

	Outcome      Outcome `json:"outcome"`
	Layer        Layer   `json:"layer"`
	Cause        Cause   `json:"cause"`
	FinalOutcome Outcome `json:"final_outcome"` // of the run; filled in by the caller, see Final

	Summary     string   `json:"summary"`       // plain words, with units
	Why         string   `json:"-"`             // the part of Summary that explains, for callers that tell the rest themselves
	DetectedAtS float64  `json:"detected_at_s"` // when the watchdog's patience ended
	StalledForS float64  `json:"stalled_for_s"` // at the capture that was read
	EndedAtS    *float64 `json:"ended_at_s"`    // nil: the episode had not ended; filled in by the caller

	Agents     AgentCounts        `json:"agents"`
	Calls      CallCounts         `json:"calls"`
	Gauges     map[string]float64 `json:"gauges"` // the latest reading
	Stages     []StageRow         `json:"stages"` // in the order of the agents' stages, then of the servers'
	Waits      WaitCounts         `json:"waits"`
	Hypotheses []Hypothesis       `json:"hypotheses"` // the best first

	Expected    *Expectation `json:"expected"`     // nil: none; filled in by the caller
	Reproduced  bool         `json:"reproduced"`   // Expected was met; filled in by the caller
	EvidenceDir string       `json:"evidence_dir"` // filled in by the caller
	Replay      string       `json:"replay"`       // the command; filled in by the caller

	Next    []string `json:"next"`    // what to try
	Missing []string `json:"missing"` // what the evidence lacks
	Sides   Sides    `json:"sides"`   // the agents' requests against the router's
	// Mechanisms are the causes that are seen at work: Cause first, then those that explain less. Empty if
	// there is none.
	Mechanisms []Cause `json:"mechanisms"`
}

// AgentCounts counts tasks and the agents at work on them; sub-agents are apart.
type AgentCounts struct {
	Total     int `json:"total"` // tasks
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Blocked   int `json:"blocked"`              // at work, and so without a finished step during the stall
	SubAgents int `json:"sub_agents,omitempty"` // at work
}

// CallCounts counts calls. Completed, Failed, Attempts, Refused and Tokens are since the start of the run.
type CallCounts struct {
	InFlight       int     `json:"in_flight"` // have a slot, or need none, and are not in backoff
	WaitingSlot    int     `json:"waiting_slot"`
	WaitingRate    int     `json:"waiting_rate"`
	WaitingBackoff int     `json:"waiting_backoff"`
	OldestS        float64 `json:"oldest_s"`  // since the start of the oldest call in flight
	AtServer       int     `json:"at_server"` // by the router's log; without one, sent and not known to be lost
	Completed      int     `json:"completed"`
	Failed         int     `json:"failed"`
	Attempts       int     `json:"attempts"`
	Refused        int     `json:"refused,omitempty"`     // attempts that ended with an error status
	Refused429     int     `json:"refused_429,omitempty"` // of these: too many requests
	Refused503     int     `json:"refused_503,omitempty"` // of these: such as a full queue
	Tokens         int     `json:"tokens"`                // output tokens received
}

// StageRow is a line of the table of stages: how many calls (or agents between calls) are in a stage
// of the agents' side and of the servers'.
type StageRow struct {
	AgentStage  string  `json:"agent_stage"`
	ServerStage string  `json:"server_stage"` // one of the Server constants
	Calls       int     `json:"calls"`
	Agents      int     `json:"agents"`         // without a call: they think, or a tool runs
	OldestS     float64 `json:"oldest_s"`       // longest time in the agent's stage
	Note        string  `json:"note,omitempty"` // why the servers' stage cannot be told, if that needs saying
}

// WaitCounts sums up the waits-for graph; WaitsFor returns all of it.
type WaitCounts struct {
	Cycle []string `json:"cycle"` // names along the cycle of a deadlock; empty if there is none
	Edges int      `json:"edges"` // waits
}

// Sides is the reconciliation of the agents' requests with the router's log.
type Sides struct {
	Usable     bool     `json:"usable"` // false: there is no router log, or it has no request lines
	Sent       int      `json:"sent"`   // attempts that the agents have sent and not finished
	Both       int      `json:"both"`   // of these, those that the router has too, by its log
	AgentsOnly int      `json:"agents_only"`
	RouterOnly int      `json:"router_only"`    // started and not finished in the log, and no agent waits for them
	Only       []string `json:"only,omitempty"` // ids of the first few that one side lacks
	// ByTime: the log names ids of its own, so that its lines are taken for the attempts that were sent at
	// the same time.
	ByTime bool `json:"by_time,omitempty"`
	// BySize: of lines of the same time, each was taken for the attempt of its size.
	BySize bool `json:"by_size,omitempty"`
	// Unmatched are the requests that one side has and another does not, with what that means: of the
	// agents' in the order of their calls, then of the router's, the oldest first, then by number alone.
	Unmatched []Unmatched `json:"unmatched,omitempty"`
}

// Hypothesis is one explanation and how it stands.
type Hypothesis struct {
	Cause    Cause    `json:"cause"`
	Outcome  Outcome  `json:"outcome"` // what the verdict would be
	Layer    Layer    `json:"layer"`
	Status   Status   `json:"status"`
	Score    float64  `json:"score"` // 0 to 1: how much of the stall it explains, and how surely
	For      []string `json:"for"`
	Against  []string `json:"against"`
	DecideBy string   `json:"decide_by"` // the measurement that would decide; empty if the evidence did
}

// Expectation is a verdict that a scenario expects. Empty fields accept anything.
type Expectation struct {
	Outcome Outcome `json:"outcome"`
	Layer   Layer   `json:"layer"`
	Cause   Cause   `json:"cause"`
	// Mechanisms must all be among those of the verdict, in any order.
	Mechanisms []Cause `json:"mechanisms,omitempty"`
}

// Meets says whether the verdict is the expected one.
func (v *Verdict) Meets(want Expectation) bool {
	return (want.Outcome == "" || want.Outcome == v.Outcome) &&
		(want.Layer == "" || want.Layer == v.Layer) &&
		(want.Cause == "" || want.Cause == v.Cause) &&
		!slices.ContainsFunc(want.Mechanisms, func(c Cause) bool { return !slices.Contains(v.Mechanisms, c) })
}

// Open says whether the episode had not ended when the verdict was last told about it.
func (v *Verdict) Open() bool { return v.EndedAtS == nil }

// End records the end of the episode, at an instant that is counted in time since the start of the
// run.
func (v *Verdict) End(at time.Duration) {
	s := seconds(at)
	v.EndedAtS = &s
}

// seconds is a duration as it stands in a verdict, rounded to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
