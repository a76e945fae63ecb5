package diagnose

import "fmt"

// ignoredAbort: the decode engine goes on for clients that have left, so that its batch is full of
// requests whose tokens nobody gets, and the others are slow.
func ignoredAbort() cause {
	return cause{
		name: CauseIgnoredAbort, outcome: Slow, layer: LayerDecode,
		judge: judgeIgnoredAbort,
		because: func(r *reading) string {
			z := r.zombies()
			return fmt.Sprintf("The decode engine works for clients that have left: decode has %s requests more than the %d that the agents have out (decode_running %s), and agents left %s before the end in this run. These go on to their last token and slow down the others.",
				num(z.more), r.sides.Sent, num(r.gauges.recent[decodeRunning].mean), count(z.left, "attempt"))
		},
		next: func(r *reading) []string {
			return []string{
				"stop all agents and look at decode_running: what runs on with nobody asking is for clients that have left",
				"search the engine's log for \"state was deleted\", which it says for each token of such a request, and compare its version with those that lose aborts (#34160)",
				"POST /abort_request with abort_all ends them; a lower max_tokens bounds them",
				"make agents leave fewer requests: raise the time limits, above all those that fire in mid-answer",
			}
		},
	}
}

// zombies sums up the requests that the decode side has and no agent waits for.
type zombies struct {
	more float64 // on average, of the recent samples
	part float64 // of all that the decode side has
	left int     // attempts that the agents have left in this run
	made float64 // tokens a second that decode makes
	got  float64 // and that arrive at most, both over the stall
}

func (r *reading) zombies() zombies {
	g := &r.gauges
	z := zombies{more: g.excess.mean}
	z.left, _ = r.leftEarly()
	if all := z.more + float64(r.sides.Sent); all > 0 {
		z.part = z.more / all
	}
	if s := &g.stall[decodeTokens]; s.ok() {
		over := max(s.to.Sub(s.from), r.now.StalledFor).Seconds()
		z.made = g.grown(decodeTokens) / max(1, s.to.Sub(s.from).Seconds())
		z.got = float64(max(0, r.now.Window.TokensReceived)) / max(1, over)
	}
	return z
}

// tell says whether enough of them are seen to slow down everybody else.
func (z *zombies) tell(g *readings) bool {
	return g.excess.ok() && g.excess.min >= 1 && !g.stands(decodeTokens) && z.more >= 2 && z.part >= zombieShare
}

func judgeIgnoredAbort(r *reading, j *judgement) {
	g := &r.gauges
	z := r.zombies()
	const floor = "decode_running after the agents have stopped: does it fall to 0 within seconds?"
	switch {
	case z.left == 0 && g.stall[engineAborted].last == 0:
		j.refute("no agent has left a request early in this run")
		return
	case !g.excess.ok():
		j.open(0, floor)
		return
	case g.excess.min < 1:
		j.refute("the decode side had no more requests than the agents have out at least once, %s", g.under)
		return
	case g.stands(decodeTokens):
		j.open(0.1, floor)
		j.con("decode_tokens_total stands still: the gauges may be old")
		return
	case !z.tell(g):
		j.open(0.2*z.part, floor)
		j.con("only %s requests more than the agents have out: engines notice a client that leaves some seconds late", num(z.more))
		return
	}
	// A fifth of them begins to tell, and a third explains what the rest waits for.
	j.support(0.97 * min(1, 3*z.part))
	j.beside = fmt.Sprintf("decode has %s requests more than the agents have out, on average", num(z.more))
	j.pro("the decode side had %s requests more than the agents had out on average, and at least %s, %s", num(z.more), num(g.excess.min), g.under)
	j.pro("%s", g.told(decodeRunning))
	if z.left > 0 {
		j.pro("agents have left %s before their end in this run", count(z.left, "attempt"))
	}
	if z.made > waste*z.got && z.made > 0 {
		j.pro("decode makes %.0f tokens a second, of which %.0f arrive at most", z.made, z.got)
	}
	_, stall := r.leftEarly()
	if s := &g.stall[engineAborted]; s.ok() && stall > 0 {
		if noticed := g.grown(engineAborted); 2*noticed < float64(stall) {
			j.pro("engine_aborted_total grew by %s in the stall, while %s left", num(noticed), does(stall, "request", "was", "were"))
		} else {
			j.support(j.score / 2)
			j.con("engine_aborted_total grew by %s in the stall, while %s left: aborts do arrive", num(noticed), does(stall, "request", "was", "were"))
		}
	}
}
