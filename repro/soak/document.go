package soak

import (
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/threshold"
)

// Schema is the name and version of soak.json.
const Schema = "wedge.soak/1"

// Names of the files that a soak has beside those of other bundles.
const (
	DocumentFile = "soak.json"     // [Document]
	WindowsLog   = "windows.jsonl" // a [series.Window] a line
	ProcessLog   = "process.jsonl" // a [series.Process] a line
)

// Verdict is what a soak came to, in a word.
type Verdict string

// The verdicts, the gravest first but for the first two.
const (
	Running     Verdict = "running"          // it has not ended, or was killed
	Passed      Verdict = "passed"           // it lasted, and all thresholds are met
	Interrupted Verdict = "interrupted"      // cut off from outside
	Stopped     Verdict = "stopped"          // its files could not be written, and it was to stop then
	Failed      Verdict = "failed"           // every task ended with an error
	Stalled     Verdict = "stalled"          // it ended in a stall, or was given up in one
	Missed      Verdict = "threshold_missed" // it lasted, and a threshold is not met
)

// Document is what is known of a soak: soak.json, and what --json prints. It is replaced now and then while the soak
// goes on, so that one that was killed leaves the last one. Durations are in seconds of the run's own clock. Of a soak
// in virtual time all of it follows from scenario and seed, but for Process, Leaks, Resumed, Files, and thresholds
// that are about the process. Fields may be added, not renamed.
type Document struct {
	Schema   string  `json:"schema"` // always Schema
	Scenario string  `json:"scenario"`
	Seed     uint64  `json:"seed"`
	Clock    string  `json:"clock"`
	Scale    float64 `json:"scale,omitempty"`
	Version  string  `json:"version"`
	Server   *Server `json:"server,omitempty"` // a real one

	Verdict Verdict          `json:"verdict"`
	Outcome diagnose.Outcome `json:"outcome"` // of the fleet: completed, or that of the stall in which it ended
	Summary string           `json:"summary"` // plain words, with units
	// Ended is why: "for" (it had lasted as long as it should), "tasks" (so many had ended), "horizon" (of the scenario,
	// before so many had ended), "stall", "interrupted", "files" or "" (it has not).
	Ended string `json:"ended"`

	ForS    float64 `json:"for_s"`           // how long it was to last at most
	Tasks   int     `json:"tasks,omitempty"` // or how many tasks were to end
	AtS     float64 `json:"at_s"`            // how long it has lasted
	WindowS float64 `json:"window_s"`
	WarmUpS float64 `json:"warm_up_s"`

	Thresholds []threshold.Outcome `json:"thresholds"`
	Stalls     Stalls              `json:"stalls"`
	Drift      []series.Finding    `json:"drift"`
	Faults     []FaultFacts        `json:"random_faults"`
	Totals     Totals              `json:"totals"`
	Failures   []string            `json:"failures"` // of agents, the first ones since the start or the last resumption

	TraceHash string `json:"trace_hash,omitempty"` // of a virtual soak that has ended: equal for equal ones
	Events    uint64 `json:"events,omitempty"`     // of a virtual soak that has ended: handled by the kernel

	Leaks   []series.Finding `json:"leaks"`
	Process ProcessFacts     `json:"process"`
	Files   FileFacts        `json:"files"`
	Resumed int              `json:"resumed"` // how often
	Replay  string           `json:"replay"`  // the command that repeats it
	Next    []string         `json:"next"`    // what to do now: commands
}

// Server is where a real server is. It has no key.
type Server struct {
	BaseURL    string `json:"base_url"`
	Model      string `json:"model"`
	MetricsURL string `json:"metrics_url,omitempty"`
}

// FaultFacts is what became of an element of soak.random_faults.
type FaultFacts struct {
	ID       string  `json:"id"`
	Times    int     `json:"times"`      // that it began
	InForceS float64 `json:"in_force_s"` // for how long, all in all
}

// ProcessFacts is what wedge itself took.
type ProcessFacts struct {
	First *series.Process `json:"first,omitempty"` // after the warm-up
	Last  *series.Process `json:"last,omitempty"`
	RealS float64         `json:"real_s"` // real time of this process
}

// FileFacts is how the files fared.
type FileFacts struct {
	Dir       string `json:"dir,omitempty"`
	Error     string `json:"error,omitempty"` // the first failure
	LostLines int    `json:"lost_lines,omitempty"`
}
