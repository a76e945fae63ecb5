package diagnose

import "fmt"

// commentStream: bytes arrive (comments, keep-alives, empty events), tokens do not.
func commentStream() cause {
	return cause{
		name: CauseCommentStream, outcome: Wedged, layer: LayerStream,
		judge: judgeCommentStream,
		because: func(r *reading) string {
			return fmt.Sprintf("%s bytes but no tokens: the connection is kept alive, so an idle limit on bytes never fires, and nothing is produced.", does(r.commentStreams(), "stream", "gets", "get"))
		},
		next: func(r *reading) []string {
			return []string{"--set policy.idle=60s --set policy.idle_by=token: count tokens as progress, not bytes"}
		},
	}
}

// commentStreams counts streams on which bytes arrive and tokens do not, unless the servers are seen
// to produce tokens for them.
func (r *reading) commentStreams() int {
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.bytes && c.fate != fateServed && c.fate != fatePrefill && c.fate != fateDecodeWait && c.fate != fateFresh {
			n++
		}
	}
	return n
}

func judgeCommentStream(r *reading, j *judgement) {
	n := r.commentStreams()
	if n == 0 {
		j.refute("no stream gets bytes without tokens, unless the servers work on it")
		return
	}
	j.pro("%s bytes after tokens have stopped", does(n, "stream", "gets", "get"))
	j.beside = fmt.Sprintf("%s bytes but no tokens", does(n, "stream", "gets", "get"))
	if _, _, ok := r.gauges.recent[decodeTokens].rate(); !ok {
		j.open(0.4*r.share(n), "decode_tokens_total over half a minute: does the model think unseen, or not at all?")
		return
	}
	j.support(0.85 * r.share(n))
}
