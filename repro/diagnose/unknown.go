package diagnose

import (
	"fmt"
	"time"
)

// unknown is the conclusion from movement alone, for evidence in which no cause is seen.
type unknown struct {
	outcome Outcome
	layer   Layer
	cause   Cause
	why     string
}

// unknown judges by movement: what moves is slow, or starves others; what cannot come back is wedged.
// Where nothing is known of the servers, silence is given the benefit of the doubt for
// unansweredMax: a model may think for long before its first token.
func (r *reading) unknown() unknown {
	alive := r.sum(fateMoving, fateServed, fateFresh, fatePrefill, fateDecodeWait)
	lost := r.sum(fateSilent, fateNeverReached, fateDecodeHung, fateDecodeStuck, fatePrefillStuck, fateInflight, fateAtRouter)
	doubt, expiring := r.sum(fateOpen, fateUnanswered, fateConnect), r.n[fateExpiring]
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
	case lost > doubt:
		u.outcome = Wedged
		u.why = fmt.Sprintf("Nothing moves: %s stopped, and nothing seen will bring %s back.", does(lost, "call", "has", "have"), verb(lost, "it", "them"))
	case doubt > 0 && r.longestDoubt() >= unansweredMax:
		u.outcome = Wedged
		u.why = fmt.Sprintf("Nothing moves: %s no answer for up to %s.", does(doubt, "call", "has", "have"), secs(r.longestDoubt()))
	case doubt > 0 && doubt == r.n[fateConnect]:
		u.outcome = r.heldUp(Slow)
		u.why = fmt.Sprintf("%s for a connection, for up to %s, and nothing else is out.", does(doubt, "call", "waits", "wait"), secs(r.oldest(fateConnect)))
	case doubt > 0:
		u.outcome = r.heldUp(Slow)
		u.why = fmt.Sprintf("No token arrives on %s, for up to %s, and whether the servers work on %s cannot be seen.", count(doubt, "call"), secs(r.longestDoubt()), verb(doubt, "it", "them"))
	default:
		r.noCall(&u)
	}
	return u
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
	case r.n[fateBackoff]+r.n[fateRate] > 0:
		u.outcome, u.layer = Slow, LayerPacer
		u.why = fmt.Sprintf("%s for the rate limit or before another attempt: waits that end by themselves.", does(r.n[fateBackoff]+r.n[fateRate], "call", "waits", "wait"))
	case r.toolsAtWork() > 0:
		u.outcome, u.layer = Slow, LayerTool
		u.why = fmt.Sprintf("%s in a tool, none for long.", does(r.toolsAtWork(), "agent", "is", "are"))
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
	return max(r.oldest(fateOpen), r.oldest(fateUnanswered), r.oldest(fateConnect))
}

// layerOfMost is the layer in which most calls are.
func (r *reading) layerOfMost() Layer {
	best, layer := 0, LayerNone
	for _, g := range []struct {
		n     int
		layer Layer
	}{
		{r.sum(fateMoving, fateServed, fateDecodeHung, fateDecodeWait, fateDecodeStuck), LayerDecode},
		{r.sum(fatePrefill, fatePrefillStuck, fateInflight), LayerPrefill},
		{r.sum(fateSilent, fateExpiring), LayerStream},
		{r.sum(fateNeverReached, fateConnect), LayerConnection},
		{r.sum(fateAtRouter), LayerRouter},
	} {
		if g.n > best {
			best, layer = g.n, g.layer
		}
	}
	return layer
}
