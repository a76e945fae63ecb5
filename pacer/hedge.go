package pacer

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
)

// Hedge says when a call that has waited for long is sent a second time. The first of the attempts
// to get as far as On wins; the others are given up, and what they have received is wasted. The zero
// value of the block is off. Source: Dean and Barroso, The Tail at Scale, 2013.
//
// A further attempt runs under the slot of its call. It needs a place in the rate, and one that would
// have to wait for it is not made.
type Hedge struct {
	// After is how long an attempt waits before another one joins it, counted from its start.
	After time.Duration `json:"after_ns,omitzero" yaml:"after,omitzero"`
	// Quantile learns that wait: the latest attempt has waited longer than this share of the Window
	// latest ones that got as far as On. After stands in until there are MinSamples of them; without
	// it there are no hedges until then.
	Quantile   float64 `json:"quantile,omitzero" yaml:"quantile,omitzero"`
	Window     int     `json:"window,omitzero" yaml:"window,omitzero"`           // samples; 0 means 100
	MinSamples int     `json:"min_samples,omitzero" yaml:"min_samples,omitzero"` // 0 means 20
	// On is what is waited for, and what wins. The zero value is HedgeOnFirstToken.
	On HedgeOn `json:"on,omitzero" yaml:"on,omitzero"`
	// Tied sends the second attempt at once instead: two queue, and the first to start cancels the
	// other.
	Tied bool `json:"tied,omitzero" yaml:"tied,omitzero"`
	// Max is how many attempts may join the first one. 0 means 1.
	Max int `json:"max,omitzero" yaml:"max,omitzero"`
	// Share bounds the attempts that join others, as a share of the calls. It must be set, unless a
	// retry budget bounds them or Tied is set.
	Share float64 `json:"share,omitzero" yaml:"share,omitzero"`
}

// HedgeOn is how far an attempt has to come to win against the others of its call.
type HedgeOn string

// How far it may have to come.
const (
	HedgeOnHeaders    HedgeOn = "headers"     // response headers
	HedgeOnFirstToken HedgeOn = "first_token" // output
	HedgeOnAnswer     HedgeOn = "answer"      // all of it
)

// enabled reports whether there are hedges at all.
func (h Hedge) enabled() bool { return h.After > 0 || h.Quantile > 0 || h.Tied }

// Validate says what is wrong with the block in one line, or returns nil.
func (h Hedge) Validate() error {
	const attemptsMost, windowMax = 10, 100_000
	switch {
	case h == (Hedge{}):
		return nil
	case h.After != 0 && (h.After < durationMin || h.After > durationMax):
		return fmt.Errorf("after: %v, want 0 (off) or a duration from %v to %v", h.After, durationMin, durationMax)
	case !(h.Quantile >= 0 && h.Quantile < 1):
		return fmt.Errorf("quantile: %v, want 0 (off) or a share below 1", h.Quantile)
	case !h.enabled():
		return fmt.Errorf("after: 0s, want a duration, a quantile, or tied: nothing says when to hedge")
	case h.Tied && (h.After > 0 || h.Quantile > 0):
		return fmt.Errorf("tied: true with after or quantile, want one of them: a tied attempt does not wait")
	case h.Window < 0 || h.Window > windowMax:
		return fmt.Errorf("window: %d, want 0 (the default) or a number of samples up to %d", h.Window, windowMax)
	case h.MinSamples < 0 || h.MinSamples > h.window():
		return fmt.Errorf("min_samples: %d, want 0 (the default) or a number up to the window, which is %d", h.MinSamples, h.window())
	case h.Max < 0 || h.Max > attemptsMost:
		return fmt.Errorf("max: %d, want 0 (one) or a number up to %d", h.Max, attemptsMost)
	case !(h.Share >= 0 && h.Share <= attemptsMost):
		return fmt.Errorf("share: %v, want 0 (off) or a share of the calls up to %d", h.Share, attemptsMost)
	}
	switch h.On {
	case "", HedgeOnHeaders, HedgeOnFirstToken, HedgeOnAnswer:
		return nil
	}
	return fmt.Errorf("on: %q, want one of %s, %s, %s", h.On, HedgeOnHeaders, HedgeOnFirstToken, HedgeOnAnswer)
}

// on is On with its zero value spelled out.
func (h *Hedge) on() HedgeOn {
	if h.On == "" {
		return HedgeOnFirstToken
	}
	return h.On
}

// window is Window with its zero value spelled out.
func (h Hedge) window() int {
	const windowDefault = 100
	if h.Window > 0 {
		return h.Window
	}
	return windowDefault
}

// estimator is the rule by which the wait before a hedge is learnt.
func (h Hedge) estimator() adaptive.Config {
	return adaptive.Config{Limit: adaptive.LimitFirstToken, Rule: adaptive.RuleQuantile, Quantile: h.Quantile,
		Window: h.window(), MinSamples: h.minSamples(), Initial: h.After, NoDouble: true}
}

// minSamples is MinSamples with its zero value spelled out.
func (h Hedge) minSamples() int {
	const samplesDefault = 20
	if h.MinSamples > 0 {
		return h.MinSamples
	}
	return min(samplesDefault, h.window())
}

// hedgeAfter returns how long an attempt that begins now waits for another one to join it.
func (k *controls) hedgeAfter(now sim.Instant, h *Hedge) (time.Duration, bool) {
	after := h.After
	if k.hedge != nil {
		after = k.hedge.Limit(now)
	}
	return after, after > 0
}

// mayHedge says whether another attempt may join those of a call, and pays for it.
func (k *controls) mayHedge(now sim.Instant, h *Hedge, attempts int) (cost float64, ok bool) {
	if h.Share > 0 && float64(k.hedges+1) > h.Share*float64(k.calls) {
		return 0, false
	}
	return k.budget.MayHedge(now, attempts)
}
