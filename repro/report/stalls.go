package report

import (
	"example.com/wedge/repro/diagnose"
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
	for i, s := range j.stalls {
		r := stallRow{N: s.Episode, Since: span(s.Since.Seconds()), Until: span(s.To.Seconds()), Long: span(s.To.Sub(s.Since).Seconds()), Open: s.Open, FromS: s.Since.Seconds(), ToS: s.To.Seconds()}
		if v.Verdict != nil && i < len(v.Verdict.Run.Episodes) {
			e := v.Verdict.Run.Episodes[i]
			b := outcomeBadge(diagnose.Outcome(e.Outcome))
			r.Badge, r.Cause, r.Layer = &b, clean(string(e.Cause)), clean(string(e.Layer))
		}
		rows = append(rows, r)
	}
	return rows
}
