package serving_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
)

// TestHonourDeadline: a router that honours deadlines turns away at once who cannot be served in time, by
// how the queue has moved, and nobody else; one that does not lets them wait.
func TestHonourDeadline(t *testing.T) {
	for _, honours := range []bool{false, true} {
		t.Run(fmt.Sprint(honours), func(t *testing.T) {
			su := setup{cfg: func(c *serving.Config) {
				unified(1)(c)
				c.Router.HonourDeadline = honours
				c.Decode.RunningMax, c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 1, 100*time.Millisecond, 0, 0
			}}
			su.run(t, 1, func(p *play) {
				for i := range 40 { // of 10 s each: when they are asked, some 20 are left
					var lost served
					p.async(streamed(fmt.Sprint("r", i), 100, 100), &lost)
				}
				p.sleep(200 * time.Second)
				ask := func(id string, remaining time.Duration) (status int, took time.Duration) {
					q := streamed(id, 100, 10)
					q.Remaining = remaining
					began := p.w.Now()
					ctx, release := p.limit(time.Second)
					defer release(nil)
					h := p.s.Submit(q)
					defer h.Cancel()
					var refused *serving.Refusal
					if errors.As(h.WaitHeaders(ctx), &refused) {
						status = refused.Status
					}
					return status, p.w.Now().Sub(began)
				}
				for _, row := range []struct {
					remaining time.Duration
					refused   bool
				}{{time.Minute, true}, {150 * time.Second, true}, {300 * time.Second, false}, {0, false}} {
					status, took := ask(fmt.Sprint("q", row.remaining), row.remaining)
					if refused := status == 504 && took == 0; refused != (row.refused && honours) || status != 0 && !refused {
						t.Errorf("with %v left: status %d after %v", row.remaining, status, took)
					}
				}
			})
		})
	}
}

// limit is a context that ends after a while.
func (p *play) limit(d time.Duration) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := p.w.WithCancel(p.ctx)
	p.w.AfterFunc(d, func() { cancel(errEnough) })
	return ctx, cancel
}

var errEnough = errors.New("waited long enough")
