package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/wedge/pacer"
)

// silentStream: streams go quiet part-way, the servers are done with them or have forgotten them,
// and no idle limit ends them.
func silentStream() cause {
	return cause{
		name: CauseSilentStream, outcome: Wedged, layer: LayerStream,
		judge: judgeSilentStream,
		because: func(r *reading) string {
			s := r.silent()
			text := fmt.Sprintf("%s went quiet part-way, %s ago", count(s.n, "stream"), span(s.least, s.most))
			switch {
			case s.gone > 0:
				text += ", and the servers have no such requests any more"
			case s.unseen < s.n:
				text += ", and no engine works on them"
			}
			switch {
			case r.now.Setup.FromServers:
				text += "; the client has not left them either"
			case r.now.Setup.IdleLimit == 0:
				text += "; no idle limit is set, so nothing ends them"
			}
			if s.slots > 0 {
				text += fmt.Sprintf(" and the %s that they hold never %s back", count(s.slots, "slot"), verb(s.slots, "comes", "come"))
			}
			text += "."
			if r.blind() {
				text += " " + unseenText
			}
			if n := r.n[fateMoving]; n > 0 {
				text += fmt.Sprintf(" Tokens still arrive on %s.", count(n, "other call"))
			}
			return text
		},
		next: func(r *reading) []string {
			out := []string{
				"--set policy.idle=60s ends a stream that is quiet for that long and tries again",
				"send one request through the router by hand: if it is answered, the servers are well and only these streams are lost",
				"look for what sits between client and router (proxy, NAT, load balancer) and drops quiet connections",
			}
			if r.blind() {
				out = append(out, metricsAdvice)
			}
			return out
		},
	}
}

// silent sums up the streams that have gone quiet for good.
type silent struct {
	n, gone, unseen int           // all; those that the router's log denies; those nothing is known of
	early           int           // of those nothing is known of: not quiet for long enough to tell
	slots           int           // slots that they hold
	least, most     time.Duration // quiet times
	gap             time.Duration // longest of their own times between tokens
}

func (r *reading) silent() silent {
	var s silent
	for i := range r.calls {
		c := &r.calls[i]
		if c.fate != fateSilent || c.bytes || c.together {
			continue
		}
		if s.n == 0 || c.quiet < s.least {
			s.least = c.quiet
		}
		s.n++
		s.most, s.gap = max(s.most, c.quiet), max(s.gap, c.gap)
		switch {
		case c.gone:
			s.gone++
		case c.server == ServerUnseen && c.quiet < r.silentLimit(c.gap):
			s.early++
			s.unseen++
		case c.server == ServerUnseen:
			s.unseen++
		}
		if c.HoldsSlot {
			s.slots++
		}
	}
	return s
}

func judgeSilentStream(r *reading, j *judgement) {
	s := r.silent()
	j.beside = fmt.Sprintf("%s gone quiet for good, %s ago", does(s.n, "stream", "has", "have"), span(s.least, s.most))
	switch {
	case s.n == 0:
		r.noSilentStream(j)
		return
	case s.early == s.n:
		j.open(0.5*r.share(s.n), "the router's log or the gauges, or a later capture: has the server finished them?")
	case s.unseen == s.n && r.silentAtOnce() >= max(togetherMin, (2*s.n+2)/3):
		j.open(0.5*r.share(s.n), "decode_tokens_total at the instant at which they stopped, and after: did the engine go on, or stop with them?")
		j.con("%s within %s of each other: so do all streams of an engine that hangs, or of a connection that dies", fmt.Sprintf("%d of %d stopped", r.silentAtOnce(), s.n), secs(togetherFor))
	default:
		sure := 0.95*float64(s.gone) + 0.9*float64(s.n-s.gone-s.unseen) + 0.6*float64(s.unseen-s.early)
		j.support(r.share(s.n) * sure / float64(s.n))
	}
	text := fmt.Sprintf("%s had no token for %s", does(s.n, "stream", "has", "have"), span(s.least, s.most))
	if s.gap > 0 {
		text += fmt.Sprintf("; before, tokens came every %s or faster", secs(s.gap))
	}
	j.pro("%s", text)
	r.silentServerSide(j, s)
	switch {
	case r.now.Setup.FromServers:
		j.pro("the client has not left them: if it has a limit on silence, it is longer than this")
	case r.now.Setup.IdleLimit == 0:
		j.pro("no idle limit is set: nothing ends a quiet stream")
	}
	if m := &r.moved; m.ok && m.same > 0 {
		j.pro("of %s in flight at the capture %s earlier, %d have had no token since", count(m.same, "attempt"), secs(m.over), m.still)
	}
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "other call"))
	}
}

// silentAtOnce is how many of the silent streams stopped at one instant, of those that stopped so.
func (r *reading) silentAtOnce() int {
	var streams []*callReading
	for i := range r.calls {
		if c := &r.calls[i]; c.fate == fateSilent && !c.bytes {
			streams = append(streams, c)
		}
	}
	slices.SortStableFunc(streams, func(a, b *callReading) int { return cmp.Compare(a.lastSign(), b.lastSign()) })
	from, to := largestGroup(streams)
	return to - from
}

// silentServerSide adds what the servers say about silent streams.
func (r *reading) silentServerSide(j *judgement, s silent) {
	if s.gone > 0 {
		log := r.now.Router
		j.pro("the router has no open request for %d of %d; its log has lines for %d started and %d finished, and %s", s.gone, s.n, log.Started, log.Finished, r.lines.text())
	}
	running := &r.gauges.recent[decodeRunning]
	switch {
	case running.ok() && running.max == 0:
		j.pro("decode_running 0, %s", r.gauges.under)
		if r.sides.Usable && r.lines.form == formHeaders {
			j.pro("the router's log cannot show it: %s", r.lines.text())
		}
	case running.ok() && s.gone+s.unseen < s.n:
		j.pro("%s, %s: fewer than the streams", running.tell("decode_running"), r.gauges.under)
	case running.ok():
	case !r.sides.Usable:
		j.con("neither a router log nor gauges: from here a long pause of the model looks the same")
	}
}

// noSilentStream says why there is none.
func (r *reading) noSilentStream(j *judgement) {
	streams, quiet := 0, 0
	var most time.Duration
	for i := range r.calls {
		if c := &r.calls[i]; c.Stage == pacer.StageStream {
			streams++
			most = max(most, c.quiet)
			if c.fate != fateMoving {
				quiet++
			}
		}
	}
	switch {
	case r.n[fateExpiring] > 0:
		j.open(0.2*r.share(r.n[fateExpiring]), "a capture after the idle limit of "+secs(r.now.Setup.IdleLimit)+" has passed")
		j.pro("%s quiet for up to %s, and the servers do not have them", does(r.n[fateExpiring], "stream", "is", "are"), secs(r.oldest(fateExpiring)))
		j.con("the idle limit of %s will end them", secs(r.now.Setup.IdleLimit))
		j.beside = fmt.Sprintf("%s quiet and will be ended by the idle limit", does(r.n[fateExpiring], "stream", "is", "are"))
	case streams == 0:
		j.refute("no call is in stage stream")
	case r.cut.n > 0 && r.cut.n == quiet:
		j.refute("the %s that are quiet stopped at one instant, so it is not for what each of them had got to", count(quiet, "stream"))
	case quiet == 0:
		j.refute("every stream has had a token within the last %s", secs(max(most, 100*time.Millisecond)))
	case r.lostOnTheWay() > 0:
		n := r.lostOnTheWay()
		j.open(0.3*r.share(n), "a capture when the servers have finished them: do the streams end?")
		j.pro("%s had tokens and then none for %s or more", does(n, "stream", "has", "have"), secs(quietMax))
		j.con("the servers still have them")
		j.beside = fmt.Sprintf("%s stopped though the servers still have them", does(n, "stream", "has", "have"))
	default:
		j.refute("%s quiet, but the servers still have them", does(quiet, "stream", "is", "are"))
	}
}

// lostOnTheWay counts streams that had tokens, have had none for quietMax or more, and that the
// servers still work on, as far as can be seen: what is produced may not arrive.
func (r *reading) lostOnTheWay() int {
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.Tokens > 0 && (c.fate == fateServed || c.fate == fateOpen) && c.quiet >= quietMax {
			n++
		}
	}
	return n
}

// span writes a range of durations.
func span(least, most time.Duration) string {
	a, b := secs(least), secs(most)
	if a == b {
		return b
	}
	if stem, ok := strings.CutSuffix(a, " s"); ok && strings.HasSuffix(b, " s") {
		return stem + " to " + b
	}
	return a + " to " + b
}
