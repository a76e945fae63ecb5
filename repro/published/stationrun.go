package published

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/admission"
	"example.com/wedge/pacer/queue"
)

// stationRun is a run of a station under way, or over.
type stationRun struct {
	*station
	now     sim.Instant
	seconds []tally

	service, jitter, toss sim.Stream // by attempt
	gaps                  sim.Stream // between calls: one draw a call

	tries   []try
	waiting *queue.Queue // of indices of tries
	shed    []queue.Shed // of use to nobody; kept for its room
	serving int32        // index; -1: idle
	calls   int32
	budget  *admission.Budget

	speed    float64     // of the server
	load     float64     // multiple of the calls
	left     float64     // seconds of the service under way at full speed, as of since
	since    sim.Instant // when it began, or the speed last changed
	done     sim.Instant // when it ends; Never if the server stands or is idle
	nextCall sim.Instant
	edge     sim.Instant // of the trigger, next
	limits   int         // first of tries whose limit is still to come; limits expire in the order of sending
	later    agenda

	area float64 // of the number in the station over time, in seconds
}

// event is what can happen next. What falls on the same instant happens in this order.
type event uint8

const (
	eventEdge event = iota
	eventDone
	eventLimit
	eventResend
	eventCall
)

// run plays the station and returns what happened in each second.
func (s *station) run() *stationRun {
	stream := func(purpose string) sim.Stream { return sim.NewStream(s.seed, "station", purpose) }
	r := &stationRun{
		station: s, serving: -1, speed: 1, load: 1, done: sim.Never, edge: sim.Never,
		service: stream("service"), jitter: stream("jitter"), toss: stream("toss"), gaps: stream("gaps"),
		seconds: make([]tally, int(math.Ceil(s.horizon.Seconds()))),
		waiting: queue.New(s.queue), budget: admission.NewBudget(s.policy.RetryBudget),
	}
	if s.trigger.length > 0 {
		r.edge = sim.Instant(s.trigger.at)
	}
	r.tries = make([]try, 0, int(1.5*s.callsPerSecond*s.horizon.Seconds()))
	r.nextCall = r.now.Add(r.gap())
	for {
		t, what := r.next()
		if t >= sim.Instant(s.horizon) {
			r.advance(sim.Instant(s.horizon))
			return r
		}
		r.advance(t)
		switch what {
		case eventEdge:
			r.turn()
		case eventDone:
			r.finish()
		case eventLimit:
			r.expire()
		case eventResend:
			r.send(r.later.take())
		case eventCall:
			r.call()
		}
	}
}

// next returns what happens next, and when.
func (r *stationRun) next() (sim.Instant, event) {
	t, what := r.edge, eventEdge
	if r.done < t {
		t, what = r.done, eventDone
	}
	if at := r.nextLimit(); at < t {
		t, what = at, eventLimit
	}
	if at := r.later.next(); at < t {
		t, what = at, eventResend
	}
	if r.nextCall < t {
		t, what = r.nextCall, eventCall
	}
	return t, what
}

// advance moves the clock to t, and closes the seconds on the way.
func (r *stationRun) advance(t sim.Instant) {
	inside := r.inside()
	r.area += float64(inside) * t.Sub(r.now).Seconds()
	for i := int(r.now / sim.Instant(time.Second)); i < int(t/sim.Instant(time.Second)); i++ {
		r.seconds[i].inside = inside
	}
	r.now = t
}

// inside is how many attempts the station has, the one being served included.
func (r *stationRun) inside() int {
	if r.serving < 0 {
		return r.waiting.Len()
	}
	return r.waiting.Len() + 1
}

// second is the tally of now.
func (r *stationRun) second() *tally { return &r.seconds[r.now/sim.Instant(time.Second)] }

// call is a call that comes: its first attempt.
func (r *stationRun) call() {
	r.second().calls++
	r.send(try{call: r.calls, number: 1})
	r.calls++
	r.nextCall = r.now.Add(r.gap())
}

// gap is the time to the next call.
func (r *stationRun) gap() time.Duration {
	mean := float64(time.Second) / (r.callsPerSecond * r.load)
	if r.evenly {
		return time.Duration(mean)
	}
	return time.Duration(mean * exponential(r.gaps.Float64()))
}

// send is an attempt that reaches the station.
func (r *stationRun) send(a try) {
	r.second().attempts++
	a.sent = r.now
	id := len(r.tries)
	kind := admission.First
	if a.number > 1 {
		kind = admission.Retry
	}
	r.budget.Sent(r.now, kind)
	if !r.admitted(id, &a) {
		r.second().refused++
		if !r.silent {
			a.state = tryOver
		}
		r.tries = append(r.tries, a)
		if !r.silent {
			r.failed(&a, pacer.AttemptStatus)
		}
		return
	}
	r.tries = append(r.tries, a)
	if r.serving < 0 {
		r.begin()
	}
}

// admitted says whether the queue takes the attempt.
func (r *stationRun) admitted(id int, a *try) bool {
	if r.throttleAt > 0 && float64(r.waiting.Len()) >= r.throttleAt*float64(r.queue.Max) && draw(r.toss, a) < 0.5 {
		return false
	}
	w := queue.Waiter{ID: uint64(id), Retry: a.number > 1, Deadline: sim.Never}
	if r.policy.Total > 0 {
		// A client whose time is over has left, also in the very instant.
		w.Deadline = r.now.Add(r.policy.Total - 1)
	}
	_, ok := r.waiting.Push(r.now, w, 1, 0)
	return ok
}

// begin takes the next attempt that is to be served, if there is one.
func (r *stationRun) begin() {
	id, shed, ok := r.waiting.Next(r.now, r.shed[:0])
	r.shed = shed
	if !ok {
		r.serving, r.done = -1, sim.Never
		return
	}
	r.serving, r.since = int32(id), r.now
	r.left = exponential(draw(r.service, &r.tries[id])) / r.servicesPerSecond
	r.done = r.finishes()
}

// finishes is when the service under way ends, at the speed of now.
func (r *stationRun) finishes() sim.Instant {
	if r.speed == 0 {
		return sim.Never
	}
	return r.now.Add(time.Duration(r.left / r.speed * float64(time.Second)))
}

// finish ends a service.
func (r *stationRun) finish() {
	if a := &r.tries[r.serving]; a.state == tryDead {
		r.second().wasted++
	} else {
		a.state = tryOver
		r.second().good++
		r.ended(a, true)
		r.budget.Closed(r.now)
	}
	r.begin()
}

// ended tells the budget of an attempt.
func (r *stationRun) ended(a *try, ok bool) {
	result := admission.Result{Kind: admission.First, OK: ok, Cost: a.cost}
	if a.number > 1 {
		result.Kind = admission.Retry
	}
	r.budget.Ended(r.now, result)
}

// nextLimit is when the next client loses patience.
func (r *stationRun) nextLimit() sim.Instant {
	if r.policy.Total == 0 {
		return sim.Never
	}
	for ; r.limits < len(r.tries); r.limits++ {
		if a := &r.tries[r.limits]; a.state == tryWaits {
			return a.sent.Add(r.policy.Total)
		}
	}
	return sim.Never
}

// expire is a client that leaves, and perhaps comes again.
func (r *stationRun) expire() {
	a := r.tries[r.limits]
	r.tries[r.limits].state = tryDead
	r.limits++
	r.failed(&a, pacer.AttemptTimeout)
}

// failed decides what follows an attempt that has failed: the policy first, then the budget.
func (r *stationRun) failed(a *try, outcome string) {
	r.ended(a, false)
	d := r.policy.Decide(pacer.Failure{
		Outcome: outcome, Status: refusedStatus, Limit: pacer.LimitTotal,
		Attempt: int(a.number), Previous: a.delay, Took: r.now.Sub(a.sent),
	}, draw(r.jitter, a))
	if !d.Again {
		r.budget.Closed(r.now)
		return
	}
	cause := admission.CauseTimeout
	if outcome == pacer.AttemptStatus {
		cause = admission.CauseTransient
	}
	cost, ok := r.budget.MayRetry(r.now, cause, int(a.number))
	if !ok {
		r.budget.Closed(r.now)
		return
	}
	next := try{call: a.call, number: a.number + 1, delay: d.Delay, cost: cost}
	if next.delay > 0 {
		r.later.add(r.now.Add(next.delay), next)
		return
	}
	r.send(next)
}

// refusedStatus is what a full queue answers.
const refusedStatus = 503

// turn is where the trigger begins or ends.
func (r *stationRun) turn() {
	r.left -= r.now.Sub(r.since).Seconds() * r.speed
	load, before := 1.0, r.load
	if r.now == sim.Instant(r.trigger.at) {
		r.speed, r.edge = r.trigger.speed, r.now.Add(r.trigger.length)
		if r.trigger.load > 0 {
			load = r.trigger.load
		}
	} else {
		r.speed, r.edge = 1, sim.Never
	}
	r.load = load
	// An exponential gap, and one of equal gaps, is as much shorter as the load is higher.
	r.nextCall = r.now.Add(time.Duration(float64(r.nextCall.Sub(r.now)) * before / load))
	if r.since = r.now; r.serving >= 0 {
		r.done = r.finishes()
	}
}

// triesPerCall bounds the attempts of a call, so that each has draws of its own.
const triesPerCall = 64

// draw is an attempt's own number from a stream: the same whatever else happens.
func draw(s sim.Stream, a *try) float64 {
	own := s.At(int(a.call)*triesPerCall + int(a.number))
	return own.Float64()
}

// exponential turns a draw from [0, 1) into one of an exponential distribution of mean 1.
func exponential(draw float64) float64 { return -math.Log(1 - draw) }
