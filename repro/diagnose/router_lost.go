package diagnose

import (
	"fmt"
	"time"
)

// routerLost: requests have reached the router and gone no further, and nobody answers them.
func routerLost() cause {
	return cause{
		name: CauseRouterLost, outcome: Wedged, layer: LayerRouter,
		judge: judgeRouterLost,
		because: func(r *reading) string {
			s := r.atRouter()
			text := fmt.Sprintf("%s, up to %s ago, and got no further: no engine has %s in a queue or a batch", does(s.n, "request", "reached the router", "reached the router"), secs(s.most), verb(s.n, "it", "them"))
			if s.lost == s.n {
				text += ", and the router's own gauge does not count " + verb(s.n, "it", "them") + " either: the router has forgotten " + verb(s.n, "it", "them")
			}
			text += ". Nobody will answer."
			if s.slots > 0 {
				text += fmt.Sprintf(" The %s held meanwhile never %s back.", count(s.slots, "slot"), verb(s.slots, "comes", "come"))
			}
			return text
		},
		next: func(r *reading) []string {
			return []string{
				"--set policy.response_header=120s ends a request that gets no answer, and tries again",
				"look in the router's log for what followed their start: " + few(r.atRouter().ids),
				"search the engines' logs for the same ids: an engine that has answered them tells a lost answer from a lost request",
				"send one request through the router by hand: if it is answered, only these are lost; if not, look at how the router finds and pairs its workers",
				"stop all agents and look at router_in_flight and the open requests of its log again: with nobody asking, both must be 0",
			}
		},
	}
}

// atRouter sums up the requests that have been at the router, and in no engine, for deadMin or more.
type atRouter struct {
	n, lost int // all; those that the router's gauge does not count
	young   int // those that have not been there for so long
	slots   int // slots that they hold
	most    time.Duration
	ids     []string // of attempts
}

func (r *reading) atRouter() atRouter {
	var s atRouter
	for i := range r.calls {
		c := &r.calls[i]
		if c.fate != fateAtRouter {
			continue
		}
		if c.quiet < deadMin {
			s.young++
			continue
		}
		s.n++
		s.most = max(s.most, c.quiet)
		s.ids = append(s.ids, c.AttemptID)
		if c.lost {
			s.lost++
		}
		if c.HoldsSlot {
			s.slots++
		}
	}
	return s
}

// routerQueues says whether the router was seen to hold requests back in a queue of its own.
func (r *reading) routerQueues() bool { return r.gauges.recent[routerQueued].max > 0 }

func judgeRouterLost(r *reading, j *judgement) {
	s := r.atRouter()
	switch {
	case s.n+s.young == 0 && r.n[fateOpen] > 0 && r.gauges.loaded == 0:
		j.open(0.1*r.share(r.n[fateOpen]), "router_in_flight and the engines' queues, while requests are out: does an engine have them?")
		j.pro("the router's log has %s open, and nothing is known of the engines", count(r.n[fateOpen], "quiet request"))
		return
	case s.n+s.young == 0:
		j.refute("no request is at the router and in no engine")
		return
	case s.n == 0:
		j.open(0.2*r.share(s.young), "a capture half a minute later")
		j.pro("no engine accounts for %s that the router has", count(s.young, "request"))
		return
	case r.routerQueues():
		j.open(0.3*r.share(s.n), "router_queued over some minutes: does the router's queue move?")
		j.con("%s, %s: the router holds requests back in a queue of its own", r.gauges.recent[routerQueued].tell("router_queued"), r.gauges.under)
	case s.lost == s.n:
		j.support(0.85 * r.share(s.n))
	case r.gauges.stands(prefillTokens):
		j.open(0.4*r.share(s.n), "the engines' own logs and /v1/loads: an engine that has something stuck in a queue and runs nothing does not bring its gauges up to date")
		j.con("prefill computes nothing, so that zeros in its gauges may be older than the requests")
	default:
		j.support(0.7 * r.share(s.n))
	}
	j.beside = fmt.Sprintf("%s at the router and in no engine", does(s.n, "request", "is", "are"))
	r.routerObservations(j, &s)
}

func (r *reading) routerObservations(j *judgement, s *atRouter) {
	if r.sides.Usable {
		j.pro("the router's log has a started line and no finished one for %s, the oldest %s", count(s.n, "request"), ago(s.most))
	}
	g := &r.gauges.recent
	if s.lost > 0 && g[routerInFlight].ok() {
		j.pro("%s, which leaves %d of them uncounted, %s", g[routerInFlight].tell("router_in_flight"), s.lost, r.gauges.under)
	}
	if s.lost < s.n && g[routerInFlight].ok() {
		j.pro("the router counts %d of them as its own", s.n-s.lost)
	}
	j.pro("no engine's queue or batch has room for them in its gauge: %s", g[decodeRunning].tell("decode_running"))
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "other call"))
	}
	if r.now.Setup.HeaderLimit > 0 {
		j.con("the response header limit of %s will end them", secs(r.now.Setup.HeaderLimit))
	}
}
