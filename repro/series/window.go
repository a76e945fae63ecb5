package series

import "example.com/wedge/pacer"

// Window is what happened in a stretch of a run, and one line of windows.jsonl. Times are seconds of the run's clock
// in fields that end in S (_s in JSON). A count without "ended" or "begun" in its description counts what happened
// within the stretch. Equal runs in virtual time have equal windows, byte for byte.
type Window struct {
	Index int     `json:"window"` // counted from 1; of merged windows that of the first
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	// Merged is how many windows this one was made of. 0: it is as it was closed.
	Merged int `json:"merged,omitempty"`

	Tasks    Tasks    `json:"tasks"`
	Calls    Calls    `json:"calls"`
	Attempts Attempts `json:"attempts"`
	Tokens   Tokens   `json:"tokens"`
	Steps    int      `json:"steps"` // that agents finished
	Tools    int      `json:"tools"` // calls of tools that ended
	Stalls   Stalls   `json:"stalls"`

	// StageS is for how long calls were in each stage, added up over calls: agent-seconds, from slot to stream. A call
	// that goes on counts with its part in this window.
	StageS StageSeconds `json:"stage_s"`
	Agents Level        `json:"agents"`    // at work, sub-agents included
	Flight Level        `json:"in_flight"` // calls that have begun and not ended
	// Slots are those of the pacer that are in use. Absent: that is not known.
	Slots *Slots `json:"slots,omitempty"`

	// Times are the distributions of what ended in the window, in the order of the Time constants.
	Times []Distribution `json:"times"`
	// Gauges of the servers, in the order in which their names were first seen. Absent: none was read.
	Gauges []Gauge `json:"gauges,omitempty"`
}

// Tasks counts tasks of the fleet; sub-agents work on their parents'.
type Tasks struct {
	Begun  int `json:"begun"`
	Done   int `json:"done"`
	Failed int `json:"failed"`
	Open   int `json:"open"` // at the window's end
}

// Calls counts calls that agents wanted.
type Calls struct {
	Begun  int `json:"begun"`
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Open   int `json:"open"` // at the window's end
}

// Attempts counts attempts of calls.
type Attempts struct {
	Begun int `json:"begun"` // sent, or about to be; those that the client's own control turned away are not
	// Again are those of Begun that are not the first of their call: retries and hedges.
	Again     int `json:"again"`
	OK        int `json:"ok"`
	Timeout   int `json:"timeout"`
	Status    int `json:"status"`
	Network   int `json:"network"`
	Cancelled int `json:"cancelled"`
	Lost      int `json:"lost"`
	Rejected  int `json:"rejected"`
	Shed      int `json:"shed"`
}

// Tokens counts tokens of attempts that ended in the window.
type Tokens struct {
	Received int `json:"received"` // output of all of them
	// Wasted are those of Received that are part of no answer: of attempts that were aborted, superseded or broken,
	// but for what a later attempt went on from.
	Wasted int `json:"wasted"`
	Prompt int `json:"prompt"` // length of what calls that ended had asked, estimated from its text; once a call
}

// Stalls counts stretches in which there was work and no step finished for [Options.StallAfter], as the watchdog does.
type Stalls struct {
	Begun int `json:"begun"` // raised in the window
	// S is for how long no step had finished, of stalls that are open or have ended: from the latest step
	// before, so that one that is raised counts with the time that led to it. In this window.
	S    float64 `json:"s"`
	Open bool    `json:"open,omitempty"` // at the window's end
	// OpenBefore says that a stall that is not part of Begun was open at the window's start.
	OpenBefore bool `json:"open_before,omitempty"`
}

// StageSeconds has seconds by stage of a call. It is a struct for the sake of the order and the names in JSON.
type StageSeconds struct {
	Slot       float64 `json:"slot"`
	Rate       float64 `json:"rate"`
	Backoff    float64 `json:"backoff"`
	Connect    float64 `json:"connect"`
	Headers    float64 `json:"headers"`
	FirstToken float64 `json:"first_token"`
	Stream     float64 `json:"stream"`
}

// Of returns the seconds of a stage; 0 for one that belongs to no call.
func (s *StageSeconds) Of(stage pacer.Stage) float64 {
	if p := s.at(stage); p != nil {
		return *p
	}
	return 0
}

func (s *StageSeconds) at(stage pacer.Stage) *float64 {
	switch stage {
	case pacer.StageSlot:
		return &s.Slot
	case pacer.StageRate:
		return &s.Rate
	case pacer.StageBackoff:
		return &s.Backoff
	case pacer.StageConnect:
		return &s.Connect
	case pacer.StageHeaders:
		return &s.Headers
	case pacer.StageFirstToken:
		return &s.FirstToken
	case pacer.StageStream:
		return &s.Stream
	}
	return nil
}

// Level is a number that changes, over a window.
type Level struct {
	Mean float64 `json:"mean"` // over time
	Max  int     `json:"max"`
	Last int     `json:"last"`
}

// Slots are a Level with the limit on it at the window's end; 0: there is none.
type Slots struct {
	Level
	Limit int `json:"limit"`
}

// Gauge is a server's gauge over a window, by the readings that were taken in it.
type Gauge struct {
	Name string  `json:"name"`
	N    int     `json:"n"` // readings
	Last float64 `json:"last"`
	Mean float64 `json:"mean"` // of the readings
	Max  float64 `json:"max"`
}

// Time names a distribution of a window.
type Time string

// The distributions, in the order of Window.Times.
const (
	TimeCall       Time = "call"        // from when the agent wanted the answer to the end of the call; failed ones are censored
	TimeTTFT       Time = "ttft"        // from an attempt's being sent to its first output
	TimeInterToken Time = "inter_token" // of an attempt: from its first to its last token, over the tokens after the first
	TimeSlotWait   Time = "slot_wait"   // of a call: all its waits for a slot
	TimeRateWait   Time = "rate_wait"   // of a call: all its waits for a rate limit
	TimeBackoff    Time = "backoff"     // of a call: all its waits between attempts
	TimeQueue      Time = "queue"       // of a call: slot_wait and rate_wait together
	TimeStep       Time = "step"        // of an agent: from the end of one step to that of the next
	TimeTask       Time = "task"        // from when the task was there to its end; failed ones are censored
	TimeTool       Time = "tool"        // of a tool call, waits for locks included
)

// Distribution is that of times that ended in a window. Quantiles are the smallest value that the share of the values
// does not exceed (nearest rank), right to 1 %, and are censored values' too. N, MeanS, MinS and MaxS are exact.
type Distribution struct {
	Name     Time    `json:"name"`
	N        int     `json:"n"`
	Censored int     `json:"censored,omitempty"` // of N: failed or unfinished, so that their value is a lower bound
	MeanS    float64 `json:"mean_s"`
	MinS     float64 `json:"min_s"`
	P50S     float64 `json:"p50_s"`
	P95S     float64 `json:"p95_s"`
	P99S     float64 `json:"p99_s"`
	MaxS     float64 `json:"max_s"`
	// Hist are the counts behind it, from which windows merge; empty without values. It is base64 (no padding) of
	// unsigned varints in pairs: how many bins were skipped, and the count of the bin that follows. Bins are those of an
	// HdrHistogram of microseconds from 1 to 30 days with two digits, by index.
	Hist string `json:"hist,omitempty"`
}

// Time returns a distribution of the window; nil: it has none of that name.
func (w *Window) Time(name Time) *Distribution {
	for i := range w.Times {
		if w.Times[i].Name == name {
			return &w.Times[i]
		}
	}
	return nil
}
