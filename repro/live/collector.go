package live

import (
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"example.com/wedge/repro/series"
)

// registry returns what /metrics has: the run, the Go runtime, and the process.
func (s *Server) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		&collector{view: s.o.View, cumulative: s.o.Cumulative, metrics: describe()},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r
}

// collector makes metrics of a view's latest snapshot, and of what is counted of the run.
type collector struct {
	view    *View
	metrics map[string]described

	mu         sync.Mutex // cumulative is called by one at a time
	cumulative func() (series.Cumulative, bool)
	latest     series.Cumulative // what was told last
	counted    bool              // it has been
}

var _ prometheus.Collector = (*collector)(nil)

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	b := batch{c.metrics, to}
	s := c.view.Latest()
	b.snapshot(s)
	if counted, ok := c.counts(); ok {
		b.counted(&counted, s)
	} else {
		b.counts(s)
	}
}

// counts asks for what is counted. A run that cannot be asked just now is as it was.
func (c *collector) counts() (series.Cumulative, bool) {
	if c.cumulative == nil {
		return series.Cumulative{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if counted, ok := c.cumulative(); ok {
		c.latest, c.counted = counted, true
	}
	return c.latest, c.counted
}

// batch is the metrics of one scrape.
type batch struct {
	metrics map[string]described
	to      chan<- prometheus.Metric
}

func (b batch) put(name string, value float64, labels ...string) {
	m := b.metrics[name]
	for i := range labels {
		labels[i] = text(labels[i])
	}
	b.to <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

func (b batch) buckets(name string, h *series.Buckets, labels ...string) {
	at, sum := make(map[float64]uint64, len(h.Bounds)), uint64(0)
	for i, bound := range h.Bounds {
		sum += h.Counts[i]
		at[bound] = sum
	}
	b.to <- prometheus.MustNewConstHistogram(b.metrics[name].desc, h.N, h.Sum, at, labels...)
}

// text makes text a label can have: the library refuses what is not UTF-8.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// snapshot puts what is so now.
func (b batch) snapshot(s *Snapshot) {
	b.put(nameRun, 1, s.Run.Scenario, strconv.FormatUint(s.Run.Seed, 10), s.Run.Clock, s.Run.Command, s.Run.Version)
	b.put(nameClock, s.AtS)
	for _, at := range s.Agents.ByStage {
		b.put(nameAgents, float64(at.N), at.Stage)
	}
	for _, at := range s.Calls.ByStage {
		b.put(nameCalls, float64(at.N), at.Stage)
	}
	b.put(nameSent, float64(s.Calls.Sent))
	age := 0.0
	if s.Oldest != nil {
		age = s.Oldest.AgeS
	}
	b.put(nameOldest, age)
	b.put(nameSlotsUsed, float64(s.Slots.InUse))
	b.put(nameSlotsMax, float64(s.Slots.Max))
	b.put(nameSlotsWaiting, float64(s.Slots.Waiting))
	for _, r := range s.Rates {
		b.put(nameRateLimit, r.PerS, r.Of)
		b.put(nameRateLeft, r.Left, r.Of)
	}
	seen := map[string]bool{}
	for _, g := range s.Gauges {
		if !seen[g.Name] { // a server may say what it likes
			seen[g.Name] = true
			b.put(nameGauge, g.Value, g.Name)
		}
	}
	if len(s.Gauges) > 0 {
		b.put(nameGaugesAge, s.GaugesAgeS)
	}
	b.put(nameIdle, s.IdleS)
	open := 0.0
	if st := s.Stall; st != nil {
		if st.Open {
			open = 1
		}
		b.put(nameLastStall, 1, strconv.Itoa(st.Episode), st.Outcome, st.Layer, st.Cause)
	}
	b.put(nameStallOpen, open)
	b.put(nameStalls, float64(s.Stalls))
	b.put(nameBackoffs, float64(s.Calls.Retries))
}

// counts puts the counts that the view knows.
func (b batch) counts(s *Snapshot) {
	b.put(nameTasksBegun, float64(s.Agents.Begun))
	b.put(nameTasksEnded, float64(s.Agents.Done), "done")
	b.put(nameTasksEnded, float64(s.Agents.Failed), "failed")
	b.put(nameSteps, float64(s.Agents.Steps))
	b.put(nameCallsEnded, float64(s.Calls.Completed), "ok")
	b.put(nameCallsEnded, float64(s.Calls.Failed), "failed")
	b.put(nameAttempts, float64(s.Calls.Attempts))
	b.put(nameTokens, float64(s.Tokens.Received))
	b.put(nameTokensWasted, float64(s.Tokens.Wasted))
}

// counted puts what a meter has counted. s says what run it is.
func (b batch) counted(c *series.Cumulative, s *Snapshot) {
	b.put(nameTasksBegun, float64(c.Tasks.Begun))
	b.put(nameTasksEnded, float64(c.Tasks.Done), "done")
	b.put(nameTasksEnded, float64(c.Tasks.Failed), "failed")
	b.put(nameSteps, float64(c.Steps))
	b.put(nameCallsEnded, float64(c.Calls.OK), "ok")
	b.put(nameCallsEnded, float64(c.Calls.Failed), "failed")
	b.put(nameAttempts, float64(c.Attempts.Begun))
	a := &c.Attempts
	for _, o := range [...]struct {
		name string
		n    int
	}{
		{"ok", a.OK}, {"timeout", a.Timeout}, {"status", a.Status}, {"network", a.Network},
		{"cancelled", a.Cancelled}, {"lost", a.Lost}, {"rejected", a.Rejected}, {"shed", a.Shed},
	} {
		b.put(nameAttemptsEnded, float64(o.n), o.name)
	}
	for _, l := range c.Timeouts {
		b.put(nameTimeouts, float64(l.N), l.Name)
	}
	for _, st := range c.Statuses {
		b.put(nameErrorAnswers, float64(st.N), st.Name)
	}
	b.put(nameTokens, float64(c.Tokens.Received))
	b.put(nameTokensWasted, float64(c.Tokens.Wasted))
	b.put(nameStalled, c.Stalls.S)
	for stage := firstOfCall; stage <= lastOfCall; stage++ {
		b.put(nameStage, c.StageS.Of(stage), stage.String())
	}
	b.histograms(c, s.Run.Model)
}

func (b batch) histograms(c *series.Cumulative, model string) {
	const chat, failed = "chat", "_OTHER"
	model = text(model)
	b.buckets(nameOperation, &c.Call, chat, model, "")
	b.buckets(nameOperation, &c.CallFailed, chat, model, failed)
	b.buckets(nameFirstChunk, &c.TTFT, chat, model)
	b.buckets(namePerChunk, &c.InterToken, chat, model)
	b.buckets(nameTokenUsage, &c.InputTokens, chat, model, "input")
	b.buckets(nameTokenUsage, &c.OutputTokens, chat, model, "output")
	b.buckets(nameAgent, &c.Task, "invoke_agent", "")
	b.buckets(nameAgent, &c.TaskFailed, "invoke_agent", failed)
	b.buckets(nameTool, &c.Tool, "execute_tool")
	b.buckets(nameWait, &c.SlotWait, "slot")
	b.buckets(nameWait, &c.RateWait, "rate")
	b.buckets(nameWait, &c.Backoff, "backoff")
}
