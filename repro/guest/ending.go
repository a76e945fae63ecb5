package guest

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving/api"
)

// quietMin is how long nothing must have come for a client that leaves to have left for that.
const quietMin = 10 * time.Second

// errCut is how a client sees an answer that the servers broke off.
var errCut = errors.New("the servers broke the answer off")

// resultOf is how an attempt ended, in the words of the agents' side.
func (t *table) resultOf(c *call, at sim.Instant, how api.End, message string) pacer.AttemptResult {
	r := pacer.AttemptResult{ID: c.AttemptID, Took: at.Sub(c.Sent), Tokens: c.Tokens, Again: how != api.EndComplete}
	switch how {
	case api.EndComplete:
		r.Outcome, r.Status = pacer.AttemptOK, http.StatusOK
	case api.EndRefused, api.EndError:
		t.seen.refuse(c.status)
		c.refused = true
		r.Outcome, r.Status = pacer.AttemptStatus, c.status
		r.Err = &pacer.StatusError{Status: c.status, Message: message, InStream: how == api.EndError}
	case api.EndCut:
		t.seen.Cut++
		r.Outcome, r.Err = pacer.AttemptNetwork, errCut
	case api.EndLeft:
		// Whether a time limit made the client leave, or it did not want the answer any more, looks the
		// same from here; which limit it would be can be told.
		t.seen.Left++
		limit := limitOf(c, at)
		r.Outcome, r.Limit = pacer.AttemptTimeout, string(limit)
		r.Err = fmt.Errorf("the client left (limit %s, by the looks of it)", limit)
	}
	return r
}

// limitOf guesses which time limit has made a client leave, by what it had had.
func limitOf(c *call, at sim.Instant) pacer.Limit {
	switch c.Stage {
	case pacer.StageHeaders:
		return pacer.LimitResponseHeader
	case pacer.StageFirstToken:
		return pacer.LimitFirstToken
	}
	if at.Sub(c.LastToken) >= quietMin {
		return pacer.LimitIdle
	}
	return pacer.LimitTotal
}
