package diagnose

import (
	"slices"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// readCalls finds the fate and the server-side stage of each call. Calls whose tokens arrive are in
// the decode batch. The quiet ones are matched with the router's log by id, and with the gauges by
// number: gauges count requests and name none, so the oldest are put furthest along.
func (r *reading) readCalls() {
	var quiet []*callReading
	for i := range r.calls {
		c := &r.calls[i]
		c.quiet, c.gap = r.quietFor(c.CallState), gapOf(c.CallState)
		c.fate, c.server = stageFate(c.Stage), ServerNotSent
		if sent(c.CallState) {
			r.readSent(c)
			if c.fate == fateOpen {
				quiet = append(quiet, c)
			}
		}
	}
	for i := range r.calls {
		if r.calls[i].fate == fateMoving {
			r.n[fateMoving]++
		}
	}
	r.place(quiet)
	r.n = [fateCount]int{}
	for i := range r.calls {
		c := &r.calls[i]
		if c.fate == fateSilent && r.willExpire(c) {
			c.fate = fateExpiring
		}
		r.n[c.fate]++
	}
}

func stageFate(s pacer.Stage) fate {
	switch s {
	case pacer.StageSlot:
		return fateSlot
	case pacer.StageRate:
		return fateRate
	case pacer.StageBackoff:
		return fateBackoff
	case pacer.StageConnect:
		return fateConnect
	}
	return fateOther
}

// readSent judges a call that is out by itself and the router's log. fateOpen is left to place.
func (r *reading) readSent(c *callReading) {
	fresh := min(freshMax, r.soon())
	if r.gauges.loaded > 0 {
		fresh += min(age(r.now.At, r.gauges.to), recentFor)
	}
	switch {
	case c.Tokens > 0 && c.quiet <= r.quietLimit(c.gap):
		c.fate, c.server = fateMoving, ServerDecode
	case c.Tokens == 0 && c.quiet < fresh:
		c.fate, c.server = fateFresh, ServerUnseen
	case c.gone && (c.Tokens > 0 || c.Stage == pacer.StageFirstToken):
		c.fate, c.server = fateSilent, ServerUnknown
	case c.gone && c.line == lineNone:
		c.fate, c.server = fateNeverReached, ServerUnknown
	default:
		c.fate, c.server = fateOpen, ServerUnseen
	}
	c.withheld = c.fate == fateOpen && c.line == lineFinished && c.Stage == pacer.StageHeaders || c.gone && c.fate == fateOpen
	c.bytes = c.fate != fateMoving && r.bytesFlow(c)
	c.overtaken = c.fate == fateOpen && c.Stage == pacer.StageHeaders && r.answered && c.Sent.Add(deadMin) <= r.answeredSent
}

// willExpire says whether the pacer's idle limit is still to fire for a silent stream.
func (r *reading) willExpire(c *callReading) bool {
	limit := r.now.Setup.IdleLimit
	return limit > 0 && !c.bytes && c.quiet < limit+expirySlack
}

// place puts the quiet calls that the router has, or may have, into the engines' stages.
func (r *reading) place(quiet []*callReading) {
	if r.gauges.loaded == 0 {
		for _, c := range quiet {
			r.placeBlind(c)
		}
		return
	}
	slices.SortStableFunc(quiet, func(a, b *callReading) int {
		if d := a.turn() - b.turn(); d != 0 {
			return d
		}
		return int(min(max(a.Since-b.Since, -1), 1))
	})
	engines := r.berths()
	sum, placed := 0, r.n[fateMoving]
	for _, b := range engines {
		sum += b.free
	}
	stages := make([]string, len(quiet))
	for i, c := range quiet {
		if stages[i] = r.stageFor(c, engines); stages[i] != ServerRouter {
			placed++
		}
	}
	// What the router counts and the engines do not. Gauges of engines that stand still may have
	// requests that have gone since.
	if sum += r.n[fateMoving]; r.gauges.stands(prefillTokens) || r.gauges.stands(decodeTokens) {
		sum = min(sum, placed)
	}
	router := 0
	if r.gauges.has(routerInFlight) {
		router = max(0, r.gauges.count(routerInFlight)-sum)
	}
	for i, c := range quiet {
		r.settle(c, stages[i], &router)
	}
}

// turn orders the quiet calls for the stages: streams that have begun, which have been in the batch;
// then those whose answer the router has passed on; then those that later ones have overtaken.
func (c *callReading) turn() int {
	switch {
	case c.Tokens > 0:
		return 0
	case c.withheld || c.headed():
		return 1
	case c.overtaken:
		return 2
	}
	return 3
}

// headed says whether the call has had its response headers. A goroutine dump of somebody else's client
// shows that a stream is read, and not how many tokens it has brought.
func (c *callReading) headed() bool {
	return c.Stage == pacer.StageFirstToken || c.Stage == pacer.StageStream
}

// stageFor takes a berth for a call: the furthest that it can be in. One that has been overtaken waits
// for a handshake rather than for a turn.
func (r *reading) stageFor(c *callReading, engines []berth) string {
	if c.overtaken {
		for i := range engines {
			if b := &engines[i]; (b.stage == ServerPrealloc || b.stage == ServerBootstrap) && b.free > 0 {
				b.free--
				return b.stage
			}
		}
	}
	for i := range engines {
		b := &engines[i]
		if c.Tokens > 0 && b.stage != ServerDecode && b.stage != ServerDecodeWait {
			if (b.stage == ServerTransfer || b.stage == ServerPrealloc) && b.free > 0 && r.decodeCrawls() {
				b.free-- // it has joined the batch since: the gauges are as old as a step takes
				return ServerDecode
			}
			continue
		}
		if b.stage == ServerDecode && c.turn() > 1 && r.gauges.stands(decodeTokens) {
			// Without headers it has not had its first token, and the batch makes none: only what was in
			// it without headers while its gauge was up to date can still be in it, or what is left if
			// the gauge is too high for a batch that has drained since.
			if b.unseen == 0 {
				continue
			}
			b.unseen--
		}
		if b.free > 0 {
			b.free--
			return b.stage
		}
	}
	return ServerRouter
}

// settle gives a call the stage it was put into, and the fate that goes with it. router is how many
// requests its gauge has that are not given to a call yet.
func (r *reading) settle(c *callReading, stage string, router *int) {
	c.server = stage
	switch stage {
	case ServerDecode:
		if c.fate = r.decodeFate(c); c.fate == fateDecodeHung && c.Tokens > 0 && r.retractedSince(c.lastSign()) {
			c.server, c.fate = ServerRetracted, fateRetracted
		}
	case ServerDecodeWait, ServerTransfer, ServerPrealloc:
		c.fate = r.waitFate(c, stage)
	case ServerInflight:
		c.fate = fateInflight
		if !r.gauges.stands(prefillTokens) {
			c.fate = fatePrefill
		}
	case ServerPrefill, ServerPrefillWait, ServerBootstrap:
		c.fate = r.waitFate(c, stage)
	default:
		r.settleOutside(c, router)
	}
}

// waitFate judges a call in a queue of an engine. With memory free, a handshake is all that a request
// in bootstrap or prealloc can wait for while later ones pass. An entry in the inflight queue is no sign
// of anything while prefill works: the gauge is written when a chunk has just entered it.
func (r *reading) waitFate(c *callReading, stage string) fate {
	handshake := stage == ServerPrealloc || stage == ServerBootstrap
	switch {
	case handshake && c.overtaken && r.memoryFree() && !r.pins.any():
		return fateUnpaired
	case stage == ServerPrealloc || stage == ServerTransfer || stage == ServerDecodeWait:
		if !r.decodeMoves() {
			return fateDecodeStuck
		}
		return fateDecodeWait
	case r.gauges.stands(prefillTokens):
		return fatePrefillStuck
	}
	return fatePrefill
}

// settleOutside judges a call that no engine accounts for: the router may have it, by its log or by
// its gauge. If the log has it open and the gauge does not count it, the router has lost it.
func (r *reading) settleOutside(c *callReading, router *int) {
	counted := *router > 0 && (c.atRouter || !r.sides.Usable)
	if counted {
		*router--
	}
	c.lost = c.atRouter && !counted && r.gauges.has(routerInFlight)
	atRouter := c.atRouter || counted
	c.server = ServerRouter
	if !atRouter || c.lost {
		c.server = ServerUnknown
	}
	switch {
	case !r.gauges.has(decodeRunning):
		// Too little was read to say that the engines do not have it.
		c.server, c.lost = ServerUnseen, false
		r.placeBlind(c)
	case c.Tokens > 0 && *router > 0 && r.retractedSince(c.lastSign()):
		*router--
		c.server, c.fate = ServerRetracted, fateRetracted
	case c.Tokens > 0 || c.Stage == pacer.StageStream:
		c.fate = fateSilent
	case c.withheld:
		c.fate = fateWithheld
	case atRouter:
		c.fate = fateAtRouter
	case c.Stage == pacer.StageFirstToken: // its headers came, so it has been there
		c.fate = fateSilent
	default:
		c.fate = fateNeverReached
	}
}

// decodeCrawls says whether the decode engine makes next to nothing of what it has, by its gauges.
func (r *reading) decodeCrawls() bool {
	g := &r.gauges
	rate, _, ok := g.recent[decodeTokens].rate()
	if ok && rate == 0 { // a step may take longer than the samples of late go back
		rate, _, ok = g.stall[decodeTokens].rate()
	}
	running := g.recent[decodeRunning].mean
	return ok && rate > 0 && running >= 1 && rate/running < crawlMax
}

// retractedSince says whether decode was seen to take requests out of its batch at about that instant,
// or has done so at some time in the run if the samples do not reach back so far. The queue that they
// wait in has no gauge; only the router still counts them.
func (r *reading) retractedSince(at sim.Instant) bool {
	const slack = 10 * time.Second
	total := &r.gauges.stall[decodeRetracted]
	if !total.ok() || total.last == 0 {
		return false
	}
	if len(r.samples) > 0 && r.samples[0].At.Add(slack) < at {
		return r.gauges.grew[decodeRetracted].Add(slack) >= at
	}
	return true
}

// placeBlind judges a quiet call without gauges.
func (r *reading) placeBlind(c *callReading) {
	switch {
	case c.atRouter:
		c.fate = fateOpen
	case c.Tokens > 0:
		c.fate = fateSilent
	case c.withheld:
		c.fate = fateWithheld
	default:
		c.fate = fateUnanswered
	}
}

// decodeMoves says whether the decode batch has somebody in it or has produced tokens.
func (r *reading) decodeMoves() bool {
	if rate, _, ok := r.gauges.recent[decodeTokens].rate(); ok {
		return rate > 0
	}
	return r.gauges.recent[decodeRunning].max > 0
}

// decodeFate judges a call that must be in the decode batch although none of its tokens arrive: a
// model that thinks where nobody sees it, or an engine that hangs. Only the counter of tokens tells
// them apart; the number of running requests is the same in both.
func (r *reading) decodeFate(c *callReading) fate {
	rate, _, ok := r.gauges.recent[decodeTokens].rate()
	switch {
	case !ok:
		return fateOpen
	case rate == 0:
		return fateDecodeHung
	case r.n[fateMoving] == 0 || rate >= servedMargin*r.visibleRate():
		return fateServed
	case c.overtaken && r.gauges.unseen >= 1:
		return fateDecodeHung // what is produced is all for the others, for as long as theirs took and longer
	}
	return fateOpen // what is produced may all be for the others
}

// visibleRate is what the moving streams receive together, in tokens a second.
func (r *reading) visibleRate() float64 {
	sum := 0.0
	for i := range r.calls {
		if c := &r.calls[i]; c.fate == fateMoving && c.gap > 0 {
			sum += float64(time.Second) / float64(c.gap)
		}
	}
	return sum
}
