package series

import "example.com/wedge/harness"

// Cumulative is what was counted since the start of a run, for scrapes and exports. Counts never go down. It shares
// no memory with the meter.
type Cumulative struct {
	AtS   float64 // on the run's clock
	FromS float64 // since when it was counted

	Tasks      Tasks
	Calls      Calls
	Attempts   Attempts
	Tokens     Tokens
	Steps      int
	Tools      int
	ToolErrors int    // of Tools: those that could not be made
	Stalls     Stalls // S: up to now
	StageS     StageSeconds

	Timeouts []Count // attempts that a time limit ended, by its name: "idle" …; in the order of pacer's constants
	Statuses []Count // attempts that were answered with an error, by its HTTP status, in rising order; "other" beyond 32 of them

	// Histograms of times, in seconds.
	Call       Buckets // completed calls: gen_ai.client.operation.duration
	CallFailed Buckets // failed ones
	TTFT       Buckets // gen_ai.client.operation.time_to_first_chunk
	InterToken Buckets // gen_ai.client.operation.time_per_output_chunk
	SlotWait   Buckets
	RateWait   Buckets
	Backoff    Buckets
	Task       Buckets // completed ones: gen_ai.workflow.duration or gen_ai.invoke_agent.duration
	TaskFailed Buckets
	Tool       Buckets // gen_ai.execute_tool.duration
	// Histograms of tokens a call: gen_ai.client.token.usage.
	InputTokens  Buckets
	OutputTokens Buckets

	// As it stands now.
	Agents    int             // at work
	ByStage   []Count         // calls in flight, by stage, from slot to stream
	Slots     *Slots          // Mean, Max over the window under way; nil: not known
	StalledS  float64         // for how long no step has finished, although there is work
	Gauges    []harness.Gauge // latest readings
	GaugesAtS float64         // when they were taken; below 0: never
}

// Count is a number of things of a name.
type Count struct {
	Name string
	N    int
}

// Buckets is a histogram with fixed bounds: Counts[i] has the values that are at most Bounds[i] and above the bound
// before, and one more count, the last, those above all bounds.
type Buckets struct {
	Bounds []float64 // shared, not to be changed
	Counts []uint64
	Sum    float64
	N      uint64
}
