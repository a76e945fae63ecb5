package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/pacer"
)

// proxyBuffering: something between client and servers holds answers back and hands each over whole.
func proxyBuffering() cause {
	return cause{
		name: CauseProxyBuffering, outcome: Slow, layer: LayerConnection,
		judge: judgeProxyBuffering,
		because: func(r *reading) string {
			b := r.buffered()
			text := fmt.Sprintf("Something between the agents and the servers holds answers back: of %s that took their time, %d came in one piece, faster than any model makes tokens, with the first token at the end", count(b.late, "answer"), b.atOnce)
			if b.waiting > 0 {
				text += fmt.Sprintf("; %s nothing so far", does(b.waiting, "call", "has had", "have had"))
				if b.served > 0 {
					text += fmt.Sprintf(" although the servers are at work on %d of them", b.served)
				}
			}
			return text + ". Nothing is lost, but no limit on silence can tell this from a hang."
		},
		next: func(r *reading) []string {
			return []string{
				"send one streamed request to the router directly, past every proxy, and one the usual way: do tokens come one by one?",
				"turn response buffering off in the proxy (nginx: proxy_buffering off, or the header X-Accel-Buffering: no), and its compression of text/event-stream",
				"until then, allow the whole length of an answer before the first token: limits on headers, first token and idle time cut healthy answers off",
			}
		},
	}
}

// buffered sums up how answers arrive.
type buffered struct {
	late, atOnce int           // answers so far that had many tokens and came late; those of them that came at once
	waiting      int           // calls that have had no token for lateMin or more
	served       int           // of these: those that the servers make tokens for, or by the router's log have answered
	most         time.Duration // longest of these waits
}

func (r *reading) buffered() buffered {
	t := &r.now.Totals
	b := buffered{late: t.AnswersLate, atOnce: t.AnswersAtOnce}
	if end := &r.now.EndTotals; end.AnswersLate > b.late { // the stall ended with one
		b.late, b.atOnce = end.AnswersLate, end.AnswersAtOnce
	}
	for i := range r.calls {
		c := &r.calls[i]
		if !sent(c.CallState) || c.Tokens > 0 || c.quiet < quietMin {
			continue
		}
		b.waiting++
		b.most = max(b.most, c.quiet)
		if c.fate == fateServed || c.withheld {
			b.served++
		}
	}
	return b
}

func judgeProxyBuffering(r *reading, j *judgement) {
	b := r.buffered()
	const compare = "how the tokens of one answer arrive, with the time of each: one by one, or all at its end?"
	switch {
	case b.late == 0 && b.waiting > 0 && b.served > 0:
		j.open(0.3*r.share(b.served), compare)
		j.pro("%s had no token for up to %s though the servers work on %d of them, and no answer has come so far that would show how tokens arrive", does(b.waiting, "call", "has", "have"), secs(b.most), b.served)
		return
	case b.late == 0:
		j.refute("no answer came late and at once in this run")
		return
	case 2*b.atOnce < b.late:
		j.refute("%d of %s that came late came at once", b.atOnce, count(b.late, "answer"))
		return
	case r.n[fateMoving] > 0 && 2*r.n[fateMoving] >= r.sides.Sent:
		j.refute("tokens arrive on %s", ofAll(r.n[fateMoving], r.sides.Sent, "call"))
		return
	}
	j.support(0.97 * float64(b.atOnce) / float64(b.late))
	j.beside = fmt.Sprintf("%s in one piece at the end", does(b.atOnce, "answer", "came", "came"))
	j.pro("%d of %s with many tokens that came late came in one piece", b.atOnce, count(b.late, "answer"))
	if b.waiting > 0 {
		j.pro("%s had no token for up to %s, and the servers work on, or have answered, %d of them", does(b.waiting, "call", "has", "have"), secs(b.most), b.served)
	}
	if n := r.withheldCount(); n > 0 {
		j.pro("by the router's log %s headers that have not arrived", does(n, "call", "was sent", "were sent"))
	}
	if b.served == 0 && b.waiting > 0 && r.gauges.loaded > 0 {
		j.support(j.score / 2)
		j.con("the servers do not seem to work on what is out now")
	}
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "call"))
	}
}

// withheldCount counts the calls without headers that the router's log has answered.
func (r *reading) withheldCount() int {
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.withheld && c.Stage == pacer.StageHeaders {
			n++
		}
	}
	return n
}
