package diagnose

// Outcome says how a stall, or a run, stands.
type Outcome string

// The outcomes.
const (
	Completed  Outcome = "completed"  // the work is done
	Slow       Outcome = "slow"       // progress, but behind what was expected
	Starved    Outcome = "starved"    // live calls, which will finish, hold what everybody else waits for
	Wedged     Outcome = "wedged"     // the holders will never finish
	Deadlocked Outcome = "deadlocked" // a cycle of waits inside the harness
	Storming   Outcome = "storming"   // requests are sent, cut off and sent again: no goodput
	Failed     Outcome = "failed"     // agents ended with errors
)

// Outcomes returns every outcome, the gravest last, except that failed stands at the end.
func Outcomes() []Outcome {
	return []Outcome{Completed, Slow, Starved, Storming, Wedged, Deadlocked, Failed}
}

// Hang says whether the outcome is one that a user would call a hang.
func (o Outcome) Hang() bool {
	return o == Starved || o == Wedged || o == Deadlocked || o == Storming
}

// gravity orders outcomes: of two explanations that are as good as each other, the one whose stall
// does not end by itself is told first.
func (o Outcome) gravity() int {
	for i, other := range Outcomes() {
		if o == other {
			return i
		}
	}
	return 0
}

// Layer says where the cause lies.
type Layer string

// The layers.
const (
	LayerHarness    Layer = "harness"
	LayerTool       Layer = "tool"
	LayerPacer      Layer = "pacer"
	LayerConnection Layer = "connection"
	LayerRouter     Layer = "router"
	LayerPrefill    Layer = "prefill"
	LayerTransfer   Layer = "transfer"
	LayerDecode     Layer = "decode"
	LayerStream     Layer = "stream"
	LayerNone       Layer = "none"
)

// Layers returns every layer, from the harness down to the stream.
func Layers() []Layer {
	return []Layer{
		LayerHarness, LayerTool, LayerPacer, LayerConnection, LayerRouter,
		LayerPrefill, LayerTransfer, LayerDecode, LayerStream, LayerNone,
	}
}

// Cause names a mechanism.
type Cause string

// The causes that are judged here, and the two that stand for none.
const (
	CauseStarvation        Cause = "starvation"
	CauseSilentStream      Cause = "silent-stream"
	CauseDecodeSerialized  Cause = "decode-serialized"
	CausePrefillBottleneck Cause = "prefill-bottleneck"
	CauseConnectionPool    Cause = "connection-pool"
	CauseSlotLeak          Cause = "slot-leak"
	CauseNestedSlot        Cause = "nested-slot"
	CauseLockOrder         Cause = "lock-order"
	CauseLockOverCall      Cause = "lock-over-call"
	CauseLostWakeup        Cause = "lost-wakeup"
	CauseSwallowedError    Cause = "swallowed-error"
	CauseToolHang          Cause = "tool-hang"
	CausePipeFull          Cause = "pipe-full"
	CauseNoProgressLoop    Cause = "no-progress-loop"
	CauseSlowServer        Cause = "slow-server"
	CauseInflightPin       Cause = "inflight-pin"
	CauseDecodeMemory      Cause = "decode-memory"
	CauseRouterQueue       Cause = "router-queue"
	CauseConnectionDead    Cause = "connection-dead"
	CauseTimeoutCascade    Cause = "timeout-cascade"
	CauseCommentStream     Cause = "comment-stream"
	CauseRetryStorm        Cause = "retry-storm"
	CauseLongContextDecode Cause = "long-context-decode"
	CauseRouterLost        Cause = "router-lost"
	CauseRateLimit         Cause = "rate-limit"
	CauseSlowTool          Cause = "slow-tool"
	CausePinWatchdog       Cause = "pin-watchdog"
	CauseBadPairing        Cause = "bad-pairing"
	CauseIgnoredAbort      Cause = "ignored-abort"
	CauseProxyBuffering    Cause = "proxy-buffering"
	CauseTransferHang      Cause = "transfer-hang"
	CausePrefillHang       Cause = "prefill-hang"
	CauseTurnedAway        Cause = "turned-away"

	CauseNone    Cause = "none"    // nothing needs explaining
	CauseUnknown Cause = "unknown" // the evidence does not decide
)

// causes returns the mechanisms in the order in which equals are shown.
func causes() []cause {
	return []cause{
		nestedSlot(), lockOrder(), lostWakeup(), swallowedError(), slotLeak(), silentStream(), toolHang(), connectionDead(), routerLost(),
		badPairing(), longContextDecode(), inflightPin(), prefillHang(), transferHang(), decodeMemory(), commentStream(),
		timeoutCascade(), retryStorm(), routerQueue(),
		pinWatchdog(), ignoredAbort(), proxyBuffering(), connectionPool(), prefillBottleneck(), decodeSerialized(), lockOverCall(), starvation(),
		rateLimit(), slowTool(), slowServer(),
		pipeFull(), noProgressLoop(), turnedAway(),
	}
}

// Causes returns every cause that a verdict may name, CauseNone and CauseUnknown included.
func Causes() []Cause {
	all := causes()
	names := make([]Cause, 0, len(all)+2)
	for _, c := range all {
		names = append(names, c.name)
	}
	return append(names, CauseNone, CauseUnknown)
}

// Status says how a hypothesis stands.
type Status string

// The statuses.
const (
	Supported Status = "supported" // its mechanism is seen in the evidence
	Refuted   Status = "refuted"   // the evidence speaks against it
	Open      Status = "open"      // the evidence does not decide; DecideBy says what would
)

// Server-side stages, as they stand in stage tables. All but the last two are the servers' own; those
// say that there is no such stage to name.
const (
	ServerRouter      = "router"       // the router has it, no engine queue accounts for it
	ServerBootstrap   = "bootstrap"    // waits for the decode side to reserve memory, counted at prefill
	ServerPrefillWait = "prefill_wait" // waits for prefill
	ServerPrefill     = "prefill"      // prefill works on it
	ServerInflight    = "inflight"     // prefill is done, its KV cache has not all gone
	ServerPrealloc    = "prealloc"     // waits for memory on the decode side
	ServerTransfer    = "transfer"     // its KV cache arrives
	ServerDecodeWait  = "decode_wait"  // waits for room in the running batch
	ServerDecode      = "decode"       // in the running batch
	ServerRetracted   = "retracted"    // was in the running batch, and waits for memory to go on
	ServerUnknown     = "unknown"      // sent, and the servers have no such request
	ServerNotSent     = "none"         // not sent, so not at the servers
	ServerUnseen      = "unseen"       // sent, and the evidence cannot tell where it is
)
