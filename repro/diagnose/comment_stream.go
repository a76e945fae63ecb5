package diagnose

import (
	"fmt"
	"time"
)

// commentStream: bytes arrive (comments, keep-alives, empty events), tokens do not.
func commentStream() cause {
	return cause{
		name: CauseCommentStream, outcome: Wedged, layer: LayerStream,
		judge: judgeCommentStream,
		because: func(r *reading) string {
			s := r.commentStreams()
			text := fmt.Sprintf("%s bytes but no tokens, for up to %s: the connection is kept alive, so an idle limit on bytes never fires, and nothing is produced.", does(s.n, "stream", "gets", "get"), secs(s.most))
			if r.blind() {
				text += " " + unseenText
			}
			return text
		},
		next: func(r *reading) []string {
			out := []string{"--set policy.idle=60s --set policy.idle_by=token --set policy.first_token=120s: count tokens as progress, not bytes"}
			if r.blind() {
				out = append(out, metricsAdvice, probeAdvice)
			}
			return out
		},
	}
}

// commentStreams sums up the streams on which bytes arrive and tokens do not, unless the servers are
// seen to produce tokens for them.
type commentStreams struct {
	n    int
	late int           // for so long that nothing need be known of the servers
	most time.Duration // longest time without a token
}

func (r *reading) commentStreams() commentStreams {
	var s commentStreams
	for i := range r.calls {
		c := &r.calls[i]
		if !c.bytes || c.fate == fateServed || c.fate == fatePrefill || c.fate == fateDecodeWait || c.fate == fateDecodeHung || c.fate == fateFresh {
			continue
		}
		s.n++
		s.most = max(s.most, c.quiet)
		limit := max(commentsMin, r.stalls(commentsStalls)) // as yet without a token
		if c.Tokens > 0 {
			limit = r.silentLimit(c.gap)
		}
		if c.quiet >= limit {
			s.late++
		}
	}
	return s
}

func judgeCommentStream(r *reading, j *judgement) {
	s := r.commentStreams()
	if s.n == 0 {
		j.refute("no stream gets bytes without tokens, unless the servers work on it")
		return
	}
	j.pro("%s bytes and no tokens, for up to %s", does(s.n, "stream", "gets", "get"), secs(s.most))
	j.beside = fmt.Sprintf("%s bytes but no tokens", does(s.n, "stream", "gets", "get"))
	_, _, counted := r.gauges.recent[decodeTokens].rate()
	switch {
	case counted:
		j.support(0.95 * r.share(s.n))
		j.pro("the decode engine does not count them as running, or makes nothing for them: %s", r.gauges.told(decodeRunning))
	case r.blind() && s.late > 0:
		j.support(0.6 * r.share(s.late))
		j.con("nothing is known of the servers: a model that thinks for so long, or a long queue, looks the same")
	default:
		j.open(0.4*r.share(s.n), "decode_tokens_total over half a minute: does the model think unseen, or not at all?")
	}
}
