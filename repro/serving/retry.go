package serving

import (
	"net/http"
	"time"
)

// failed is what the router does with an error before the response headers: it closes its calls, and
// tries again, or passes the error on.
func (s *Stack) failed(r *request, e *Refusal) {
	a := r.a
	if a != nil {
		a.abort()
	}
	c := &s.cfg.Router.Retry
	if again := retried(e.Status); !again || r.attempts >= c.AttemptsMax {
		if again {
			s.counts.exhausted++
		}
		s.refuse(r, e)
		return
	}
	if a != nil {
		r.a, a.r = nil, nil
		s.release(a)
		s.queued++
	}
	wait := c.wait(r.attempts)
	draw := s.w.Stream("router/backoff", r.ID).At(r.attempts)
	wait += time.Duration(float64(wait) * c.Jitter * (2*draw.Float64() - 1))
	s.counts.backoff(r.attempts, wait)
	r.enter(phaseBackoff)
	s.engines.Schedule(s.now().Add(wait), &r.timer)
}

// retried says whether the router tries again after an answer.
func retried(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// wait returns how long the wait after the n-th attempt is, before its jitter.
func (c *RetryConfig) wait(n int) time.Duration {
	d := float64(c.Backoff)
	for ; n > 1 && d < float64(c.BackoffMax); n-- {
		d *= c.Factor
	}
	return min(time.Duration(d), c.BackoffMax)
}
