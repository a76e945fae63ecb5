package soak

import (
	"cmp"
	"slices"

	"example.com/wedge/repro/diagnose"
)

// Stalls is what is told of the stalls of a soak.
type Stalls struct {
	Total int  `json:"total"`
	Open  bool `json:"open"` // the last one had not ended
	// ByCause sums them up, the cause with the most time first.
	ByCause []CauseStalls `json:"by_cause"`
	// Kept are those whose evidence is kept: the first ones and the last, as watchdog.episodes_kept says.
	Kept []KeptStall `json:"kept"`
}

// CauseStalls is the stalls of one outcome and cause.
type CauseStalls struct {
	Outcome diagnose.Outcome `json:"outcome"`
	Layer   diagnose.Layer   `json:"layer"`
	Cause   diagnose.Cause   `json:"cause"`
	Stalls  int              `json:"stalls"`
	// TotalS is how long no step had finished, of all of them together, LongestS of the longest, which began to be one
	// at LongestAtS.
	TotalS     float64 `json:"total_s"`
	LongestS   float64 `json:"longest_s"`
	LongestAtS float64 `json:"longest_at_s"`
	Summary    string  `json:"summary"` // of the longest
}

// KeptStall is a stall with its evidence.
type KeptStall struct {
	Episode     int              `json:"episode"` // counted from 1; of a soak that was resumed on the wall, since then
	Dir         string           `json:"dir"`     // within the bundle
	Outcome     diagnose.Outcome `json:"outcome"`
	Cause       diagnose.Cause   `json:"cause"`
	DetectedAtS float64          `json:"detected_at_s"`
	EndedAtS    *float64         `json:"ended_at_s"` // nil: it had not ended
}

// tally counts stalls by cause as they are judged. The zero value has seen none.
type tally struct {
	patienceS float64 // of the watchdog: a stall is found so long after the last step
	byCause   []CauseStalls
	total     int
	episode   int // whose latest verdict is open; 0: none
	open      diagnose.Verdict
}

// see takes in the latest verdict of a stall.
func (t *tally) see(episode int, v diagnose.Verdict) {
	if t.episode != 0 && t.episode != episode {
		t.count(&t.open)
	}
	t.episode, t.open = episode, v
	if !v.Open() {
		t.count(&v)
		t.episode = 0
	}
}

// count adds a stall whose last verdict this is.
func (t *tally) count(v *diagnose.Verdict) {
	t.total++
	i := slices.IndexFunc(t.byCause, func(c CauseStalls) bool { return c.Outcome == v.Outcome && c.Cause == v.Cause })
	if i < 0 {
		i = len(t.byCause)
		t.byCause = append(t.byCause, CauseStalls{Outcome: v.Outcome, Layer: v.Layer, Cause: v.Cause})
	}
	c := &t.byCause[i]
	c.Stalls++
	lasted := v.StalledForS
	if v.EndedAtS != nil {
		lasted = *v.EndedAtS - v.DetectedAtS + t.patienceS
	}
	c.TotalS += lasted
	if lasted > c.LongestS {
		c.LongestS, c.LongestAtS, c.Summary = lasted, v.DetectedAtS, v.Summary
	}
}

// stalls returns what is to be told. A stall that is open counts with what is known of it.
func (t *tally) stalls(kept []KeptStall) Stalls {
	now := tally{patienceS: t.patienceS, byCause: slices.Clone(t.byCause), total: t.total}
	if t.episode != 0 {
		now.count(&t.open)
	}
	slices.SortStableFunc(now.byCause, func(a, b CauseStalls) int { return cmp.Compare(b.TotalS, a.TotalS) })
	if now.byCause == nil {
		now.byCause = []CauseStalls{}
	}
	if kept == nil {
		kept = []KeptStall{}
	}
	return Stalls{Total: now.total, Open: t.episode != 0, ByCause: now.byCause, Kept: kept}
}
