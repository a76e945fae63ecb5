package engine

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// abortedText is what an engine says of a request that has been aborted.
const abortedText = "Aborted by AbortReq."

// statusName returns the type of the error event that stands for an HTTP status.
func statusName(status int) string {
	return strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))
}

func newFailure(status int, message string) *Failure {
	return &Failure{Status: status, Type: statusName(status), Message: message}
}

// failed returns the failure of a leg between the engines.
func (l *Leg) failed(what, why string) *Failure {
	id := "req"
	if l.rank.w.Kind == KindDecode {
		id = "decode_req.req"
	}
	return newFailure(http.StatusInternalServerError, fmt.Sprintf(
		"%s for request rank=%d %s.rid='%s' %s.bootstrap_room=%d with exception KVTransferError(bootstrap_room=%d): %s",
		what, l.rank.index, id, l.Job.Occasion.Key, id, l.Job.Room, l.Job.Room, why))
}

// transferFailed returns the failure of a leg whose memory has not come across.
func (l *Leg) transferFailed(why string) *Failure {
	if l.rank.w.Kind == KindPrefill {
		return l.failed("Prefill transfer failed", why)
	}
	return l.failed("Decode transfer failed", why)
}

// timedOut is the text of a timeout in a state of the handshake.
func (l *Leg) timedOut(after time.Duration, state string) string {
	return fmt.Sprintf("Request %d timed out after %.1fs in KVPoll.%s", l.Job.Room, after.Seconds(), state)
}

// tooLong fails a leg whose prompt is longer than the memory of the rank will ever be.
func (r *rank) tooLong(l *Leg) bool {
	limit := r.e.cfg.Decode.KVTokens
	if r.w.Kind == KindPrefill {
		limit = r.e.cfg.Prefill.KVTokens
	}
	if l.Job.PromptTokens <= limit {
		return false
	}
	r.end(l, StageFailed, newFailure(http.StatusBadRequest, fmt.Sprintf(
		"Request %s exceeds the maximum number of tokens: %d > %d", l.Job.Occasion.Key, l.Job.PromptTokens, limit)))
	return true
}
