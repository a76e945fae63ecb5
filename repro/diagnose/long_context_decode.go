package diagnose

import (
	"fmt"
	"time"
)

// longContextDecode: the decode engine has the requests in its batch and produces nothing, or next to
// nothing, as an attention kernel does that hangs or crawls above some length of context.
func longContextDecode() cause {
	return cause{
		name: CauseLongContextDecode, outcome: Wedged, layer: LayerDecode,
		judge: judgeLongContextDecode,
		because: func(r *reading) string {
			h := r.decodeHang()
			text := fmt.Sprintf("The decode engine holds %s in its batch and produces no token for any: it hangs, and the requests in it will not finish", count(h.n, "request"))
			if h.crawls {
				text = fmt.Sprintf("The decode engine crawls: it makes %s tokens a second for each of the %s requests in its batch, and at that rate they will not finish", num(h.each), num(h.running))
			}
			if h.behind > 0 {
				text += fmt.Sprintf("; %s behind them", does(h.behind, "call", "waits", "wait"))
			}
			return text + "." + r.contextText(&h)
		},
		next: func(r *reading) []string {
			return []string{
				"run one request with a context as long as the longest here, and one with a short one, each alone, and compare tokens a second",
				"compare the decode engine's settings with those of the last day it worked, above all those of its attention kernels",
				"look at the decode engine's processes: is the GPU busy, and in which kernel?",
			}
		},
	}
}

// decodeHang sums up a decode engine that makes nothing of what it has.
type decodeHang struct {
	n       int // calls in its batch that get nothing, or next to nothing
	streams int // of these, those that have had tokens
	behind  int // calls that wait for it
	crawls  bool
	each    float64 // tokens a second of each running request
	running float64
	// Of the contexts of the n, prompt and answer so far, in tokens; 0: not known.
	least, most int
	longestDone int // longest prompt that an attempt of this run ended well with; 0: none did
}

func (r *reading) decodeHang() decodeHang {
	g := &r.gauges
	h := decodeHang{n: r.n[fateDecodeHung], running: g.recent[decodeRunning].mean, longestDone: r.now.Totals.PromptTokensMax}
	rate, _, ok := g.recent[decodeTokens].rate()
	if ok && rate == 0 && r.n[fateMoving] > 0 { // a step may take longer than the samples of late go back
		rate, _, ok = g.stall[decodeTokens].rate()
	}
	if ok && rate > 0 && h.running >= 1 {
		h.each = rate / h.running
		h.crawls = h.each < crawlMax
	}
	if h.crawls = h.crawls && r.decodeSettled() && !r.promptsFirst(); h.crawls {
		h.n = r.sum(fateMoving, fateServed, fateOpen, fateDecodeHung)
	}
	// Those that later ones have overtaken waited for their handshake before decode stood still.
	h.behind = r.sum(fateDecodeWait) + r.stuck() - r.n[fateUnpaired]
	for i := range r.calls {
		c := &r.calls[i]
		if c.fate != fateDecodeHung && !(h.crawls && (c.fate == fateMoving || c.fate == fateServed || c.fate == fateOpen)) {
			continue
		}
		if c.Tokens > 0 {
			h.streams++
		}
		if length := c.PromptTokens + c.Tokens; c.PromptTokens > 0 {
			if h.least == 0 || length < h.least {
				h.least = length
			}
			h.most = max(h.most, length)
		}
	}
	return h
}

// decodeSettled says whether a call has been in the batch for long enough to have had its tokens: a gauge
// of a batch that has drained stays as it was, until somebody joins.
func (r *reading) decodeSettled() bool {
	for i := range r.calls {
		switch c := &r.calls[i]; c.fate {
		case fateMoving, fateServed, fateOpen, fateDecodeHung:
			if age(r.now.At, c.Since) >= stillMin {
				return true
			}
		}
	}
	return false
}

// promptsFirst says whether the engine that decodes has been computing prompts instead: one that does both
// makes few tokens as long as new prompts come, and many after that. Engines that do one of them each show
// what is between them.
func (r *reading) promptsFirst() bool {
	for _, between := range [...]gaugeIndex{prefillBootstrap, prefillInflight, decodePrealloc, decodeTransfer} {
		if r.gauges.stall[between].max > 0 {
			return false
		}
	}
	rate, _, ok := r.gauges.recent[prefillTokens].rate()
	return ok && rate >= promptsMin
}

// contextText says what the requests have in common, if it is their length.
func (r *reading) contextText(h *decodeHang) string {
	switch {
	case h.most == 0 || h.longestDone == 0:
		return ""
	case h.most > h.longestDone:
		return fmt.Sprintf(" Their contexts are %s tokens long, and no prompt of more than %d has been answered in this run.", spanOf(h.least, h.most), h.longestDone)
	}
	return fmt.Sprintf(" It is not their length alone: contexts are %s tokens long, and a prompt of %d has been answered in this run.", spanOf(h.least, h.most), h.longestDone)
}

func spanOf(least, most int) string {
	if least == most {
		return num(float64(most))
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func judgeLongContextDecode(r *reading, j *judgement) {
	g := &r.gauges
	rate, over, ok := g.recent[decodeTokens].rate()
	h := r.decodeHang()
	switch {
	case h.n > 0 && !h.crawls && 4*h.n < r.stuck():
		j.open(0.3*r.share(h.n), "decode_running once decode_tokens_total moves again: are they still there?")
		j.con("%s in the batch as its gauge has it, which may be from before decode stood still; %s elsewhere", does(h.n, "quiet call", "is", "are"), count(r.stuck()-h.n, "other"))
	case h.n > 0 && !h.crawls && h.streams == 0 && r.n[fateUnpaired] >= h.n:
		j.open(0.3*r.share(h.n), "decode_running once decode_tokens_total moves again: are they still there?")
		j.con("%s in the batch by number alone, without headers, and what handshakes that do not come about hold up is certain: %s", does(h.n, "quiet call", "is", "are"), count(r.n[fateUnpaired], "request"))
	case h.n > 0 && (h.crawls || r.n[fateDecodeHung] > 0):
		j.support(0.9 * r.share(h.n+h.behind))
		if h.crawls { // its calls look alive, one token at a time
			j.support(0.97 * r.share(h.n+h.behind))
		}
		j.beside = fmt.Sprintf("%s in a decode batch that makes nothing", does(h.n, "request", "is", "are"))
		r.hangObservations(j, &h, over)
	case ok && rate > 0:
		j.refute("the decode engine produced %.0f tokens a second over %s", rate, secs(over))
	case r.n[fateMoving] > 0:
		j.refute("tokens arrive on %s", count(r.n[fateMoving], "call"))
	case r.n[fateOpen] > 0:
		j.open(0.3*r.share(r.n[fateOpen]), "decode_tokens_total over half a minute, while requests are out")
		j.pro("%s quiet, and the servers have them", does(r.n[fateOpen], "call", "is", "are"))
	case r.sum(fateUnanswered, fateSilent) > 0 && g.loaded == 0:
		j.open(0.1, "decode_running and decode_tokens_total over half a minute, while requests are out")
	default:
		j.refute("no quiet call is in the decode batch")
	}
}

func (r *reading) hangObservations(j *judgement, h *decodeHang, over time.Duration) {
	g := &r.gauges
	if h.crawls {
		j.pro("decode_tokens_total grows by %s tokens a second for each running request, where decoding makes ten times as many and more", num(h.each))
	} else {
		if rate, _, ok := g.recent[decodeTokens].rate(); ok && rate > 0 {
			j.pro("decode_tokens_total grows no faster than the tokens that arrive on other calls: these get none")
		} else {
			j.pro("%s, but decode_tokens_total has not moved for %s", g.recent[decodeRunning].tell("decode_running"), secs(over))
			j.con("gauges can freeze with their engine: the batch may be older than it looks")
		}
		j.pro("%s quiet for up to %s", does(h.n, "call", "is", "are"), secs(r.oldest(fateDecodeHung)))
		if g.unseen >= 1 {
			j.pro("while decode made tokens its batch had at least %s more than the agents had had headers of", count(int(g.unseen), "request"))
		}
	}
	switch {
	case h.most == 0:
	case h.longestDone == 0:
		j.pro("their contexts are %s tokens long, and no attempt of this run has ended well to compare them with", spanOf(h.least, h.most))
	case h.most > h.longestDone:
		j.pro("their contexts are %s tokens long, and the longest prompt that has been answered in this run had %d", spanOf(h.least, h.most), h.longestDone)
	default:
		j.con("their contexts are %s tokens long, and a prompt of %d has been answered in this run", spanOf(h.least, h.most), h.longestDone)
	}
	if h.behind > 0 {
		j.pro("%s behind them", does(h.behind, "call", "waits", "wait"))
	}
}
