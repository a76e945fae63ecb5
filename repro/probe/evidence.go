package probe

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// evidence puts what was seen into the form of a run's evidence. What is not known of the calls stays
// zero: their tokens, their rounds, their tasks.
func (p *prober) evidence() *harness.Evidence {
	from, to := p.window()
	ev := &harness.Evidence{
		Run: "probe", At: to,
		Setup: harness.Setup{
			StallAfter: p.o.For, SampleEvery: p.interval(), Servers: "live", HasGauges: p.gaugesSeen(), HasRouterLog: p.logs[1] != nil,
		},
		Agents: []harness.AgentState{}, Tools: []harness.ToolStats{}, Objects: []sim.ObjectState{}, Processes: []sim.ProcessState{},
	}
	ev.Calls = p.callsOf(from, to)
	if p.stillCalls() > 0 {
		ev.Episode, ev.Capture, ev.StalledFor = 1, 1, to.Sub(from)
	}
	ev.Samples = p.samples()
	if p.frozenDecode() != "" {
		for i := range ev.Samples {
			ev.Samples[i].Gauges = withoutFrozen(ev.Samples[i].Gauges)
		}
	}
	ev.Router = p.routerOf(ev.Calls)
	p.inferLimits(ev)
	ev.Window = p.totals()
	ev.Totals = ev.Window
	ev.Goroutines = p.goroutineView()
	return ev
}

// interval is how far apart the readings were: servers that answer late stretch it.
func (p *prober) interval() time.Duration {
	n := len(p.readings) - 1
	if n < 1 {
		return p.o.Every
	}
	return max(p.o.Every, p.readings[n].at.Sub(p.readings[0].at)/time.Duration(n))
}

// gaugesSeen says whether any server was ever read.
func (p *prober) gaugesSeen() bool {
	for _, r := range p.readings {
		if len(r.gauges) > 0 {
			return true
		}
	}
	return false
}

// stillCalls counts the calls that were out at both ends of the window.
func (p *prober) stillCalls() int {
	n := 0
	for _, c := range p.clients {
		n += c.still
	}
	if len(p.clients) == 0 {
		// Of those that were there all the time by number, so many may have been others.
		n = max(0, p.serverCalls()-int(max(0, p.moved().finished)))
	}
	return n
}

// serverCalls is how many requests the servers had throughout the window, where no client is seen.
func (p *prober) serverCalls() int {
	least := math.Inf(1)
	for _, r := range p.readings {
		if v, ok := r.load(); ok {
			least = min(least, v)
		}
	}
	if l := p.logs[1]; l != nil && math.IsInf(least, 1) {
		return len(l.view.Open)
	}
	if math.IsInf(least, 1) || len(p.readings) < 2 {
		return 0
	}
	return int(min(least, callsMax))
}

// callsMax bounds the calls that are made up from a gauge.
const callsMax = 100_000

// load is how many requests the servers had at a reading, by their own word: the router's, or the sum
// of the engines' queues and batches.
func (r *reading) load() (float64, bool) {
	if v, ok := r.value(harness.GaugeRouterInFlight); ok {
		return v, true
	}
	sum, any := 0.0, false
	for _, name := range [...]string{harness.GaugeDecodeRunning, harness.GaugeDecodeQueue, harness.GaugeDecodeTransfer, harness.GaugeDecodePrealloc} {
		if v, ok := r.value(name); ok {
			sum, any = sum+v, true
		}
	}
	prefill := 0.0
	for _, name := range [...]string{harness.GaugePrefillRunning, harness.GaugePrefillQueue, harness.GaugePrefillInflight, harness.GaugePrefillBootstrap} {
		if v, ok := r.value(name); ok {
			prefill, any = prefill+v, true
		}
	}
	return max(sum, prefill), any
}

// callsOf makes the calls: those of the clients' goroutines, or, where no client is seen, what the
// servers say that they have.
func (p *prober) callsOf(from, to sim.Instant) []pacer.CallState {
	calls := []pacer.CallState{}
	for _, c := range p.clients {
		now := c.now()
		for i := range now.calls {
			for range now.calls[i].weight {
				calls = append(calls, now.calls[i].state(now.at))
			}
		}
	}
	if len(p.clients) > 0 {
		return calls
	}
	if l := p.logs[1]; l != nil {
		for _, q := range l.view.Open {
			calls = append(calls, pacer.CallState{
				ID: q.ID, Agent: q.ID, AttemptID: q.ID, Stage: pacer.StageHeaders, Attempts: 1,
				Since: q.Since, Started: q.Since, Sent: q.Since,
			})
		}
		return calls
	}
	for i := range p.stillCalls() {
		name := "request " + strconv.Itoa(i+1)
		calls = append(calls, pacer.CallState{ID: name, Agent: name, Stage: pacer.StageFirstToken, Attempts: 1, Since: from, Started: from, Sent: from, Headers: from})
	}
	return calls
}

// state is a call as evidence has it. Its instants are the latest that they can be.
func (c *call) state(at sim.Instant) pacer.CallState {
	since := at.Add(-c.since)
	name := c.agent
	if name == "" {
		name = "goroutine " + strconv.FormatInt(c.goroutine, 10)
	}
	id := c.id
	if id == "" {
		id = name
	}
	s := pacer.CallState{ID: id, Agent: name, AttemptID: c.attempt, Stage: c.stage, Since: since, Started: since}
	if c.stage != pacer.StageSlot && c.stage != pacer.StageRate {
		s.Attempts = 1
	}
	if sent(c.stage) {
		s.Sent = since
	}
	if c.stage == pacer.StageStream || c.stage == pacer.StageFirstToken {
		s.Headers = since
	}
	if c.stage == pacer.StageStream {
		s.FirstToken = since
	}
	return s
}

// samples are the readings with the load that they were taken under. Between two dumps it is the
// lesser of the loads at their instants; where no client is seen, it is what the servers say.
func (p *prober) samples() []harness.Sample {
	out := make([]harness.Sample, 0, len(p.readings))
	for i, r := range p.readings {
		s := harness.Sample{At: r.at, Gauges: r.gauges}
		s.Sent, s.Streaming, s.Calls = p.loadAt(i)
		for j, err := range r.errs {
			if err != nil && s.Err == "" {
				s.Err = p.targets[j].shown() + ": " + err.Error()
			}
		}
		out = append(out, s)
	}
	return out
}

// loadAt is the load at the i-th reading.
func (p *prober) loadAt(i int) (sentOut, streaming, calls int) {
	if len(p.clients) == 0 {
		v, _ := p.readings[i].load()
		n := int(min(v, callsMax))
		if l := p.logs[1]; l != nil {
			n = max(n, len(l.view.Open))
		}
		return n, n, n
	}
	for _, c := range p.clients {
		a, b, all := c.first.sentCalls()
		if c.last != nil && i > 0 {
			a2, b2, all2 := c.last.sentCalls()
			if i == len(p.readings)-1 {
				a, b, all = a2, b2, all2
			} else {
				a, b, all = min(a, a2), min(b, b2), min(all, all2)
			}
		}
		sentOut, streaming, calls = sentOut+a, streaming+b, calls+all
	}
	return sentOut, streaming, calls
}

// routerOf is the router's log as evidence, if its ids are those of the calls: without ids in common,
// that a call is not in the log says nothing.
func (p *prober) routerOf(calls []pacer.CallState) *harness.RouterView {
	l := p.logs[1]
	if l == nil {
		return nil
	}
	ids := map[string]bool{}
	for i := range calls {
		if calls[i].AttemptID != "" {
			ids[calls[i].AttemptID] = true
		}
	}
	for _, q := range l.view.Open {
		if ids[q.ID] {
			view := l.view
			if l.cut && view.AnsweredFrom == 0 {
				view.AnsweredFrom = p.readings[0].at
			}
			return &view
		}
	}
	return nil
}

// inferLimits concludes limits of a client from what waits for them: calls that wait for a slot at a
// semaphore, and calls that wait for a connection while nobody dials, show that all are taken; the
// calls that are further along are taken for those who have them.
func (p *prober) inferLimits(ev *harness.Evidence) {
	var stages [pacer.StageCount]int
	for i := range ev.Calls {
		stages[ev.Calls[i].Stage]++
	}
	further := stages[pacer.StageHeaders] + stages[pacer.StageFirstToken] + stages[pacer.StageStream]
	if stages[pacer.StageSlot] > 0 && further+stages[pacer.StageConnect] > 0 {
		ev.Setup.Slots = further + stages[pacer.StageConnect]
		for i := range ev.Calls {
			s := ev.Calls[i].Stage
			ev.Calls[i].HoldsSlot = sent(s) || s == pacer.StageConnect
		}
	}
	if stages[pacer.StageConnect] > 0 && further > 0 && p.dials() == 0 {
		ev.Setup.ConnectionsMax = further
	}
}

// dials counts the goroutines of the clients that make a connection.
func (p *prober) dials() int {
	n := 0
	for _, c := range p.clients {
		d := c.now().dump
		for i := range d.Goroutines {
			if g := &d.Goroutines[i]; g.HasFunc("net/http.(*Transport).dialConn") || g.HasFunc("net.(*Dialer).DialContext") {
				n += g.N()
			}
		}
	}
	return n
}

// totals is what the router's counters say of the window.
func (p *prober) totals() harness.Totals {
	var t harness.Totals
	d := p.moved()
	whole := func(v float64) int { return int(min(max(v, 0), callsMax)) }
	t.Attempts429, t.Attempts503 = whole(d.refused.busy429), whole(d.refused.busy503)
	t.AttemptsStatus = t.Attempts429 + t.Attempts503 + whole(d.refused.errors4xx) + whole(d.refused.errors5xx)
	t.CallsCompleted = whole(d.finished)
	return t
}

// moved is how much the counters grew over the window: -1 where that is not known, as where a server
// was started anew.
func (p *prober) moved() counts {
	first, last := p.readings[0].counts, p.readings[len(p.readings)-1].counts
	grown := func(a, b float64) float64 {
		if a < 0 || b < a || len(p.readings) < 2 {
			return -1
		}
		return b - a
	}
	return counts{
		arrived: grown(first.arrived, last.arrived), finished: grown(first.finished, last.finished),
		refused: refused{
			grown(first.refused.busy429, last.refused.busy429), grown(first.refused.busy503, last.refused.busy503),
			grown(first.refused.errors4xx, last.refused.errors4xx), grown(first.refused.errors5xx, last.refused.errors5xx),
		},
	}
}

// goroutineView sums up the clients' dumps.
func (p *prober) goroutineView() *harness.GoroutineView {
	if len(p.clients) == 0 {
		return nil
	}
	v := &harness.GoroutineView{ByStage: []harness.StageCount{}, SameStack: -1}
	var byStage [pacer.StageCount]int
	for _, c := range p.clients {
		s := c.now()
		v.Total += s.goroutines
		v.Labelled += s.labelled
		for i, n := range s.byStage {
			byStage[i] += n
		}
	}
	for i, n := range byStage {
		if n > 0 {
			v.ByStage = append(v.ByStage, harness.StageCount{Stage: pacer.Stage(i).String(), Count: n})
		}
	}
	return v
}

// loadText says what load the readings were taken under.
func (p *prober) loadText() string {
	least, most := math.MaxInt, 0
	for i := range p.readings {
		n, _, _ := p.loadAt(i)
		least, most = min(least, n), max(most, n)
	}
	who := "the clients had"
	if len(p.clients) == 0 {
		who = "by the servers' own count there were"
	}
	text := fmt.Sprintf("%s %s out", who, plural(most, "request"))
	if least != most {
		text = fmt.Sprintf("%s %d to %s out", who, least, plural(most, "request"))
	}
	if n, _, calls := p.loadAt(len(p.readings) - 1); calls > n {
		text += fmt.Sprintf(", beside %s that were not sent at the end", plural(calls-n, "call"))
	}
	from, to := p.window()
	return fmt.Sprintf("%s in the %s watched (%s)", text, span(time.Duration(to-from)), plural(len(p.readings), "reading"))
}
