package probe

import (
	"fmt"
	"math"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// Sides is what either side has, at the end of the window unless it says otherwise.
type Sides struct {
	Clients int `json:"clients"` // programs whose goroutines were read
	// Calls of the clients, by what their goroutines wait for.
	Calls       int            `json:"calls"`
	CallsBefore int            `json:"calls_at_start"`
	ByStage     map[string]int `json:"by_stage"`
	Still       int            `json:"still"` // out at both ends of the window
	Ended       int            `json:"ended"` // out at its start, and not at its end
	Begun       int            `json:"begun"` // the other way round
	// Router is how many requests the router has, by RouterBy: its metrics, its log, or, where only
	// engines are seen, their queues and batches. The most and the least of the window. Nil: not known.
	Router      *int   `json:"router"`
	RouterLeast int    `json:"router_least"`
	RouterMost  int    `json:"router_most"`
	RouterBy    string `json:"router_by"`
	// Over the window, by the servers' counters; nil: no server shows it.
	Arrived  *int `json:"arrived"`  // requests with a body at the router
	Finished *int `json:"finished"` // requests that engines are done with
	Refused  *int `json:"refused"`  // responses of the router with status 429 or 503
	Errors   *int `json:"errors"`   // those with another status of 400 and more
	// Held is how many calls are out that the servers do not have: those that wait for a connection, and
	// those that wait for response headers beyond what the servers have.
	Held int `json:"held"`
	// StillStreams are the calls that read one answer all the time, and Lost how many of them are more
	// than what the router had at the end, by its metrics.
	StillStreams int `json:"still_streams"`
	Lost         int `json:"lost"`
}

// What RouterBy says.
const (
	byRouter  = "the router's metrics"
	byLog     = "the router's log"
	byEngines = "the engines' queues and batches"
)

// readSides counts.
func (p *prober) readSides() Sides {
	s := Sides{Clients: len(p.clients), ByStage: map[string]int{}}
	var stages [pacer.StageCount]int // of all calls, but for those that wait: of those that wait throughout
	for _, c := range p.clients {
		_, _, before := c.first.sentCalls()
		_, _, now := c.now().sentCalls()
		s.CallsBefore, s.Calls = s.CallsBefore+before, s.Calls+now
		s.Still, s.Ended, s.Begun = s.Still+c.still, s.Ended+c.ended, s.Begun+c.begun
		for i, n := range c.now().byStage {
			if n > 0 {
				s.ByStage[pacer.Stage(i).String()] += n
			}
		}
		for i := range c.now().calls {
			one := &c.now().calls[i]
			streaming := one.stage == pacer.StageStream || one.stage == pacer.StageFirstToken
			if streaming || one.since > 0 {
				stages[one.stage] += one.weight
			}
			if streaming && one.since > 0 {
				s.StillStreams += one.weight
			}
		}
	}
	p.serverSide(&s)
	d := p.moved()
	s.Arrived, s.Finished = known(d.arrived), known(d.finished)
	s.Refused, s.Errors = known(d.refused.busy429+d.refused.busy503), known(d.refused.errors4xx+d.refused.errors5xx)
	if d.refused.busy429 < 0 {
		s.Refused, s.Errors = nil, nil
	}
	if s.Router != nil {
		room := max(0, s.RouterMost-stages[pacer.StageFirstToken]-stages[pacer.StageStream])
		if s.RouterBy == byLog {
			room = s.RouterMost // in most logs a request is open until its headers only
		}
		s.Held = stages[pacer.StageConnect] + max(0, stages[pacer.StageHeaders]-room)
		if s.RouterBy == byRouter {
			s.Lost = max(0, s.StillStreams-*s.Router)
		}
	}
	return s
}

func known(v float64) *int {
	if v < 0 {
		return nil
	}
	n := int(min(v, math.MaxInt32))
	return &n
}

// serverSide finds out how many requests the servers have.
func (p *prober) serverSide(s *Sides) {
	for i, r := range p.readings {
		v, ok := r.load()
		if !ok {
			continue
		}
		n := int(min(max(v, 0), math.MaxInt32))
		if s.Router == nil {
			s.RouterLeast, s.RouterMost = n, n
		}
		s.Router, s.RouterLeast, s.RouterMost = &n, min(s.RouterLeast, n), max(s.RouterMost, n)
		s.RouterBy = byEngines
		if _, router := p.readings[i].value(harness.GaugeRouterInFlight); router {
			s.RouterBy = byRouter
		}
	}
	if l := p.logs[1]; l != nil && l.view.Started > 0 && (s.Router == nil || s.RouterBy != byRouter) {
		n := len(l.view.Open)
		s.Router, s.RouterLeast, s.RouterMost, s.RouterBy = &n, n, n, byLog
	}
}

// hasWho names who has the requests on the servers' side.
func (s *Sides) hasWho() string {
	switch s.RouterBy {
	case byEngines:
		return "the engines have"
	case byLog:
		return "the router's log shows as started and not finished"
	}
	return "the router has"
}

// hasNow says how many requests the servers had at the end.
func (s *Sides) hasNow() string { return s.hasWho() + " " + plural(*s.Router, "request") }

// hasText says how many requests the servers have.
func (s *Sides) hasText() string {
	if s.Router == nil {
		return ""
	}
	text := fmt.Sprintf("%s %s", s.hasWho(), plural(s.RouterMost, "request"))
	if s.RouterLeast != s.RouterMost {
		text = fmt.Sprintf("%s %d to %s (%d now)", s.hasWho(), s.RouterLeast, plural(s.RouterMost, "request"), *s.Router)
	}
	return text
}

// doing says what so many calls do.
func doing(stage string, n int) string {
	switch stage {
	case "slot":
		return verb(n, "waits for a slot", "wait for a slot")
	case "rate":
		return verb(n, "waits for the rate limit", "wait for the rate limit")
	case "backoff":
		return verb(n, "waits before another attempt", "wait before another attempt")
	case "connect":
		return verb(n, "waits for a connection", "wait for a connection")
	case "headers":
		return verb(n, "waits for response headers", "wait for response headers")
	case "first_token":
		return verb(n, "waits for a first token", "wait for a first token")
	case "stream":
		return verb(n, "reads an answer", "read an answer")
	case "tool":
		return verb(n, "runs a command", "run a command")
	}
	return verb(n, "is in stage ", "are in stage ") + stage
}

// clientText says what the clients' calls do.
func (s *Sides) clientText() string {
	var parts []string
	total := 0
	for i := range pacer.StageCount {
		name := pacer.Stage(i).String()
		if n := s.ByStage[name]; n > 0 && name != "think" && name != "done" {
			parts = append(parts, fmt.Sprintf("%d %s", n, doing(name, n)))
			total += n
		}
	}
	if len(parts) == 0 {
		return "no call of the client is out"
	}
	return fmt.Sprintf("of the client's calls %s", list(parts))
}

// stillText says how many of the calls were there all the time.
func (s *Sides) stillText(window time.Duration) string {
	if s.CallsBefore == 0 && s.Calls == 0 {
		return ""
	}
	return fmt.Sprintf("%s out at the start of the %s watched: %d of them still were at the end, %d had ended, and %d had begun meanwhile",
		plural(s.CallsBefore, "call")+" "+verb(s.CallsBefore, "was", "were"), span(window), s.Still, s.Ended, s.Begun)
}
