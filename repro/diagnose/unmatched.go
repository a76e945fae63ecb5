package diagnose

import (
	"fmt"
	"strings"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Sides of a request.
const (
	SideAgents  = "agents"
	SideRouter  = "router"
	SideEngines = "engines"
)

// Unmatched is a request that one side has and another does not: a finding by itself. Requests that are
// younger than what a log or a gauge takes to tell of them are none.
type Unmatched struct {
	ID     string  `json:"id,omitempty"` // of the attempt, or as the router's log has it; empty: known by number alone
	Calls  int     `json:"calls"`        // how many it stands for: 1 where there is an id
	Side   string  `json:"side"`         // who has it, one of the Side constants
	Lacks  string  `json:"lacks"`        // who does not have it
	SinceS float64 `json:"since_s"`      // instant of the run from which the side is known to have it
	Means  string  `json:"means"`        // what that says, in plain words
}

// unmatchedMax bounds the entries with an id.
const unmatchedMax = 64

// What it means that one side has a request and another does not.
const (
	meansNeverArrived = "sent, and nothing of the servers knows of it: it was lost on the way there"
	meansWithheld     = "answered by the router's log, and nothing has arrived: the answer was lost on the way back"
	meansHeldBack     = "the router has sent its response headers, and they have not arrived though the engines go on: something between holds the answer back"
	meansDone         = "the router has done with it, and its agent still waits for the rest: the end of the answer never came"
	meansGone         = "its stream has begun, and no engine has it any more: it was finished, forgotten or cut off, and nobody told the agent"
	meansLost         = "open in the router's log, but counted by neither its gauge nor an engine: the router has lost it"
	meansHeld         = "the router has it, and no engine's queue or batch has room for it: it waits at the router, or was lost behind it"
	meansClientLeft   = "its client has left before the response headers, after which such a log never closes the line: by itself it does not show that the servers still have it"
	meansLeftOpen     = "its client has left, and the router goes on with it: the servers work for nobody"
	meansStranger     = "no agent of this run has left a request early: it is of another client, or of one before"
	meansZombies      = "in the decode side's queues or batch, and no agent waits for them: of clients that have left, or of others"
	meansPinned       = "in prefill's inflight queue beyond those that agents wait for: entries that nobody will fetch"
)

// findUnmatched lists what one side has and another does not, once it is known where each call is.
func (r *reading) findUnmatched() {
	for i := range r.calls {
		r.unmatchedCall(&r.calls[i])
	}
	if r.sides.Usable {
		r.unmatchedLines()
	}
	g := &r.gauges
	if n := int(g.excess.min); n >= 1 && !g.stands(decodeTokens) {
		r.addUnmatched(Unmatched{Calls: n, Side: SideEngines, Lacks: SideAgents, Means: meansZombies}, g.excess.from)
	}
	n := int(r.pins.entries)
	if r.pins.longest <= r.oldestSent() {
		n -= r.sum(fateInflight) // else prefill has stood still since before any of these was sent
	}
	if left, _ := r.leftEarly(); r.pins.open && left > 0 && n >= 1 {
		r.addUnmatched(Unmatched{Calls: n, Side: SideEngines, Lacks: SideAgents, Means: meansPinned}, r.now.At.Add(-r.pins.longest))
	}
}

// unmatchedCall looks at one of the agents' requests.
func (r *reading) unmatchedCall(c *callReading) {
	if !sent(c.CallState) || c.fate == fateMoving || c.fate == fateFresh || age(r.now.At, c.Sent) < logSlack {
		return
	}
	u := Unmatched{ID: c.AttemptID, Calls: 1, Side: SideAgents, Lacks: SideEngines}
	switch {
	case c.lost:
		u.Side, u.Means = SideRouter, meansLost
	case c.withheld && c.fate == fateWithheld:
		u.Side, u.Lacks, u.Means = SideRouter, SideAgents, meansWithheld
	case c.withheld && c.line == lineFinished && age(r.now.At, r.lines.answers[c.AttemptID].At) >= freshMax:
		u.Side, u.Lacks, u.Means = SideRouter, SideAgents, meansHeldBack
	case c.fate == fateNeverReached:
		u.Lacks, u.Means = SideRouter, meansNeverArrived
	case c.gone && c.Stage != pacer.StageHeaders:
		u.Lacks, u.Means = SideRouter, meansDone
	case c.fate == fateSilent || c.fate == fateExpiring:
		u.Means = meansGone
	case c.fate == fateAtRouter && r.gauges.loaded > 0 && !r.routerQueues() && !r.gauges.stands(prefillTokens):
		u.Side, u.Means = SideRouter, meansHeld
	default:
		return
	}
	r.addUnmatched(u, c.Sent)
}

// unmatchedLines looks at the requests that the router's log has open and no agent waits for.
func (r *reading) unmatchedLines() {
	left, _ := r.leftEarly()
	means := meansClientLeft
	switch {
	case left == 0:
		means = meansStranger
	case r.lines.form == formEnd:
		means = meansLeftOpen
	}
	for j := range r.now.Router.Open {
		if q := &r.now.Router.Open[j]; !r.lines.ours(q) && age(r.now.At, q.Since) >= logSlack {
			r.addUnmatched(Unmatched{ID: q.ID, Calls: 1, Side: SideRouter, Lacks: SideAgents, Means: means}, q.Since)
		}
	}
}

// addUnmatched adds to the list. What it has no room for is counted in one entry of its kind without ids.
func (r *reading) addUnmatched(u Unmatched, since sim.Instant) {
	u.SinceS = seconds(age(since, 0))
	if len(r.sides.Unmatched) >= unmatchedMax {
		u.ID = ""
		for i := range r.sides.Unmatched {
			if o := &r.sides.Unmatched[i]; o.ID == "" && o.Side == u.Side && o.Lacks == u.Lacks && o.Means == u.Means {
				o.Calls += u.Calls
				o.SinceS = min(o.SinceS, u.SinceS)
				return
			}
		}
	}
	r.sides.Unmatched = append(r.sides.Unmatched, u)
}

// Findings tells of the unmatched requests in sentences, those of one kind together: who has them, who does
// not, which they are, and what that means.
func (s *Sides) Findings() []string {
	type kind struct{ side, lacks, means string }
	var kinds []kind
	of := map[kind][]*Unmatched{}
	for i := range s.Unmatched {
		u := &s.Unmatched[i]
		k := kind{u.Side, u.Lacks, u.Means}
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], u)
	}
	var out []string
	for _, k := range kinds {
		out = append(out, finding(k.side, k.lacks, k.means, of[k]))
	}
	return out
}

func finding(side, lacks, means string, all []*Unmatched) string {
	n, oldest := 0, all[0].SinceS
	var ids []string
	for _, u := range all {
		n += u.Calls
		oldest = min(oldest, u.SinceS)
		if u.ID != "" {
			ids = append(ids, u.ID)
		}
	}
	which := "by their number alone, without ids"
	if len(ids) > 0 {
		which = strings.Join(ids[:min(len(ids), idsShown)], ", ")
		if n > idsShown {
			which += fmt.Sprintf(" and %d more", n-idsShown)
		}
	}
	who := map[string]string{SideAgents: "to no agent", SideRouter: "not to the router", SideEngines: "to no engine"}[lacks]
	at := map[string]string{SideAgents: "the agents", SideRouter: "the router", SideEngines: "the engines"}[side]
	noun := "request"
	if means == meansWithheld || means == meansHeldBack {
		noun = "answer"
	}
	since := "since"
	if n > 1 {
		since = "the first since"
	}
	return fmt.Sprintf("%s known to %s and %s: %s (%s %s s of the run). %s.",
		does(n, noun, "is", "are"), at, who, which, since, trimmed(oldest), upper(means))
}

// trimmed writes an instant in seconds with one decimal at most.
func trimmed(s float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", s), ".0") }
