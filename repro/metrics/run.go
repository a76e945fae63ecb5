package metrics

// Run is what was measured of one run. Lengths of time are in seconds of the run's own clock, in fields
// whose names end in _s. A field that is absent in JSON was not there to be measured (an empty list is
// absent too); no number is ever NaN or infinite. There is no map in it, so equal runs have equal bytes.
type Run struct {
	// Outcome is what became of the fleet.
	Outcome Outcome `json:"outcome"`
	// EndedAtS is when the run ended: with its last task, at the horizon, or when the watchdog gave up.
	EndedAtS float64 `json:"ended_at_s"`

	Work          Work          `json:"work"`
	Calls         Quantiles     `json:"calls"` // from the instant the agent wanted the answer to the end of the call
	Tasks         Quantiles     `json:"tasks"` // from when the task was there: its arrival, or else the start of its agent, to its end
	Raw           Raw           `json:"raw"`
	Split         Split         `json:"split"`
	Waste         Waste         `json:"waste"`
	Amplification Amplification `json:"amplification"`
	Stall         Stall         `json:"stall"`
	Control       Control       `json:"control"`
	Recovery      Recovery      `json:"recovery"`
	Harm          Harm          `json:"harm"`

	// Series is there if Options.Series asked for it.
	Series *Series `json:"series,omitempty"`
}

// Outcome is what became of a fleet of agents.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed" // every task is done
	Failed    Outcome = "failed"    // every task has ended, some of them with an error
	Never     Outcome = "never"     // some task had not ended when the run did
)

// Work is how much got done.
type Work struct {
	TasksStarted   int `json:"tasks_started"` // those that have arrived and wait for a worker included
	TasksCompleted int `json:"tasks_completed"`
	TasksFailed    int `json:"tasks_failed"`
	// MakespanS is the end of the last task; of a run in which some task had not ended, the end of the run.
	MakespanS float64 `json:"makespan_s"`
	// TaskTimeMeanS is the mean time of a task, restricted to the run: one that had not ended or had
	// failed counts as long as the run goes on, or up to the horizon if Options has one.
	TaskTimeMeanS float64 `json:"task_time_mean_s"`
	// GoodputTasksPerS counts completed tasks, over the makespan.
	GoodputTasksPerS float64 `json:"goodput_tasks_per_s"`
	// GoodputTokensPerS counts output tokens of completed calls of completed tasks, over the makespan.
	// A sub-agent's calls belong to its parent's task.
	GoodputTokensPerS float64 `json:"goodput_tokens_per_s"`
	// ThroughputTokensPerS counts all output tokens that the servers made, or, where they are not
	// simulated, all that were received, over the makespan.
	ThroughputTokensPerS float64 `json:"throughput_tokens_per_s"`
}

// Quantiles are those of a sample: the smallest value that the share of the values does not exceed
// (nearest rank). Values that were cut off by the end of the run are part of it, with the time they had taken by then.
// With N == 0 all are 0.
type Quantiles struct {
	N        int     `json:"n"`
	Censored int     `json:"censored"` // of N: unfinished or failed, so that their value is a lower bound
	P50S     float64 `json:"p50_s"`
	P95S     float64 `json:"p95_s"`
	P99S     float64 `json:"p99_s"` // says nothing below some 1,000 values
	MaxS     float64 `json:"max_s"`
	MeanS    float64 `json:"mean_s"`
}

// Raw are the values behind Quantiles, for who pools several runs. In the order of their ends;
// Censored ones in the order of their starts.
type Raw struct {
	CallS         []float32 `json:"call_s,omitempty"`          // of calls that ended well
	CallCensoredS []float32 `json:"call_censored_s,omitempty"` // of calls that failed or had not ended
	TaskS         []float32 `json:"task_s,omitempty"`
	TaskCensoredS []float32 `json:"task_censored_s,omitempty"`
}

// Split is where the time of calls went: means over all calls begun, so that the parts except GapMaxS add
// up to the mean time of a call.
type Split struct {
	SlotS       float64 `json:"slot_s"`
	RateS       float64 `json:"rate_s"`
	ConnectS    float64 `json:"connect_s"`
	HeadersS    float64 `json:"headers_s"`     // sent, no answer yet
	FirstTokenS float64 `json:"first_token_s"` // headers in, no content yet: queues of the servers and prefill
	StreamS     float64 `json:"stream_s"`
	BackoffS    float64 `json:"backoff_s"`
	// GapMaxS is the longest silence of the servers to any attempt, from its being sent to its end: before the
	// headers, before the first token, or from the last token to the end.
	GapMaxS float64 `json:"gap_max_s"`
}

// Waste is what was made and not used. Made = useful + wasted + zombie: TokensTotal is
// TokensUseful + TokensWasted, and ZombieTokens are part of TokensWasted.
type Waste struct {
	TokensTotal  int `json:"tokens_total"`  // output tokens made by the servers; received ones where they are not simulated
	TokensUseful int `json:"tokens_useful"` // of attempts that ended well
	TokensWasted int `json:"tokens_wasted"` // all others: of attempts that were aborted, superseded or broken, and of zombies
	ZombieTokens int `json:"zombie_tokens"` // of these: made after the client had left
	// WastedShare is TokensWasted / TokensTotal.
	WastedShare float64 `json:"wasted_share"`
	// PromptTokensTotal were computed by the servers, and PromptTokensAgain of these for attempts after
	// the first of a call: the prompt had been sent, and perhaps computed, before.
	PromptTokensTotal int `json:"prompt_tokens_total"`
	PromptTokensAgain int `json:"prompt_tokens_again"`
	// ZombieSlotS are seconds that requests held a place in a running batch of decode after their client had left.
	ZombieSlotS float64 `json:"zombie_slot_s"`
	// ZombieSlotsMean is ZombieSlotS over the time of the run: slots that served nobody.
	ZombieSlotsMean float64 `json:"zombie_slots_mean"`
}

// Amplification is how much more was asked of each layer than of the one above.
type Amplification struct {
	Calls          int `json:"calls"`           // that agents wanted
	Attempts       int `json:"attempts"`        // begun by the pacer
	ServerRequests int `json:"server_requests"` // dispatched by the router to engines, its own retries included
	// PerCall is Attempts / Calls, and PerAttempt is ServerRequests / Attempts. 0 without calls or attempts.
	PerCall    float64 `json:"per_call"`
	PerAttempt float64 `json:"per_attempt"`
	// Peak is the highest number, over all windows of Options.Window, of attempts begun in the window for each
	// call that was under way at any time in it. With calls that are shorter it is the peak of PerCall.
	Peak float64 `json:"peak"`
	// RetryShare is the share of attempts that are not the first of their call.
	RetryShare float64 `json:"retry_share"`
}

// Stall is when nothing moved. Progress is an output token that reaches a client, an agent's step done,
// or a tool at work (a tool that hangs at a latch or lock for good does not count as at work). A stream counts
// as going on from its first token to its last: a silence in between is not seen.
type Stall struct {
	// AllS is the time in which a task was open and no agent made progress for longer than
	// Options.Silent: the part beyond that length is not taken off, so a silence of 70 s counts 70 s.
	AllS float64 `json:"all_s"`
	// Windows are the silences that AllS adds up.
	Windows int `json:"windows"`
	// LongestS is the longest silence of all agents, however short.
	LongestS float64 `json:"longest_s"`
	// AgentMeanS is the same as AllS for each agent alone, averaged over the agents.
	AgentMeanS float64 `json:"agent_mean_s"`
	// SlotIdleS are seconds that pacer slots were held by calls to which nothing was sent for longer than
	// Options.Silent, counted whole like AllS, by calls that wait for a rate limit or for their next attempt,
	// by agents between their calls, and by nobody, since they were leaked.
	SlotIdleS float64 `json:"slot_idle_s"`
}

// Control is what the client's control did, and how its view differs from the servers'.
type Control struct {
	Rejected int `json:"rejected"` // attempts that the client's own throttle or breaker did not let out
	Shed     int `json:"shed"`     // calls that a queue of the client gave up
	Refused  int `json:"refused"`  // attempts that the servers answered with an error status
	// BreakerOpenS is how long the client's breaker was open, so that no attempt was let out, and BreakerHalfOpenS how
	// long it was half-open, so that only probes were. 0 without a breaker.
	BreakerOpenS     float64 `json:"breaker_open_s"`
	BreakerHalfOpenS float64 `json:"breaker_half_open_s"`
	// LimitMean is the client's limit on calls in flight, averaged over the run; LimitEnd is that of one that
	// moves at the end. 0: there is none.
	LimitMean float64 `json:"limit_mean"`
	LimitEnd  int     `json:"limit_end,omitempty"`
	// HasBudget says that the policy has a budget for retries, and BudgetEnd how much room it had at the end, in the
	// measure of its rule.
	HasBudget bool    `json:"has_budget,omitempty"`
	BudgetEnd float64 `json:"budget_end,omitempty"`
	// InflightClientMean is the mean number of attempts that the client holds open, and
	// InflightServerMean of requests that engines have, zombies included.
	InflightClientMean float64 `json:"inflight_client_mean"`
	InflightServerMean float64 `json:"inflight_server_mean"`
}

// Recovery is what happened after the trigger: the last of Options.Triggers.
type Recovery struct {
	HasTrigger   bool    `json:"has_trigger"`
	TriggerFromS float64 `json:"trigger_from_s,omitempty"` // start of the first trigger
	TriggerEndS  float64 `json:"trigger_end_s,omitempty"`
	// BeforePerS is the mean goodput before the first trigger, in useful tokens a second.
	BeforePerS float64 `json:"before_per_s,omitempty"`
	// LatePerS is the mean goodput long after the trigger: over the second half of the time from its end until the
	// last task began, or until the run ended if none began after it. Where load keeps coming it tells which of the
	// two states, the good or the bad one, the fleet is in.
	LatePerS float64 `json:"late_per_s,omitempty"`
	// Recovered says that goodput came back to 90 % of that, over a whole Options.Hold, and stayed: in no later
	// Options.Hold before the load ended was it less than half of what the load asked for, and where tasks kept coming
	// the second half of the time until the last of them had 90 % as well. What the load asks for is
	// BeforePerS, or less in proportion where fewer tasks come and fewer are open than before; with less than half of
	// the load a time is not judged. A run whose tasks were all completed has recovered by then in any case, since
	// there was nothing left to do.
	Recovered bool `json:"recovered"`
	// RecoveredAfterS is from the end of the trigger to the start of the first Options.Hold after which that holds.
	RecoveredAfterS float64 `json:"recovered_after_s,omitempty"`
	// Never says that there was a trigger, a goodput before it, and no recovery before the run ended. Such a run has
	// no time of recovery; it must not be averaged with others.
	Never bool `json:"never"`
	// Relapsed says of a run that never recovered that goodput did come back for an Options.Hold, and was lost again:
	// the collapse came after the trigger. RelapsedAfterS is from the trigger's end to when it first was.
	Relapsed       bool    `json:"relapsed,omitempty"`
	RelapsedAfterS float64 `json:"relapsed_after_s,omitempty"`
}

// Harm is what limits did to attempts. A healthy attempt is one that would have finished: the servers
// know the answer's length and were making progress or would have got to it.
type Harm struct {
	Killed        int `json:"killed"`         // attempts ended by a time limit: the policy's, or that of an agent's round or task
	HealthyKilled int `json:"healthy_killed"` // of these: healthy ones
	DeadKilled    int `json:"dead_killed"`    // of these: those from which nothing more would have come
	FailingKilled int `json:"failing_killed"` // of these: those that would have ended with an error, or gone silent later
	Unsent        int `json:"unsent"`         // of these: those that were not sent, so that nobody can tell
	// HealthyCancelled were healthy and were ended by the client for another reason, such as a lost hedge. The end
	// of the run does not count.
	HealthyCancelled int `json:"healthy_cancelled"`
	// HealthyLeftS is how long healthy attempts that were killed would have taken to finish, each; as far
	// as can be told from how fast they went (absent for those that had not begun).
	HealthyLeftS []float32 `json:"healthy_left_s,omitempty"`
	// ByLimit has a line for each limit that fired, sorted by its name.
	ByLimit []LimitHarm `json:"by_limit,omitempty"`
	// FalseAlarmRate is HealthyKilled / Killed; 0 if none was killed.
	FalseAlarmRate float64 `json:"false_alarm_rate"`
	// Dead are attempts that died: from some instant on nothing more would ever have reached the client.
	Dead int `json:"dead"`
	// DetectDeadS is, for each dead attempt that the client ended, how long after its death that was: from the last sign
	// of life.
	DetectDeadS []float32 `json:"detect_dead_s,omitempty"`
	// DeadUndetected are dead attempts that the client still waited for when the run ended.
	DeadUndetected int `json:"dead_undetected"`
}

// LimitHarm is what one limit did.
type LimitHarm struct {
	Limit         string `json:"limit"` // such as "idle", or "round"
	Killed        int    `json:"killed"`
	HealthyKilled int    `json:"healthy_killed"` // false alarms
}
