package probe

import (
	"example.com/wedge/harness"
	"example.com/wedge/repro/diagnose"
)

// Schema is the name and version of the probe's part of the document.
const Schema = "wedge.probe/1"

// Report is what a probe found.
type Report struct {
	Verdict  diagnose.Verdict
	Part     Part
	Evidence *harness.Evidence // nil if nothing was reachable
	Dumps    []Dump
}

// Dump is the text of a goroutine dump of a client.
type Dump struct {
	Name string // such as "goroutines-1.txt"
	Text []byte
}

// Document is the report as JSON: a verdict, with the probe's part.
type Document struct {
	diagnose.Verdict
	Probe Part `json:"probe"`
}

// Document returns the report for --json.
func (r *Report) Document() Document { return Document{r.Verdict, r.Part} }

// Part is what the document has beside the verdict. Times are in seconds of the servers' clock since
// the probe began.
type Part struct {
	Schema      string        `json:"schema"` // always Schema
	Finding     Finding       `json:"finding"`
	Headline    string        `json:"headline"` // the finding with its counts, in one sentence
	StartedAt   string        `json:"started_at"`
	Scale       float64       `json:"scale"`
	WindowS     float64       `json:"window_s"`
	EveryS      float64       `json:"every_s"`
	Load        string        `json:"load"` // that the readings were taken under
	Targets     []TargetFact  `json:"targets"`
	Sides       Sides         `json:"sides"`
	ClientWaits []ClientWaits `json:"client_waits"` // what each client's goroutines show by themselves
	Readings    []ReadingFact `json:"readings"`
	Reply       *Reply        `json:"request"`       // nil: none was sent
	NoReply     string        `json:"no_request"`    // why none was sent
	Requests    Plan          `json:"requests_made"` // by place and kind
	Notes       []string      `json:"notes"`         // what the evidence rests on
	Interrupted bool          `json:"interrupted"`
}

// TargetFact is what is known of a target.
type TargetFact struct {
	Role    Role   `json:"role"` // empty: it did not answer, so that its role is not known
	URL     string `json:"url"`
	Alive   bool   `json:"alive"`
	Health  Health `json:"health"`
	Read    int    `json:"read"` // readings or dumps that came back
	Asked   int    `json:"asked"`
	Error   string `json:"error,omitempty"`   // the latest
	Summary string `json:"summary,omitempty"` // what it is
}

// ReadingFact is one reading of the gauges.
type ReadingFact struct {
	AtS    float64            `json:"t_s"`
	Load   int                `json:"load"` // requests out, see Part.Load
	Gauges map[string]float64 `json:"gauges"`
	Error  string             `json:"error,omitempty"`
}

// Finding is the verdict in the words of a probe.
type Finding string

// The findings.
const (
	FoundHealthy     Finding = "healthy"             // calls come and go
	FoundIdle        Finding = "idle"                // nothing is asked of the servers, which proves nothing
	FoundSlow        Finding = "slow"                // calls take long, and the servers work on them
	FoundHeld        Finding = "held_before_router"  // calls are out that the servers do not have
	FoundSilent      Finding = "silent_streams"      // answers have begun, and no engine works on them
	FoundStalled     Finding = "stalled"             // anything else that does not move
	FoundInside      Finding = "stuck_inside_client" // goroutines of the client wait for each other
	FoundRefused     Finding = "refused"             // the router refuses more than it takes
	FoundFailing     Finding = "failing"             // the router answers most requests with an error
	FoundDead        Finding = "server_dead"         // a server does not answer
	FoundUnanswered  Finding = "unanswered"          // the request end to end was not answered
	FoundUnreachable Finding = "unreachable"         // nothing answered at all
	FoundUnclear     Finding = "unclear"             // the evidence does not decide
)
