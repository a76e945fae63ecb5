package published

import (
	"time"

	"example.com/wedge/harness/sim"
)

// station is a single server with a queue, and clients that resend a request when it takes too long.
// The server knows nothing of that: unless dropDead says otherwise, it serves requests whose client
// has left as well, which is the sustaining effect of all that follows. Times of service are
// exponential. The zero value is not useful.
type station struct {
	seed    uint64
	horizon time.Duration

	callsPerSecond    float64 // λ
	evenly            bool    // calls come at equal distances instead of at random (Poisson)
	servicesPerSecond float64 // μ

	timeout time.Duration // T: how long a client waits for one attempt; 0: for ever
	resends int           // R: further attempts of a call, at most
	delay   delayRule     // before a resend; nil: none
	budget  budgetRule    // may another attempt be made; nil: always

	newestFirst bool    // LIFO
	dropDead    bool    // requests whose client has left are skipped before they are served
	queueMax    int     // requests beyond are refused; 0: none are
	silent      bool    // refusals are: the client learns of one by its timeout, as of a lost packet
	throttleAt  float64 // share of queueMax from which every other request is refused; 0: never

	trigger trigger
}

// trigger is what goes wrong for a while. The zero value is nothing.
type trigger struct {
	at     time.Duration
	length time.Duration
	speed  float64 // of the server meanwhile, as a share of its own; 0: it stands
	load   float64 // calls meanwhile, as a multiple; 0 means 1
}

// delayRule is the wait before resend number n, counted from 1, given a draw from [0, 1).
type delayRule func(n int, previous time.Duration, draw float64) time.Duration

// budgetRule decides about resends as a client's retry budget does. Implementations are used by one
// run at a time.
type budgetRule interface {
	// Sent notes an attempt.
	Sent(now sim.Instant, resend bool)
	// MayResend says whether the budget has room for one more.
	MayResend(now sim.Instant) bool
}

// tally counts what happened in one second.
type tally struct {
	calls    int // that came
	attempts int // sent, first ones included
	good     int // answers that a client still waited for
	wasted   int // services of requests whose client had left
	refused  int // by a full queue
	queue    int // length at the end of the second, the one being served included
}

// try is one attempt.
type try struct {
	call   int32
	number int16 // 1 for the first of its call
	state  tryState
	sent   sim.Instant
	delay  time.Duration // before it
}

// tryState is what has become of an attempt, as its client sees it.
type tryState uint8

const (
	tryWaits tryState = iota
	tryDead           // the client has left
	tryOver           // answered or refused
)
