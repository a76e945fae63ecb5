package published

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/queue"
)

// station is a single server with a queue, and clients that resend a request when it takes too long.
// The server knows nothing of that: unless its queue drops the dead, it serves requests whose client
// has left as well, which is the sustaining effect of all that follows. Times of service are
// exponential. The zero value is not useful.
type station struct {
	seed    uint64
	horizon time.Duration

	callsPerSecond    float64 // λ
	evenly            bool    // calls come at equal distances instead of at random (Poisson)
	servicesPerSecond float64 // μ

	// policy is the clients'. Its Total is T, how long they wait for an attempt; of the rest, attempts,
	// backoff and retry_budget count. All clients share the budget.
	policy pacer.Policy

	// queue is the server's. Its dead are those whose client has left.
	queue      queue.Config
	silent     bool    // refusals are: the client learns of one by its timeout, as of a lost packet
	throttleAt float64 // share of the queue's Max from which every other request is refused; 0: never

	trigger trigger
}

// trigger is what goes wrong for a while. The zero value is nothing.
type trigger struct {
	at     time.Duration
	length time.Duration
	speed  float64 // of the server meanwhile, as a share of its own; 0: it stands
	load   float64 // calls meanwhile, as a multiple; 0 means 1
}

// impatient is a policy that waits for an attempt for so long and tries again at once, so many times.
func impatient(timeout time.Duration, resends int) pacer.Policy {
	p := pacer.DefaultPolicy()
	p.Total, p.MaxAttempts = timeout, 1+resends
	p.BackoffBase, p.BackoffMax, p.BackoffFloor, p.Jitter = 0, 0, 0, "none"
	return p
}

// tally counts what happened in one second.
type tally struct {
	calls    int // that came
	attempts int // sent, first ones included
	good     int // answers that a client still waited for
	wasted   int // services of requests whose client had left
	refused  int // by a full queue
	inside   int // at the end of the second, waiting or being served
}

// try is one attempt.
type try struct {
	call   int32
	number int16 // 1 for the first of its call
	state  tryState
	sent   sim.Instant
	delay  time.Duration // before it
	cost   float64       // to the retry budget
}

// tryState is what has become of an attempt, as its client sees it.
type tryState uint8

const (
	tryWaits tryState = iota
	tryDead           // the client has left
	tryOver           // answered or refused
)
