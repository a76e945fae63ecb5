package threshold

import "strings"

// Name is something that an expression may use.
type Name struct {
	Name    string
	Kind    Kind
	Unit    string // that [Values] gives a metric in, and in which a number without a unit is read: "s", "bytes", "share", "1/s", or "" for a count
	Aggs    string // how the aggregates that a metric has are written, such as "p50 … p99.9, avg"; empty: none
	Alone   string // what a metric means that stands without an aggregate, such as "the highest"; empty: it cannot, or has but one meaning
	Meaning string // one line
}

// Kind says what a Name is.
type Kind string

// The kinds.
const (
	KindMetric    Kind = "metric"
	KindAggregate Kind = "aggregate"
	KindUnit      Kind = "unit"
)

// Names returns all that an expression may use, for help and completion, in the order in which they are to be shown.
func Names() []Name {
	var out []Name
	for i := range metrics {
		m := &metrics[i]
		n := Name{Name: m.name, Kind: KindMetric, Unit: string(m.unit), Aggs: strings.Join(m.shape.aggs(m), " "), Meaning: m.meaning}
		if m.shape == level || m.shape == reading {
			n.Alone = "the highest"
			n.Meaning += "; by itself: " + n.Alone
		}
		out = append(out, n)
	}
	for _, a := range aggregates {
		out = append(out, Name{Name: a.name, Kind: KindAggregate, Meaning: a.meaning})
	}
	for _, u := range units {
		out = append(out, Name{Name: u.name, Kind: KindUnit, Unit: string(u.of), Meaning: u.meaning})
	}
	return out
}

// unit is what a metric is measured in.
type unit string

const (
	seconds   unit = "s"
	bytes     unit = "bytes"
	share     unit = "share"
	perSecond unit = "1/s"
	count     unit = ""
)

// shape is what kind of values a metric has, and with that which aggregates.
type shape uint8

const (
	number       shape = iota // one for a run, or a window
	events                    // a number of things that happened: has a rate
	outcomes                  // events that may fail
	distribution              // of times
	level                     // goes up and down
	reading                   // of this process, every now and then
)

// aggs returns the aggregates that a metric of the shape has; pNN stands for any quantile.
func (s shape) aggs(*metric) []string {
	switch s {
	case events:
		return []string{"count", "rate"}
	case outcomes:
		return []string{"count", "rate", "failed"}
	case distribution:
		return []string{quantile, "med", "avg", "min", "max", "count", "rate"}
	case level:
		return []string{"avg", "max", "last"}
	case reading:
		return []string{quantile, "med", "avg", "min", "max", "last"}
	}
	return nil
}

// quantile stands for p50, p90, p95, p99, p99.9 and whatever else lies between 0 and 100.
const quantile = "pNN"

// metric is one that Values know.
type metric struct {
	name    string
	shape   shape
	unit    unit
	meaning string
}

var metrics = [...]metric{
	{"call", distribution, seconds, "from when an agent wanted an answer to the end of the call, waits included; one that failed counts with what it took"},
	{"ttft", distribution, seconds, "from an attempt's being sent to its first output"},
	{"inter_token", distribution, seconds, "time a token, of an attempt, after its first"},
	{"slot_wait", distribution, seconds, "a call's waits for a slot of the pacer"},
	{"rate_wait", distribution, seconds, "a call's waits for a rate limit of the pacer"},
	{"backoff", distribution, seconds, "a call's waits between its attempts"},
	{"queue", distribution, seconds, "a call's waits for slots and rate limits together"},
	{"step", distribution, seconds, "from the end of one step of an agent to the end of the next"},
	{"task", distribution, seconds, "from when a task was there to its end; one that failed counts with what it took"},
	{"tool", distribution, seconds, "a call of a tool"},

	{"tasks", outcomes, count, "tasks that ended, also those that failed"},
	{"calls", outcomes, count, "calls that ended, also those that failed"},
	{"attempts", outcomes, count, "attempts begun; failed(attempts) are those that ended otherwise than well"},
	{"retries", events, count, "attempts that were not the first of their call"},
	{"steps", events, count, "steps that agents finished"},
	{"tools", events, count, "calls of tools that ended"},
	{"stalls", events, count, "times that no step had finished for watchdog.stall_after although there was work"},
	{"tokens", events, count, "tokens received"},
	{"wasted_tokens", events, count, "tokens received that are part of no answer"},

	{"tokens_per_s", number, perSecond, "tokens received"},
	{"useful_tokens_per_s", number, perSecond, "tokens received that are part of an answer"},
	{"goodput", number, share, "share of the tokens received that are part of an answer"},
	{"stalled_share", number, share, "share of the time that went by in stalls, from the step before each"},
	{"error_rate", number, share, "share of the calls that ended that failed"},
	{"retry_rate", number, share, "share of the attempts that were not the first of their call"},
	{"amplification", number, count, "attempts for each call"},

	{"agents", level, count, "agents at work, sub-agents included"},
	{"in_flight", level, count, "calls that have begun and not ended"},
	{"slots_in_use", level, count, "slots of the pacer that are held"},

	{"rss", reading, bytes, "resident memory of this process"},
	{"heap", reading, bytes, "what the latest garbage collection of this process found in use"},
	{"goroutines", reading, count, "goroutines of this process"},
	{"open_files", reading, count, "file descriptors of this process, sockets included"},
	{"open_bodies", reading, count, "response bodies that this process opened and has not closed"},
}

var aggregates = [...]struct{ name, meaning string }{
	{quantile, "a quantile: p50, p90, p95, p99, p99.9 …: what that share of the values does not exceed"},
	{"med", "the median: p50"},
	{"avg", "the mean; of a level over time"},
	{"min", "the smallest"},
	{"max", "the largest"},
	{"last", "the latest"},
	{"count", "how many"},
	{"rate", "how many a second"},
	{"failed", "how many of them failed"},
	{"each", "in every window after the warm-up that has a value, instead of over the run: each(p95(call))"},
	{"growth", "robust slope after the warm-up, in % of where it began an hour, or in units an hour; 0 if noise explains it: growth(p95(call)), rss_growth"},
	{"drift", "the last third of the windows against the first, in %: drift(med(call)), tokens_per_s_drift"},
}

// unitName is how a number may be written.
type unitName struct {
	name    string
	of      unit
	factor  float64 // a number with this unit, times it, is in the base unit
	meaning string
}

var units = [...]unitName{
	{"us", seconds, 1e-6, "microseconds; µs too"},
	{"ms", seconds, 1e-3, "milliseconds"},
	{"s", seconds, 1, "seconds; 1m30s may be written as well"},
	{"m", seconds, 60, "minutes"},
	{"h", seconds, 3600, "hours"},
	{"d", seconds, 86400, "days"},
	{"%", share, 0.01, "percent; a share may be written 0.9 too"},
	{"B", bytes, 1, "bytes"},
	{"KiB", bytes, 1 << 10, "1,024 bytes"},
	{"MiB", bytes, 1 << 20, "1,024 KiB"},
	{"GiB", bytes, 1 << 30, "1,024 MiB"},
	{"kB", bytes, 1e3, "1,000 bytes"},
	{"MB", bytes, 1e6, "1,000 kB"},
	{"GB", bytes, 1e9, "1,000 MB"},
	{"/s", perSecond, 1, "a second"},
	{"/min", perSecond, 1. / 60, "a minute"},
	{"/h", perSecond, 1. / 3600, "an hour; of a growth after another unit: 5%/h, 2MiB/h, 10/h"},
}
