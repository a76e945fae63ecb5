package guest

import (
	"strings"
	"testing"

	"example.com/wedge/repro/diagnose"
)

func TestStatusText(t *testing.T) {
	var s Seen
	if got := s.StatusText(); got != "" {
		t.Errorf("%q, want nothing", got)
	}
	for _, status := range []int{503, 404, 503, 200} {
		s.refuse(status)
	}
	if got, want := s.StatusText(), "HTTP status 503: 2, HTTP status 404: 1, error in the stream: 1"; got != want || s.Refused != 4 {
		t.Errorf("%d refused, %q, want 4, %q", s.Refused, got, want)
	}
	for status := range 1000 {
		s.refuse(600 + status)
	}
	if len(s.Statuses) != statusesMax || s.Refused != 1004 {
		t.Errorf("%d kinds of %d refusals, want %d of 1004", len(s.Statuses), s.Refused, statusesMax)
	}
}

// Calls that were refused and never answered are told of, whatever else there is to say.
func TestRefusedCallsAreToldOf(t *testing.T) {
	for _, x := range []struct {
		name  string
		seen  Seen
		ended diagnose.Ending
		told  bool
	}{
		{"most", Seen{Requests: 120, Calls: 120, Completed: 48, Refused: 72, Statuses: []Status{{503, 72}}}, diagnose.EndedByItself, true},
		{"all were sent again", Seen{Requests: 192, Calls: 120, Completed: 120, Refused: 72, Statuses: []Status{{503, 72}}}, diagnose.EndedByItself, false},
		{"a few of many", Seen{Requests: 1000, Calls: 1000, Completed: 996, Refused: 4, Statuses: []Status{{500, 4}}}, diagnose.EndedByItself, false},
		{"one of one", Seen{Requests: 1, Calls: 1, Refused: 1, Statuses: []Status{{500, 1}}}, diagnose.EndedByItself, false},
		{"it may still send them again", Seen{Requests: 120, Calls: 120, Completed: 48, Refused: 72, Statuses: []Status{{503, 72}}}, diagnose.EndedInterrupted, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := &Result{Seen: x.seen, Ended: x.ended, Verdict: diagnose.Verdict{Summary: "It ended."}}
			r.unanswered()
			if told := strings.Contains(r.Verdict.Summary, "72 of the harness's 120 calls were refused (HTTP status 503: 72) and never answered."); told != x.told || len(r.Verdict.Next) > 0 != x.told {
				t.Errorf("summary %q, next %q", r.Verdict.Summary, r.Verdict.Next)
			}
		})
	}
}
