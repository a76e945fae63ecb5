package engine

import (
	"errors"
	"io"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Engines is all engines together, and the agenda of what is due at them and at their owner. It is
// guarded by the owner's monitor: every method wants it held. Make one with [New].
type Engines struct {
	cfg Config
	now sim.Instant
}

// New returns engines at rest. cfg must be valid. faults may be nil. log returns where the log of an
// engine goes, by its name, such as "prefill-0", a line a Write; nil, or a nil writer: no log.
func New(cfg Config, faults *fault.Set, log func(worker string) io.Writer) (*Engines, error) {
	return nil, errors.New("engine: not built yet")
}

// Now returns the instant up to which all has been done.
func (e *Engines) Now() sim.Instant { return e.now }

// Advance does what is due up to an instant, each at its own.
func (e *Engines) Advance(to sim.Instant) { e.now = to }

// Next returns when something is due next, or sim.Never.
func (e *Engines) Next() sim.Instant { return sim.Never }

// Entry is something of the owner's on the agenda. The zero value with Do set is ready for use.
type Entry struct {
	Do Doer // called at its instant, by Advance
}

// Doer does what is due.
type Doer interface{ Do() }

// Schedule puts an entry on the agenda, or moves it there; an instant that has passed is now. With
// sim.Never it comes off.
func (e *Engines) Schedule(at sim.Instant, n *Entry) {}

// Prefills, Decodes and Unified return the workers of a kind, in order; none of the kinds that the
// mode does not have. Their names are "prefill-0", "decode-0" or "engine-0", and so on.
func (e *Engines) Prefills() []*Worker { return nil }

// Decodes: see Prefills.
func (e *Engines) Decodes() []*Worker { return nil }

// Unified: see Prefills.
func (e *Engines) Unified() []*Worker { return nil }

// Refresh is to be called when faults have come or gone.
func (e *Engines) Refresh() {}

// Worker is an engine: one HTTP server with one or more data-parallel ranks.
type Worker struct {
	Name string
	Kind Kind
}

// Submit hands a leg to the worker.
func (w *Worker) Submit(l *Leg) {}

// Abort says that whoever waits for the leg has left, or closed its connection. What becomes of it,
// and when, is the engine's affair (see [AbortConfig]); its owner is told nothing of it any more. It
// does nothing to a leg that has ended.
func (w *Worker) Abort(l *Leg) {}

// AbortMatching is the endpoint /abort_request: it aborts all legs at once whose occasion keys begin
// with the prefix, and tells their owners with Ended and a Failure "Aborted by AbortReq.". It returns
// how many.
func (w *Worker) AbortMatching(prefix string) int { return 0 }

// Healthy says what the worker's /health answers, and how long it takes: 503 after 20 s if its loop
// is blocked (a chunk that takes longer), at once and true if it spins, however stuck its queues are.
func (w *Worker) Healthy() (ok bool, after time.Duration) { return true, 0 }

// Made returns how many output tokens a leg has by now, and when the last of them was made.
func (l *Leg) Made(now sim.Instant) (tokens int, last sim.Instant) { return 0, 0 }

// NextToken returns when the next token is due, as things stand, or sim.Never.
func (l *Leg) NextToken(now sim.Instant) sim.Instant { return sim.Never }

// Load is what is at a rank at one instant.
type Load struct {
	Bootstrap, PrefillWait, Prefilling, Inflight           int   // requests
	Prealloc, Transfer, DecodeWait, Running, Retracted     int   // requests
	Pinned                                                 int   // of Inflight: entries whose request has gone
	Zombies                                                int   // of Running: requests whose client has gone
	PrefillSlots, DecodeSlots                              int   // taken
	PrefillKVTokens, DecodeKVTokens                        int   // taken
	PendingTokens                                          int   // of prompts that wait for their turn
	PrefillTokens, DecodeTokens                            int64 // computed and made since the start
	BootstrapFailed, TransferFailed, Aborted, RetractedSum int64 // requests, since the start
}

// Ranks returns how many ranks the worker has.
func (w *Worker) Ranks() int { return 1 }

// Load returns what is at a rank now. It is the truth; see Published for what the rank shows of it.
func (w *Worker) Load(rank int) Load { return Load{} }

// Published returns what a rank shows in its gauges, and when it last brought them up to date. Its
// counters are those of the present: the originals count at each iteration. With GaugesConfig.Exact
// all of it is Load.
func (w *Worker) Published(rank int) (Load, sim.Instant) { return Load{}, 0 }
