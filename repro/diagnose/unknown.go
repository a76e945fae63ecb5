package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/pacer"
)

// unknown is the conclusion from movement alone, for evidence in which no cause is seen.
type unknown struct {
	outcome Outcome
	layer   Layer
	cause   Cause
	why     string
	next    []string // what to try
}

// What to try where nothing is known of the servers.
const (
	metricsAdvice = "--metrics-url URL, if the servers show gauges anywhere: whether they work on these requests is then seen"
	probeAdvice   = "send one short request to the server by hand (curl), now and while nothing else runs: is it answered, and how soon?"
	limitAdvice   = "--set policy.first_token=120s --set policy.idle=60s ends a call that gets nothing, and another attempt shows whether the servers answer at all"
)

// unknown judges by movement: what moves is slow, or starves others; what cannot come back is wedged.
// Where nothing is known of the servers, silence is given the benefit of the doubt for
// unansweredLimit: a model may think for long before its first token.
func (r *reading) unknown() unknown {
	alive := r.sum(fateMoving, fateServed, fatePrefill, fateDecodeWait)
	lost, doubt := r.lostAndDoubtful()
	expiring, fresh := r.n[fateExpiring], r.n[fateFresh]
	u := unknown{layer: r.layerOfMost(), cause: CauseUnknown}
	switch {
	case alive > 0:
		u.outcome = r.heldUp(Slow)
		u.why = fmt.Sprintf("%s alive, but no single mechanism accounts for the stall.", does(alive, "call", "is", "are"))
	case expiring > max(lost, doubt):
		// The mechanism is known, and so is its end.
		u.outcome, u.cause = r.heldUp(Slow), CauseSilentStream
		u.why = fmt.Sprintf("%s quiet for up to %s and the servers do not have them; the idle limit of %s will end them, and their calls go on with another attempt.",
			does(expiring, "stream", "has been", "have been"), secs(r.oldest(fateExpiring)), secs(r.now.Setup.IdleLimit))
	case lost > doubt+fresh:
		u.outcome = Wedged
		u.why = fmt.Sprintf("Nothing moves: %s stopped, and nothing seen will bring %s back.", does(lost, "call", "has", "have"), verb(lost, "it", "them"))
	case doubt > 0 && r.longestDoubt() >= r.unansweredLimit():
		u.outcome, u.next = Wedged, r.blindAdvice()
		u.why = fmt.Sprintf("Nothing moves: %s no answer for up to %s, longer than servers take.", does(doubt, "call", "has", "have"), secs(r.longestDoubt()))
	case doubt > 0 && doubt == r.n[fateConnect]:
		u.outcome = r.heldUp(Slow)
		u.why = fmt.Sprintf("%s for a connection, for up to %s, and nothing else is out.", does(doubt, "call", "waits", "wait"), secs(r.oldest(fateConnect)))
	case doubt+fresh > 0 && r.blind():
		u.outcome, u.next = Slow, r.blindAdvice()
		u.why = fmt.Sprintf("Cannot tell slow from stuck: no token arrives on %s, for up to %s, and nothing is known of the servers. %s",
			count(doubt+fresh, "call"), secs(max(r.longestDoubt(), r.oldest(fateFresh))), r.blindText(doubt+fresh))
	case doubt > 0:
		u.outcome = r.heldUp(Slow)
		u.why = fmt.Sprintf("No token arrives on %s, for up to %s, and whether the servers work on %s cannot be seen.", count(doubt, "call"), secs(r.longestDoubt()), verb(doubt, "it", "them"))
	case fresh > 0:
		u.outcome = r.heldUp(Slow)
		u.why = fmt.Sprintf("%s out, none for more than %s: too early to say.", does(fresh, "call", "is", "are"), secs(r.oldest(fateFresh)))
	default:
		r.noCall(&u)
	}
	return u
}

// lostAndDoubtful counts the calls that will not come back, and those that may or may not.
func (r *reading) lostAndDoubtful() (lost, doubt int) {
	lost = r.sum(fateNeverReached, fateWithheld, fateDecodeHung, fateDecodeStuck, fatePrefillStuck, fateInflight, fateUnpaired)
	doubt = r.sum(fateRetracted, fateOpen, fateUnanswered, fateConnect)
	if r.blind() { // a stream that was silent for long enough has a cause
		doubt += r.n[fateSilent]
	} else {
		lost += r.n[fateSilent]
	}
	if r.routerQueues() { // they may have their turn
		doubt += r.n[fateAtRouter]
	} else {
		lost += r.n[fateAtRouter]
	}
	return lost, doubt
}

// noCall judges a stall in which no call is out.
func (r *reading) noCall(u *unknown) {
	kept, stuck := 0, 0
	for i := range r.graph.Nodes {
		switch n := &r.graph.Nodes[i]; {
		case n.Kind == NodeKept:
			kept++
		case n.Kind == NodeAgent && n.Stuck:
			stuck++
		}
	}
	switch {
	case r.n[fateBackoff] > 0:
		u.outcome, u.layer, u.next = r.heldUp(Slow), LayerPacer, r.refusalAdvice()
		u.why = r.backoffText() + ". These waits end by themselves; whether the next attempts fare better cannot be told yet."
	case r.n[fateRate] > 0:
		u.outcome, u.layer = r.heldUp(Slow), LayerPacer
		u.why = fmt.Sprintf("%s for the pacer's own rate, none for long: waits that end by themselves.", does(r.n[fateRate], "call", "waits", "wait"))
	case r.tools.count[toolLate] > 0:
		u.outcome, u.layer = Slow, LayerTool
		u.why = fmt.Sprintf("Cannot tell yet whether a tool is slow or hangs: %s, and %s. Wait for %s", r.tools.agentsIn(toolLate), list(r.experience(r.tools.named[toolLate])), r.toolDecision())
	case r.tools.n() > 0:
		u.outcome, u.layer = Slow, LayerTool
		u.why = fmt.Sprintf("%s in a tool, none for long.", does(r.tools.n(), "agent", "is", "are"))
	case stuck > 0:
		u.outcome, u.layer = Wedged, LayerHarness
		u.why = fmt.Sprintf("%s for something that is not given back (%s).", does(stuck, "agent", "waits", "wait"), does(kept, "permit", "is kept by somebody who has ended", "are kept by somebody who has ended"))
	case r.pool.waiting > 0:
		u.outcome, u.layer = Wedged, LayerPacer
		u.why = fmt.Sprintf("%s for a slot, and nobody is seen to hold one.", does(r.pool.waiting, "call", "waits", "wait"))
	default:
		u.outcome, u.layer, u.cause = Slow, LayerNone, CauseNone
		u.why = "Nothing is out and nobody waits for anybody: the agents are between calls."
	}
}

// heldUp is starved if somebody waits for a slot, else the outcome given.
func (r *reading) heldUp(o Outcome) Outcome {
	if r.pool.blocks() {
		return Starved
	}
	return o
}

// longestDoubt is the longest quiet time of the calls of which nothing is known.
func (r *reading) longestDoubt() time.Duration {
	d := max(r.oldest(fateOpen), r.oldest(fateUnanswered), r.oldest(fateConnect))
	if r.blind() {
		d = max(d, r.oldest(fateSilent))
	}
	if r.routerQueues() {
		d = max(d, r.oldest(fateAtRouter))
	}
	return d
}

// unseenText qualifies what is concluded from silence alone.
const unseenText = "What the servers do meanwhile cannot be seen from here."

// blindText says what n calls show of servers of which nothing else is known.
func (r *reading) blindText(n int) string {
	answered := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.fate != fateMoving && (c.Stage == pacer.StageFirstToken || c.Stage == pacer.StageStream) {
			answered++
		}
	}
	text := fmt.Sprintf("They may work on %s, or may never have got %s.", verb(n, "it", "them"), verb(n, "it", "them"))
	if answered > 0 {
		text = fmt.Sprintf("They have begun to answer %s, and may work on or have lost %s since.", ofAll(answered, n, "request"), verb(answered, "it", "them"))
	}
	if s := r.commentStreams(); s.n > 0 {
		text += fmt.Sprintf(" Bytes arrive on %s, so the connection is alive.", count(s.n, "stream"))
	}
	return text
}

// blindAdvice says how to find out what the servers do. It is empty if that is known.
func (r *reading) blindAdvice() []string {
	if !r.blind() || r.sides.Sent == 0 {
		return nil
	}
	return []string{metricsAdvice, probeAdvice, limitAdvice}
}

// layerOfMost is the layer in which most calls are.
func (r *reading) layerOfMost() Layer {
	best, layer := 0, LayerNone
	for _, g := range []struct {
		n     int
		layer Layer
	}{
		{r.sum(fateMoving, fateServed, fateRetracted, fateDecodeHung, fateDecodeWait, fateDecodeStuck), LayerDecode},
		{r.sum(fatePrefill, fatePrefillStuck, fateInflight), LayerPrefill},
		{r.sum(fateSilent, fateExpiring), LayerStream},
		{r.sum(fateNeverReached, fateConnect, fateWithheld), LayerConnection},
		{r.sum(fateAtRouter, fateUnpaired), LayerRouter},
	} {
		if g.n > best {
			best, layer = g.n, g.layer
		}
	}
	return layer
}
