package report

import (
	"math"

	"example.com/wedge/repro"
)

// stallRow is a stall in a list.
type stallRow struct {
	N            int
	Since, Until string
	Long         string
	Open         bool
	Badge        *badge
	Cause, Layer string
	FromS, ToS   float64
}

// stallRows lists the stalls, with what they were judged to be where that is known.
func (v *view) stallRows(j *journal) (rows []stallRow) {
	if j == nil {
		return nil
	}
	for _, s := range j.stalls {
		r := stallRow{N: s.Episode, Since: span(s.Since.Seconds()), Until: span(s.To.Seconds()), Long: span(s.To.Sub(s.Since).Seconds()), Open: s.Open, FromS: s.Since.Seconds(), ToS: s.To.Seconds()}
		if e := v.judged(s.From.Seconds()); e != nil {
			b := outcomeBadge(e.Outcome)
			r.Badge, r.Cause, r.Layer = &b, clean(string(e.Cause)), clean(string(e.Layer))
		}
		rows = append(rows, r)
	}
	return rows
}

// judged is what a stall that was found at an instant was judged to be; nil if that is not known.
func (v *view) judged(atS float64) *repro.EpisodeFact {
	if v.Verdict == nil {
		return nil
	}
	for i := range v.Verdict.Run.Episodes {
		if e := &v.Verdict.Run.Episodes[i]; math.Abs(e.DetectedAtS-atS) < 0.002 {
			return e
		}
	}
	return nil
}
