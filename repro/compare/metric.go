package compare

import "example.com/wedge/repro/metrics"

// Metric is a figure of a run that policies are compared by.
type Metric struct {
	Key   string // in JSON and CSV
	Name  string // in tables
	Group string // figures of a group are told together or not at all
	Unit  string // "s", "%" (as a share of 1), "tok/s", or "" for a bare number
	Help  string
	// HigherIsBetter, else lower, unless Neutral says that neither is.
	HigherIsBetter bool
	Neutral        bool
	of             func(*metrics.Run) float64
}

// The figures that decide, and those that always stand beside them: goodput can be gamed by giving up.
const (
	KeyTaskTime   = "task_time_s"
	KeyCompletion = "completed"
	KeyGoodput    = "goodput_tokens_per_s"
	KeyWasted     = "wasted"
	KeyPerCall    = "attempts_per_call"
	KeyStalled    = "stalled_s"
	KeyKilled     = "healthy_killed"
	KeyZombies    = "zombie_slots"
)

// MainKeys are the figures of the short table, in order.
func MainKeys() []string {
	return []string{KeyTaskTime, KeyCompletion, KeyGoodput, KeyWasted, KeyPerCall, KeyStalled, KeyKilled, KeyZombies}
}

// Metrics returns the figures of a comparison, group by group.
func Metrics() []Metric {
	var all []Metric
	for _, group := range [][]Metric{workMetrics(), splitMetrics(), wasteMetrics(), stallMetrics(), controlMetrics(), harmMetrics()} {
		all = append(all, group...)
	}
	return all
}

func workMetrics() []Metric {
	return []Metric{
		{Key: KeyTaskTime, Name: "task time", Group: "work", Unit: "s",
			Help: "mean time of a task; one that failed or never ended counts as long as the horizon",
			of:   func(r *metrics.Run) float64 { return r.Work.TaskTimeMeanS }},
		{Key: KeyCompletion, Name: "completed", Group: "work", Unit: "%", HigherIsBetter: true,
			Help: "share of the tasks that were completed",
			of:   func(r *metrics.Run) float64 { return share(r.Work.TasksCompleted, r.Work.TasksStarted) }},
		{Key: "makespan_s", Name: "makespan", Group: "work", Unit: "s",
			Help: "end of the last task, or of the run",
			of:   func(r *metrics.Run) float64 { return r.Work.MakespanS }},
		{Key: KeyGoodput, Name: "goodput", Group: "work", Unit: "tok/s", HigherIsBetter: true,
			Help: "output tokens of completed tasks a second; giving up can raise it, so look at completed and wasted too",
			of:   func(r *metrics.Run) float64 { return r.Work.GoodputTokensPerS }},
		{Key: "throughput_tokens_per_s", Name: "throughput", Group: "work", Unit: "tok/s", Neutral: true,
			Help: "all output tokens a second, used or not",
			of:   func(r *metrics.Run) float64 { return r.Work.ThroughputTokensPerS }},
	}
}

func splitMetrics() []Metric {
	part := func(key, name, help string, of func(*metrics.Split) float64) Metric {
		return Metric{Key: key, Name: name, Group: "latency", Unit: "s", Help: help, of: func(r *metrics.Run) float64 { return of(&r.Split) }}
	}
	return []Metric{
		part("call_slot_s", "slot", "of a call's mean time: waiting for a slot", func(s *metrics.Split) float64 { return s.SlotS }),
		part("call_rate_s", "rate", "of a call's mean time: waiting for the rate limit", func(s *metrics.Split) float64 { return s.RateS }),
		part("call_connect_s", "connect", "of a call's mean time: until the connection", func(s *metrics.Split) float64 { return s.ConnectS }),
		part("call_headers_s", "headers", "of a call's mean time: sent, no answer yet", func(s *metrics.Split) float64 { return s.HeadersS }),
		part("call_first_token_s", "first token", "of a call's mean time: headers in, no content yet", func(s *metrics.Split) float64 { return s.FirstTokenS }),
		part("call_stream_s", "stream", "of a call's mean time: content arriving", func(s *metrics.Split) float64 { return s.StreamS }),
		part("call_backoff_s", "backoff", "of a call's mean time: waiting for the next attempt", func(s *metrics.Split) float64 { return s.BackoffS }),
		part("gap_max_s", "gap", "longest silence of the servers to an attempt", func(s *metrics.Split) float64 { return s.GapMaxS }),
	}
}

func wasteMetrics() []Metric {
	return []Metric{
		{Key: KeyWasted, Name: "wasted", Group: "waste", Unit: "%",
			Help: "share of the output tokens that nobody used: of attempts given up, and of servers that went on after the client had left",
			of:   func(r *metrics.Run) float64 { return share(r.Waste.TokensWasted, r.Waste.TokensTotal) }},
		{Key: "tokens_wasted", Name: "wasted tokens", Group: "waste",
			Help: "output tokens that nobody used",
			of:   func(r *metrics.Run) float64 { return float64(r.Waste.TokensWasted) }},
		{Key: "prompt_tokens_again", Name: "prompt again", Group: "waste",
			Help: "prompt tokens computed for attempts after the first",
			of:   func(r *metrics.Run) float64 { return float64(r.Waste.PromptTokensAgain) }},
		{Key: KeyZombies, Name: "zombies", Group: "waste",
			Help: "places in the servers' running batches that served nobody any more, on average",
			of:   func(r *metrics.Run) float64 { return r.Waste.ZombieSlotsMean }},
		{Key: KeyPerCall, Name: "att/call", Group: "amplification",
			Help: "attempts for each call that an agent wanted",
			of:   func(r *metrics.Run) float64 { return r.Amplification.PerCall }},
		{Key: "attempts_peak", Name: "peak", Group: "amplification",
			Help: "the same in the worst minute",
			of:   func(r *metrics.Run) float64 { return r.Amplification.Peak }},
		{Key: "requests_per_attempt", Name: "req/att", Group: "amplification",
			Help: "requests to engines for each attempt: the router's own retries",
			of:   func(r *metrics.Run) float64 { return r.Amplification.PerAttempt }},
		{Key: "retry_share", Name: "retries", Group: "amplification", Unit: "%",
			Help: "share of the attempts that are not the first of their call",
			of:   func(r *metrics.Run) float64 { return r.Amplification.RetryShare }},
	}
}

func stallMetrics() []Metric {
	return []Metric{
		{Key: KeyStalled, Name: "stalled", Group: "stall", Unit: "s",
			Help: "time in which no agent made progress, of silences longer than a minute",
			of:   func(r *metrics.Run) float64 { return r.Stall.AllS }},
		{Key: "stalled_agent_s", Name: "an agent", Group: "stall", Unit: "s",
			Help: "the same for one agent, on average",
			of:   func(r *metrics.Run) float64 { return r.Stall.AgentMeanS }},
		{Key: "silent_windows", Name: "windows", Group: "stall",
			Help: "silences of all agents longer than a minute",
			of:   func(r *metrics.Run) float64 { return float64(r.Stall.Windows) }},
		{Key: "slot_idle_s", Name: "idle slots", Group: "stall", Unit: "s",
			Help: "time in which slots were held by calls to which nothing came, added up",
			of:   func(r *metrics.Run) float64 { return r.Stall.SlotIdleS }},
	}
}

func controlMetrics() []Metric {
	neutral := func(key, name, unit, help string, of func(*metrics.Control) float64) Metric {
		return Metric{Key: key, Name: name, Group: "control", Unit: unit, Help: help, Neutral: true, of: func(r *metrics.Run) float64 { return of(&r.Control) }}
	}
	return []Metric{
		neutral("rejected", "rejected", "", "attempts that the client's own throttle, budget or breaker did not let out", func(c *metrics.Control) float64 { return float64(c.Rejected) }),
		neutral("shed", "shed", "", "calls that the client's queue gave up", func(c *metrics.Control) float64 { return float64(c.Shed) }),
		neutral("refused", "refused", "", "attempts that the servers answered with an error", func(c *metrics.Control) float64 { return float64(c.Refused) }),
		neutral("limit_mean", "limit", "", "the client's limit of calls at once, on average; 0: none, or one that moves", func(c *metrics.Control) float64 { return c.LimitMean }),
		neutral("inflight_client", "client", "", "attempts that the client holds open, on average", func(c *metrics.Control) float64 { return c.InflightClientMean }),
		neutral("inflight_server", "servers", "", "requests that the engines have, on average", func(c *metrics.Control) float64 { return c.InflightServerMean }),
	}
}

func harmMetrics() []Metric {
	return []Metric{
		{Key: KeyKilled, Name: "killed", Group: "harm",
			Help: "healthy attempts, which would have finished, that a limit ended",
			of:   func(r *metrics.Run) float64 { return float64(r.Harm.HealthyKilled) }},
		{Key: "false_alarms", Name: "false alarms", Group: "harm", Unit: "%",
			Help: "of the attempts that limits ended, the share that was healthy",
			of:   func(r *metrics.Run) float64 { return r.Harm.FalseAlarmRate }},
		{Key: "dead_undetected", Name: "undetected", Group: "harm",
			Help: "dead attempts that the client still waited for at the end",
			of:   func(r *metrics.Run) float64 { return float64(r.Harm.DeadUndetected) }},
	}
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
