package harness

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Evidence is everything that was seen at one capture of a stall episode (or at the end of a run),
// and nothing else: all of it exists in a run against real servers too. Diagnosis reads this and
// only this. All instants are the run's own clock.
type Evidence struct {
	Run        string        `json:"run"`     // name and seed, such as "starvation-1"
	Episode    int           `json:"episode"` // counted from 1; 0 for the evidence at the end of a run
	Capture    int           `json:"capture"` // counted from 1 within the episode
	At         sim.Instant   `json:"at_ns"`
	StalledFor time.Duration `json:"stalled_for_ns"`           // since the last finished step, or since work began; 0 while there is none
	DetectedAt sim.Instant   `json:"detected_at_ns,omitempty"` // first capture of the episode; 0 when Episode is
	EndedAt    sim.Instant   `json:"ended_at_ns,omitempty"`    // the step that ended the episode; 0: it had not ended
	EndedBy    string        `json:"ended_by,omitempty"`       // agent whose step that was
	EndTotals  Totals        `json:"end_totals,omitzero"`      // as they stood with that step; zero while EndedAt is
	After      []Sample      `json:"after,omitempty"`          // from the capture to that step, oldest first

	Setup      Setup               `json:"setup"`
	Totals     Totals              `json:"totals"`             // since the start of the run
	Window     Totals              `json:"window"`             // within the stall, so since the last finished step
	Agents     []AgentState        `json:"agents"`             // in the order of their start; ended ones are in Totals only
	Unheard    []AgentEnd          `json:"unheard,omitempty"`  // sub-agents that have ended and that their parents still wait for
	Tools      []ToolStats         `json:"tools"`              // those that have returned at least once, by name
	Calls      []pacer.CallState   `json:"calls"`              // in flight, in the order of their start
	Controls   *pacer.ControlState `json:"controls,omitempty"` // of the pacer; nil: not known
	Objects    []sim.ObjectState   `json:"objects"`
	Processes  []sim.ProcessState  `json:"processes"`
	Samples    []Sample            `json:"samples"`              // from a little before the stall until now, oldest first
	Router     *RouterView         `json:"router,omitempty"`     // nil: no router log to read
	Goroutines *GoroutineView      `json:"goroutines,omitempty"` // nil: no dump was taken
	DumpErr    string              `json:"dump_error,omitempty"` // why a dump that was wanted was not taken
}

// Setup is the part of the configuration that diagnosis may use.
type Setup struct {
	Agents         int           `json:"agents"` // tasks to do
	Workers        int           `json:"workers"`
	Slots          int           `json:"slots"`                         // of the pacer; 0: no limit
	ConnectionsMax int           `json:"connections_max"`               // per host; 0: no limit
	Hold           string        `json:"hold"`                          // how long a slot is held: "stream", "start", "first_token", "agent"
	StallAfter     time.Duration `json:"stall_after_ns"`                // watchdog
	Captures       []int         `json:"captures"`                      // watchdog: multiples of StallAfter; empty: not known
	ConnectLimit   time.Duration `json:"connect_limit_ns"`              // policy; 0: off
	HeaderLimit    time.Duration `json:"header_limit_ns"`               // policy; 0: off
	FirstLimit     time.Duration `json:"first_token_limit_ns"`          // policy; 0: off
	IdleLimit      time.Duration `json:"idle_limit_ns"`                 // policy; 0: off
	TotalLimit     time.Duration `json:"total_limit_ns"`                // policy; 0: off
	CallLimit      time.Duration `json:"call_total_limit_ns,omitempty"` // policy: of a call with its waits and attempts; 0: off
	WorkLimit      time.Duration `json:"work_limit_ns,omitempty"`       // policy: by the output that requests allow; 0: off
	RoundLimit     time.Duration `json:"round_limit_ns,omitempty"`      // policy: of an agent's round; 0: off
	TaskLimit      time.Duration `json:"task_limit_ns,omitempty"`       // policy: of an agent's task; 0: off
	Learnt         []string      `json:"learnt,omitempty"`              // policy: limits that are learnt, such as "total"; those above hold until then
	LearntFromOK   []string      `json:"learnt_from_ok,omitempty"`      // of these: those that learn nothing from attempts that they end
	Throttle       string        `json:"throttle,omitempty"`            // policy: its rule; empty: there is none
	Breaker        string        `json:"breaker,omitempty"`             // policy: its rule; empty: there is none
	RetryBudget    string        `json:"retry_budget,omitempty"`        // policy: its rule; empty: there is none
	AttemptsMax    int           `json:"attempts_max"`                  // policy
	SimulatedModel bool          `json:"simulated_model"`               // false: a real server
	Servers        string        `json:"servers"`                       // base URL, or "in memory"
	SampleEvery    time.Duration `json:"sample_every_ns"`               // gauges
	HasGauges      bool          `json:"has_gauges"`                    // false: the servers have none to read
	HasRouterLog   bool          `json:"has_router_log"`                // false: there is none to read
	// FromServers says that the agents are known by what the servers' HTTP front saw of their requests
	// only: each call stands for an agent and a task, and slots, limits and what goes on between calls are
	// not known.
	FromServers bool `json:"from_servers,omitempty"`
	// Embedded says that it is somebody's own program, with the watchdog in it: what to change is told in
	// words, since no option of wedge's sets it.
	Embedded bool `json:"embedded,omitempty"`
}

// Totals counts what happened over a stretch of a run.
type Totals struct {
	AgentsDone      int `json:"agents_done"`            // tasks completed
	AgentsFailed    int `json:"agents_failed"`          // tasks given up with an error
	RoundLimits     int `json:"round_limits,omitempty"` // those of them that a limit of their round has ended
	TaskLimits      int `json:"task_limits,omitempty"`  // those of them that a limit of the task has ended
	Steps           int `json:"steps"`                  // finished
	CallsCompleted  int `json:"calls_completed"`
	CallsFailed     int `json:"calls_failed"`
	Attempts        int `json:"attempts"` // begun
	AttemptsTimeout int `json:"attempts_timeout"`
	AttemptsStatus  int `json:"attempts_status"` // error statuses and error events
	AttemptsNetwork int `json:"attempts_network"`
	Attempts429     int `json:"attempts_429"` // of AttemptsStatus: too many requests
	Attempts503     int `json:"attempts_503"` // of AttemptsStatus: such as a full queue
	// Of Attempts503, by their message: the request queue is full, or there is no worker to send it to.
	Attempts503Full    int `json:"attempts_503_full,omitempty"`
	Attempts503Workers int `json:"attempts_503_workers,omitempty"`
	// Of Attempts: those that joined another one that was slow, and those that lost against one.
	Hedges       int `json:"hedges,omitempty"`
	AttemptsLost int `json:"attempts_lost,omitempty"`
	// Not of Attempts, since they were never sent: turned away by the policy's throttle or breaker, or
	// by the queue for slots.
	AttemptsRejected int `json:"attempts_rejected,omitempty"`
	AttemptsShed     int `json:"attempts_shed,omitempty"`
	// Of AttemptsRejected: those of the breaker; the others are the throttle's.
	RejectedBreaker int `json:"rejected_breaker,omitempty"`
	// Of CallsFailed: those whose last attempt was turned away unsent, those that would have had another
	// attempt if there had been room for it in the retry budget, and those whose time as a whole was over.
	CallsTurnedAway int `json:"calls_turned_away,omitempty"`
	CallsOverBudget int `json:"calls_over_budget,omitempty"`
	CallsOutOfTime  int `json:"calls_out_of_time,omitempty"`
	CallsRefused    int `json:"calls_refused"` // of CallsFailed: those whose last attempt ended with an error status
	Backoffs        int `json:"backoffs"`      // waits before another attempt, begun
	// BackoffWait is how long these waits are together.
	BackoffWait time.Duration `json:"backoff_wait_ns"`
	RetryAfters int           `json:"retry_afters"` // of AttemptsStatus: those that said how long to wait
	// RetryAfterMax is the longest wait that was asked for. A window has that of the whole run.
	RetryAfterMax time.Duration `json:"retry_after_max_ns"`
	// TokensReceived counts the output tokens of attempts that have ended, and those in flight. In a
	// window it has all of an attempt's tokens, also those that came before the window began.
	TokensReceived int `json:"tokens_received"`
	TokensWasted   int `json:"tokens_wasted"` // received by attempts that failed
	Left           int `json:"left"`          // attempts that were sent, and that a time limit or the caller has ended
	// Of AttemptsTimeout: by the limit of the policy that ended them.
	TimeoutsConnect int `json:"timeouts_connect,omitempty"`
	TimeoutsHeader  int `json:"timeouts_header,omitempty"`
	TimeoutsFirst   int `json:"timeouts_first_token,omitempty"`
	TimeoutsIdle    int `json:"timeouts_idle,omitempty"`
	TimeoutsTotal   int `json:"timeouts_total,omitempty"`
	TimeoutsWork    int `json:"timeouts_work,omitempty"`
	TimeoutsCall    int `json:"timeouts_call_total,omitempty"` // the time of the whole call was over
	// Answered counts the attempts that have had their response headers, HeadersWait is how long these
	// took together, and HeadersWaitMax the longest of them, in a window that of the whole run.
	Answered       int           `json:"answered"`
	HeadersWait    time.Duration `json:"headers_wait_ns"`
	HeadersWaitMax time.Duration `json:"headers_wait_max_ns"`
	// AnsweredSent is when the latest of them was sent: a request that is older and has no headers yet
	// has been overtaken. A window has that of the whole run.
	AnsweredSent  sim.Instant   `json:"answered_sent_ns"`
	AttemptsOK    int           `json:"attempts_ok"`      // ended well
	AttemptsTook  time.Duration `json:"attempts_took_ns"` // of these: from sent to the end, together
	AnswersLate   int           `json:"answers_late"`     // of these: many tokens, the first of them after a long wait
	AnswersAtOnce int           `json:"answers_at_once"`  // of these: all of them faster than models make them, so that they were held back
	// PromptTokensMax is the longest prompt of an attempt that ended well. A window has that of the whole run.
	PromptTokensMax int `json:"prompt_tokens_max"`
	ToolCalls       int `json:"tool_calls"`  // finished, those that made no sense included
	ToolErrors      int `json:"tool_errors"` // of these, calls that could not be made: unknown tools, bad arguments
}

// ToolStats is how a tool has behaved so far: whether one that is out now is late shows against this.
type ToolStats struct {
	Tool     string        `json:"tool"`
	Finished int           `json:"finished"`   // calls that ran and have returned, well or not
	Longest  time.Duration `json:"longest_ns"` // of these, waits for locks included
}

// AgentState is what an agent was doing. Sub-agents stand beside their parents.
type AgentState struct {
	Name   string `json:"name"`
	Task   string `json:"task"`
	Parent string `json:"parent,omitempty"` // of a sub-agent
	Round  int    `json:"round"`
	Step   int    `json:"step"`
	// Tries is how many calls the step has made so far, if more than one: the tool calls that the others
	// asked for could not be made. ToolError is what the model was told of its latest one.
	Tries     int         `json:"tries,omitempty"`
	ToolError string      `json:"tool_error,omitempty"`
	Stage     pacer.Stage `json:"stage"`    // think or tool, or the stage of its call
	Since     sim.Instant `json:"since_ns"` // start of the stage
	Tool      string      `json:"tool,omitempty"`
	Call      string      `json:"call,omitempty"`      // id of its call in flight
	Waits     string      `json:"waits_for,omitempty"` // what its process is parked on
	// WaitsOn names what its tool says it waits for: locks, a latch, or sub-agents.
	WaitsOn []string `json:"waits_on,omitempty"`
}

// AgentEnd is the end of a sub-agent, as whoever runs it has noted it.
type AgentEnd struct {
	Name   string      `json:"name"`
	Parent string      `json:"parent"`
	At     sim.Instant `json:"at_ns"`
	Err    string      `json:"error,omitempty"` // empty: it ended well
}

// Gauge names, as they stand in samples and verdicts. Counters end in _total.
const (
	GaugeRouterInFlight   = "router_in_flight"   // requests that the router has and has not answered in full
	GaugeRouterQueued     = "router_queued"      // waiting for the router's own limit
	GaugePrefillBootstrap = "prefill_bootstrap"  // sglang:num_prefill_bootstrap_queue_reqs
	GaugePrefillQueue     = "prefill_queue"      // sglang:num_queue_reqs{engine_type="prefill"}
	GaugePrefillRunning   = "prefill_running"    // sglang:num_running_reqs{engine_type="prefill"}
	GaugePrefillInflight  = "prefill_inflight"   // sglang:num_prefill_inflight_queue_reqs
	GaugeDecodePrealloc   = "decode_prealloc"    // sglang:num_decode_prealloc_queue_reqs
	GaugeDecodeTransfer   = "decode_transfer"    // sglang:num_decode_transfer_queue_reqs
	GaugeDecodeQueue      = "decode_queue"       // sglang:num_queue_reqs{engine_type="decode"}
	GaugeDecodeRunning    = "decode_running"     // sglang:num_running_reqs{engine_type="decode"}
	GaugeDecodeKV         = "decode_token_usage" // sglang:token_usage{engine_type="decode"}, 0 to 1
	GaugePrefillTokens    = "prefill_tokens_total"
	GaugeDecodeTokens     = "decode_tokens_total"

	// Not all servers show these.
	GaugeDecodeRetracted  = "decode_retracted_total"         // requests that had to give up their memory; sglang:num_retracted_requests_total
	GaugeBootstrapFailed  = "prefill_bootstrap_failed_total" // sglang:num_bootstrap_failed_reqs_total; aborts in that queue count too
	GaugeTransferFailed   = "transfer_failed_total"          // sglang:num_transfer_failed_reqs_total; aborts in that queue count too
	GaugeEngineAborted    = "engine_aborted_total"           // requests of clients that left, as the engines noticed; sglang:num_aborted_requests_total
	GaugeRouterRetries    = "router_retries_total"           // smg_worker_retries_total
	GaugeUnhealthyWorkers = "router_unhealthy_workers"       // smg_worker_health of 0
	GaugeOpenBreakers     = "router_open_breakers"           // smg_worker_cb_state other than closed
)

// Gauge is one number read from the servers.
type Gauge struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Sample is one reading of the gauges, with the load it was taken under: a gauge that reads 0 says
// nothing unless something was asked of the servers.
type Sample struct {
	At    sim.Instant `json:"at_ns"`
	Sent  int         `json:"sent"`  // attempts that had been sent and not ended, by the agents' count
	Calls int         `json:"calls"` // calls that had begun and not ended, by the agents' count; also those that wait for a slot
	// Streaming is how many of Sent had had their response headers. A decode engine that has more in its
	// batch works for somebody else, or on something that does not show.
	Streaming int     `json:"streaming"`
	Gauges    []Gauge `json:"gauges"` // in a fixed order; empty if the servers could not be read
	Err       string  `json:"error,omitempty"`
}

// RouterView is what the router's log says: requests with a started line, and those without a
// finished one. A client that leaves before the response headers leaves an open request behind for ever
// in the log of a router that writes the finished line with them.
type RouterView struct {
	Started  int             `json:"started"`
	Finished int             `json:"finished"`
	Open     []RouterRequest `json:"open"` // started and not finished, oldest first
	// Answered are the finished lines of attempts that are still in flight for the agents, in the order
	// of the calls. A router that writes the line when the response headers go out has one for each
	// stream; in the log of one that writes it at the end, the router is done with these.
	Answered []RouterAnswer `json:"answered,omitempty"`
	// AnsweredFrom is the instant up to which finished lines have been forgotten; 0: none has been.
	AnsweredFrom sim.Instant `json:"answered_from_ns,omitempty"`
	Last         sim.Instant `json:"last_ns"`
	Skipped      int         `json:"skipped_lines"` // lines that are neither
	// Forgotten counts requests that were open when there were too many to remember.
	Forgotten int `json:"forgotten,omitempty"`
	// Abandoned counts those forgotten whose attempts had ended, of which fewer are remembered.
	Abandoned int `json:"abandoned,omitempty"`
	Errors    int `json:"errors"` // finished with a status of 400 or more
	// What the finished lines give as latency. A router that logs it when the response headers are out
	// gives less than a stream takes.
	LatencyMean time.Duration `json:"latency_mean_ns"`
	LatencyMax  time.Duration `json:"latency_max_ns"`
}

// RouterRequest is a request that the router has started and not finished.
type RouterRequest struct {
	ID    string      `json:"id"` // x-request-id, so the id of an attempt
	Since sim.Instant `json:"since_ns"`
	// Size is how large the request is, in the log's own unit: tokens of the prompt or bytes of the body.
	// 0: the log does not say, as SGLang's own does not.
	Size int64 `json:"size,omitempty"`
}

// RouterAnswer is the finished line of a request.
type RouterAnswer struct {
	ID      string        `json:"id"`    // x-request-id, so the id of an attempt
	At      sim.Instant   `json:"at_ns"` // as exact as the log's timestamps, which may be whole seconds
	Status  int           `json:"status"`
	Latency time.Duration `json:"latency_ns"` // as the line has it; 0: it has none
}

// GoroutineView is what the goroutine dump of a capture says about the agents, and what moved since
// the one before.
type GoroutineView struct {
	Total     int          `json:"total"`               // goroutines in the dump
	Labelled  int          `json:"labelled"`            // those with an agent's label
	InChat    int          `json:"in_chat"`             // labelled, with a pacer.(*Pacer).Chat frame
	ByStage   []StageCount `json:"by_stage"`            // labelled, by their stage, in the order of the stages
	SameStack int          `json:"same_stack"`          // labelled, with the stack and call they had at the capture before; -1: no capture before
	Truncated bool         `json:"truncated,omitempty"` // the dump was too large (over 1 GiB) and ends early
	Waits     *WaitsView   `json:"waits,omitempty"`     // nil: in virtual time no goroutine's stack tells what it waits for
}

// StageCount counts goroutines in a stage.
type StageCount struct {
	Stage string `json:"stage"`
	Count int    `json:"count"`
}
