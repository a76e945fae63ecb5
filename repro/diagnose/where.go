package diagnose

import (
	"slices"
	"time"

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
	c.gone = r.sides.Usable && !c.atRouter
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
	case c.gone:
		c.fate, c.server = fateNeverReached, ServerUnknown
	default:
		c.fate, c.server = fateOpen, ServerUnseen
	}
	c.bytes = c.fate != fateMoving && r.bytesFlow(c)
}

// willExpire says whether the pacer's idle limit is still to fire for a silent stream.
func (r *reading) willExpire(c *callReading) bool {
	limit := r.now.Setup.IdleLimit
	return limit > 0 && !c.bytes && c.quiet < limit+expirySlack
}

// berth is a server-side stage with the number of requests that the gauges put there.
type berth struct {
	stage string
	free  int
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
		if (a.Tokens > 0) != (b.Tokens > 0) { // streams that have begun have been in the batch
			if a.Tokens > 0 {
				return -1
			}
			return 1
		}
		return int(min(max(a.Since-b.Since, -1), 1))
	})
	engines, router := r.berths()
	for _, c := range quiet {
		stage := ServerRouter
		for i := range engines {
			b := &engines[i]
			if c.Tokens > 0 && b.stage != ServerDecode && b.stage != ServerDecodeWait {
				break
			}
			if b.free > 0 {
				b.free--
				stage = b.stage
				break
			}
		}
		r.settle(c, stage, &router)
	}
}

// berths reads from the gauges how many requests are in each engine stage, the furthest first, less
// those whose tokens arrive, and how many the router has besides. Where the engines are split, either side
// counts a request that both have: the decode side's prealloc queue is the prefill side's bootstrap
// queue, and its transfer queue has what the prefill side queues, computes or still sends.
func (r *reading) berths() (engines []berth, router int) {
	g := &r.gauges
	n := func(i gaugeIndex) int {
		if g.has(i) {
			return g.count(i)
		}
		return 0
	}
	decode, wait := n(decodeRunning), n(decodeQueue)
	inflight, running, queue := n(prefillInflight), n(prefillRunning), n(prefillQueue)
	transfer := max(0, n(decodeTransfer)-inflight-running-queue)
	prealloc := n(decodePrealloc)
	bootstrap := max(0, n(prefillBootstrap)-prealloc)
	if g.has(routerInFlight) {
		router = max(0, g.count(routerInFlight)-decode-wait-transfer-inflight-prealloc-running-queue-bootstrap)
	}
	return []berth{
		{ServerDecode, max(0, decode-r.n[fateMoving])}, {ServerDecodeWait, wait}, {ServerTransfer, transfer},
		{ServerInflight, inflight}, {ServerPrealloc, prealloc}, {ServerPrefill, running},
		{ServerPrefillWait, queue}, {ServerBootstrap, bootstrap},
	}, router
}

// settle gives a call the stage it was put into, and the fate that goes with it. router is how many
// requests its gauge has that are not given to a call yet.
func (r *reading) settle(c *callReading, stage string, router *int) {
	c.server = stage
	switch stage {
	case ServerDecode:
		c.fate = r.decodeFate(c)
	case ServerDecodeWait, ServerTransfer, ServerPrealloc:
		c.fate = fateDecodeWait
		if !r.decodeMoves() {
			c.fate = fateDecodeStuck
		}
	case ServerInflight:
		c.fate = fateInflight
	case ServerPrefill, ServerPrefillWait, ServerBootstrap:
		c.fate = fatePrefill
		if rate, _, ok := r.gauges.recent[prefillTokens].rate(); ok && rate == 0 {
			c.fate = fatePrefillStuck
		}
	default:
		r.settleOutside(c, router)
	}
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
	case c.Tokens > 0:
		c.fate = fateSilent
	case atRouter:
		c.fate = fateAtRouter
	case c.Stage == pacer.StageFirstToken: // its headers came, so it has been there
		c.fate = fateSilent
	default:
		c.fate = fateNeverReached
	}
}

// placeBlind judges a quiet call without gauges.
func (r *reading) placeBlind(c *callReading) {
	switch {
	case c.atRouter:
		c.fate = fateOpen
	case c.Tokens > 0:
		c.fate = fateSilent
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
	case c.Tokens > 0 && r.n[fateMoving] > 0 && rate < servedMargin*r.visibleRate():
		return fateOpen // what is produced may all be for the others
	}
	return fateServed
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
