package compare

import "example.com/wedge/repro/metrics"

// Metric is a figure of a run that policies are compared by.
type Metric struct {
	Key  string // in JSON and CSV
	Name string // in tables
	Unit string // "s", "%" (as a share of 1), "1/s", or "" for a bare number
	Help string
	// HigherIsBetter, else lower.
	HigherIsBetter bool
	of             func(*metrics.Run) float64
}

// The figures that are always told together, in this order: goodput can be gamed by giving up, so
// completion and waste stand beside it.
const (
	taskTime = iota
	completion
	goodput
	wasted
	perCall
	stalled
	zombies
	killed
	metricCount
)

// Metrics returns the figures of a comparison, in the order of its tables.
func Metrics() []Metric {
	return []Metric{
		taskTime: {Key: "task_time_s", Name: "task time", Unit: "s",
			Help: "mean time of a task; one that failed or never ended counts as long as the horizon",
			of:   func(r *metrics.Run) float64 { return r.Work.TaskTimeMeanS }},
		completion: {Key: "completed", Name: "completed", Unit: "%", HigherIsBetter: true,
			Help: "share of the tasks that were completed",
			of:   func(r *metrics.Run) float64 { return share(r.Work.TasksCompleted, r.Work.TasksStarted) }},
		goodput: {Key: "goodput_tokens_per_s", Name: "goodput", Unit: "tok/s", HigherIsBetter: true,
			Help: "output tokens of completed tasks a second",
			of:   func(r *metrics.Run) float64 { return r.Work.GoodputTokensPerS }},
		wasted: {Key: "wasted", Name: "wasted", Unit: "%",
			Help: "share of the output tokens that nobody used: of attempts given up, and of servers that went on after the client had left",
			of:   func(r *metrics.Run) float64 { return share(r.Waste.TokensWasted, r.Waste.TokensTotal) }},
		perCall: {Key: "attempts_per_call", Name: "att/call",
			Help: "attempts for each call that an agent wanted",
			of:   func(r *metrics.Run) float64 { return r.Amplification.PerCall }},
		stalled: {Key: "stalled_s", Name: "stalled", Unit: "s",
			Help: "time in which no agent made progress, of silences longer than a minute",
			of:   func(r *metrics.Run) float64 { return r.Stall.AllS }},
		zombies: {Key: "zombie_slots", Name: "zombies",
			Help: "places in the servers' running batches that served nobody any more, on average",
			of:   func(r *metrics.Run) float64 { return r.Waste.ZombieSlotsMean }},
		killed: {Key: "healthy_killed", Name: "killed",
			Help: "healthy attempts, which would have finished, that a limit ended",
			of:   func(r *metrics.Run) float64 { return float64(r.Harm.HealthyKilled) }},
	}
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
