package load

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/agents/workload"
)

// Row is what came of a plan. Lengths of time are in seconds of the run's own clock. In JSON it is an
// element of "rows" of the schema wedge.load/1.
type Row struct {
	Load Load `json:"load"`

	// Window is from the first request to the end of the run.
	Window float64 `json:"window_s"`
	// AllDone is when the last request had ended. nil: the end of the run has cut off some.
	AllDone     *float64 `json:"all_done_s"`
	Interrupted bool     `json:"interrupted"`

	Requests Counts     `json:"requests"`
	Failures []Failures `json:"failures"` // the most frequent first

	// Per second of the window. Tokens are counted where they arrived within it, also those of
	// requests that were not answered in full.
	RequestsPerS     float64 `json:"requests_per_s"` // answered
	GoodputPerS      float64 `json:"goodput_per_s"`  // answered within the timeout, counted from the intended start
	OutputTokensPerS float64 `json:"output_tokens_per_s"`

	OutputTokens       int     `json:"output_tokens"`
	OutputTokensFailed int     `json:"output_tokens_of_failed"` // thrown away with the requests
	PromptTokensMean   float64 `json:"prompt_tokens_mean"`      // as the server counts them; 0: it does not say

	// From the intended start: of a closed loop, the end of the request before.
	FirstToken *Quantiles `json:"ttft"`
	Whole      *Quantiles `json:"e2e"` // of answered requests
	// InterToken is the mean of each answered stream: the time from its first token to its last by the
	// tokens between. Gaps are the times between two arrivals, of all streams together.
	InterToken *Quantiles `json:"inter_token_mean"`
	Gaps       *Quantiles `json:"gaps"`
	// StartLate is by how much requests of an open loop began after their intended start.
	StartLate *Quantiles `json:"start_late"`
	// OwnLag is how late the generator itself came back from sleeping. nil: in virtual time it is 0.
	OwnLag *Quantiles `json:"generator_lag"`

	Gauges   *Gauges  `json:"gauges"` // nil: none
	Batching Batching `json:"batching"`

	Notes        []string `json:"notes"`         // what a reader of the numbers must know
	NotExercised []string `json:"not_exercised"` // what servers may do otherwise that this load did not ask of them
}

// Load is the plan in the form of the result. Zero means none.
type Load struct {
	Loop         string          `json:"loop"` // closed or open
	Concurrency  int             `json:"concurrency"`
	RatePerS     float64         `json:"rate_per_s,omitempty"`
	Arrivals     Arrivals        `json:"arrivals,omitempty"`
	Requests     int             `json:"requests,omitempty"`
	Duration     float64         `json:"duration_s,omitempty"`
	Timeout      float64         `json:"timeout_s"`
	Backoff      float64         `json:"backoff_s"`
	PromptTokens workload.Tokens `json:"prompt_tokens"`
	MaxTokens    int             `json:"max_tokens"`
	Rounds       int             `json:"rounds"`
	Stream       bool            `json:"stream"`
	IgnoreEOS    bool            `json:"ignore_eos"`
	Abandon      float64         `json:"abandon"`
	AbortAfter   float64         `json:"abort_after_s,omitempty"`
}

// Counts says what became of the requests.
type Counts struct {
	Sent   int `json:"sent"`
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Left   int `json:"left"` // the client left in the middle, as planned
	Cut    int `json:"cut"`  // under way at the end of the run
	Unsent int `json:"unsent"`
}

// Gauges are the servers' gauges over the window, with the load they were read under.
type Gauges struct {
	Samples       int     `json:"samples"`
	SamplesFailed int     `json:"samples_failed"`
	OutMin        float64 `json:"out_min"` // requests that were out while a sample was taken
	OutMean       float64 `json:"out_mean"`
	OutMax        float64 `json:"out_max"`
	// FullLoad says that only samples count at which at least nine tenths of the clients had a request
	// out. Otherwise all do at which anybody had.
	FullLoad bool    `json:"full_load"`
	Values   []Gauge `json:"values"` // in the order in which servers show them
}

// Gauge is one gauge over the samples.
type Gauge struct {
	Name string  `json:"name"`
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	// PerS is the growth of a counter (a name that ends in _total) from the first sample to the last.
	PerS float64 `json:"per_s,omitempty"`
}

// Stalled says that requests were sent and none was answered: all that ended have failed, or nothing
// arrived at all. A run that was too short for any answer, or whose clients all left, is not stalled.
func (r *Row) Stalled() bool {
	c := &r.Requests
	return c.Sent > 0 && c.OK == 0 && c.Left == 0 && !r.Interrupted && (c.Failed > 0 || r.OutputTokens == 0)
}

// row sums up a run that has ended, in whatever way.
func (g *generator) row() *Row {
	rec := &g.rec
	if !g.complete {
		g.ended = g.w.Now()
	}
	rec.cut += rec.out // processes that were unwound cannot count
	rec.out = 0
	r := &Row{
		Load: loadOf(g.plan), Window: g.ended.Sub(g.began).Seconds(), Interrupted: !g.complete,
		Requests:     Counts{Sent: rec.sent, OK: rec.ok, Failed: rec.failed, Left: rec.left, Cut: rec.cut},
		Failures:     rec.worst(),
		OutputTokens: rec.tokens, OutputTokensFailed: rec.tokensLost,
		FirstToken: rec.first.quantiles(), Whole: rec.whole.quantiles(), InterToken: rec.itl.quantiles(),
		Gaps: rec.gaps.quantiles(), StartLate: rec.late.quantiles(), OwnLag: g.lag.quantiles(),
		Gauges: g.sampler.gauges(), Batching: batching(g.sampler, rec.whole.quantiles()),
	}
	if g.arrivals != nil {
		r.Requests.Unsent = g.arrivals.unsent()
	}
	if r.Requests.Cut+r.Requests.Unsent == 0 && g.complete && rec.sent > 0 {
		done := rec.lastEnd.Sub(g.began).Seconds()
		r.AllDone = &done
	}
	if r.Window > 0 {
		r.RequestsPerS, r.GoodputPerS = float64(rec.ok)/r.Window, float64(rec.good)/r.Window
		r.OutputTokensPerS = float64(rec.tokens) / r.Window
	}
	if rec.promptsCounted > 0 {
		r.PromptTokensMean = float64(rec.promptTokens) / float64(rec.promptsCounted)
	}
	r.Notes, r.NotExercised = g.notes(), notExercised(g.plan, r.PromptTokensMean)
	return r
}

func loadOf(p *Plan) Load {
	l := Load{
		Loop: "closed", Concurrency: p.clientsMax(), Requests: p.Requests, Duration: p.Duration.Seconds(),
		Timeout: p.Timeout.Seconds(), Backoff: p.Backoff.Seconds(), PromptTokens: p.PromptTokens, MaxTokens: p.MaxTokens,
		Rounds: p.Rounds, Stream: p.Stream, IgnoreEOS: p.IgnoreEOS, Abandon: p.Abandon,
	}
	if p.Rate > 0 {
		l.Loop, l.RatePerS, l.Arrivals = "open", p.Rate, p.Arrivals
	}
	if p.Abandon > 0 {
		l.AbortAfter = p.AbortAfter.Seconds()
	}
	return l
}

func (s *sampler) gauges() *Gauges {
	r := s.best()
	if r.samples == 0 {
		return nil
	}
	out := &Gauges{
		Samples: r.samples, SamplesFailed: s.failed, FullLoad: r == &s.full,
		OutMin: r.out.min, OutMean: r.out.mean(), OutMax: r.out.max,
	}
	for _, v := range r.gauges {
		gauge := Gauge{Name: v.name, Min: v.values.min, Mean: v.values.mean(), Max: v.values.max}
		if strings.HasSuffix(v.name, "_total") && r.last > r.first {
			gauge.PerS = (v.last - v.first) / r.last.Sub(r.first).Seconds()
		}
		out.Values = append(out.Values, gauge)
	}
	return out
}

// notes says what the numbers alone do not.
func (g *generator) notes() []string {
	rec, notes := &g.rec, []string{}
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if rec.cut > 0 && g.complete {
		say("%s under way at the end, the oldest for %s: they are in no latency but that of their first token", count(rec.cut, "request was", "requests were"), round(rec.cutOldest))
	}
	if rec.ok == 0 && rec.failed == 0 && rec.tokens > 0 {
		say("no request was answered in full within the run: want a longer one, or answers of fewer tokens")
	}
	if g.tooMany {
		say("the run ended after %d requests, the most there are in virtual time unless a number is given", unboundMax)
	}
	if g.arrivals != nil && g.atBound {
		say("all %d clients were busy at times, and requests waited for one: their latencies show it", g.plan.clientsMax())
	}
	if n := rec.noDone; n > 0 {
		say("%s without [DONE]", count(n, "complete answer came", "complete answers came"))
	}
	if n := rec.noUsage; n > 0 {
		say("%s without usage: their tokens are estimated from the text", count(n, "answer came", "answers came"))
	}
	if n := rec.comments; n > 0 {
		say("%s arrived", count(n, "SSE comment", "SSE comments"))
	}
	if n := g.sampler.failed; n > 0 {
		say("%s of the gauges failed, the first with: %v", count(n, "reading", "readings"), g.sampler.err)
	}
	return notes
}

// longContext is from which number of tokens on a prompt counts as long. The hang of the incident
// (I-6, H9) needed such ones.
const longContext = 8192

func notExercised(p *Plan, promptTokensMean float64) []string {
	var out []string
	if promptTokensMean < longContext {
		what := "long contexts"
		if promptTokensMean > 0 {
			what += fmt.Sprintf(" (prompts had %.0f tokens on average)", promptTokensMean)
		}
		out = append(out, what)
	}
	if p.Rounds == 1 {
		out = append(out, "several rounds with growing contexts")
	}
	out = append(out, "tool calls")
	if p.Abandon == 0 && p.Timeout == 0 {
		out = append(out, "clients that leave early")
	}
	return out
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
