package diagnose

import (
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// retractedEvidence is of a decode engine that ran out of memory a minute and a half ago: it took all
// out of its batch but those that move, and the queue that they are in has no gauge.
func retractedEvidence(moving int) *harness.Evidence {
	b := stallOf("decode-memory-2", 30, 16, 600*s, 2*m)
	for i := range 16 - moving {
		b.stream(1, 110*s+time.Duration(i)*5*s, 90*s)
	}
	rate := 20 * float64(moving)
	b.stream(moving, 300*s, 0).slot(14, m).headersLog().passed(80, 100*s).
		gauges(0, rate, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugeRouterInFlight, 16), gauge(harness.GaugeDecodeKV, 0.4), gauge(harness.GaugeDecodeRetracted, float64(16-moving))).before(m)
	for i := range b.ev.Samples {
		x := &b.ev.Samples[i]
		old := b.ev.At.Sub(x.At)
		if old > 90*s {
			setValue(x, harness.GaugeDecodeRetracted, 0)
		} else if moving > 0 {
			setValue(x, harness.GaugeDecodeRunning, float64(moving))
		}
		setValue(x, harness.GaugeDecodeTokens, 300000-rate*min(old, 90*s).Seconds()-400*max(0, old-90*s).Seconds())
	}
	return b.done()
}

// scarceMemory is of a decode engine whose memory is enough for two at a time.
func scarceMemory() *harness.Evidence {
	return stallOf("decode-memory-3", 30, 16, 600*s, m).stream(2, 100*s, 0).headers(14, 90*s).slot(14, m).headersLog().
		set(func(ev *harness.Evidence) { ev.Calls[0].Sent, ev.Calls[1].Sent = ev.Calls[2].Sent, ev.Calls[2].Sent }).
		gauges(30, 40, gauge(harness.GaugeDecodeRunning, 2), gauge(harness.GaugeDecodePrealloc, 14), gauge(harness.GaugePrefillBootstrap, 14), gauge(harness.GaugeDecodeKV, 0.97)).done()
}

// withheldEvidence is of answers that the router has sent and that never arrived.
func withheldEvidence() *harness.Evidence {
	b := stallOf("connection-dead-3", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m)
	b.ev.Router.Open = nil
	for i := range b.ev.Calls {
		if c := &b.ev.Calls[i]; c.Stage == pacer.StageHeaders {
			b.ev.Router.Started--
			b.finished(c, b.ago(80*s))
		}
	}
	return b.gauges(0, 0).done()
}

// headerLimits is of requests that a limit on response headers cuts off while prefill works.
func headerLimits() *harness.Evidence {
	b := stallOf("timeout-cascade-2", 30, 30, 900*s, m).headers(22, 12*s)
	for range 8 {
		b.newCall(pacer.StageBackoff, 2*s, 60*s)
	}
	for i := range b.ev.Calls {
		c := &b.ev.Calls[i]
		c.Attempts, c.LastError = 3, (&pacer.LimitError{Limit: pacer.LimitResponseHeader, After: 30 * s}).Error()
	}
	b.ev.Window = harness.Totals{Attempts: 30, AttemptsTimeout: 28, TimeoutsHeader: 28, Left: 28}
	b.ev.Totals.Left, b.ev.Totals.AttemptsOK, b.ev.Totals.AttemptsTook = 60, 10, 500*s
	return b.gauges(5000, 3, gauge(harness.GaugePrefillQueue, 12), gauge(harness.GaugePrefillRunning, 1), gauge(harness.GaugeDecodeTransfer, 22), gauge(harness.GaugePrefillBootstrap, 9)).done()
}

// noWorkers is of requests that the router refuses since it has no worker left to send them to.
func noWorkers() *harness.Evidence {
	ev := refusedEvidence(503, 0)
	ev.Window.Attempts503Workers = ev.Window.Attempts503
	ev.Totals = ev.Window
	return ev
}

// serverFailures is of requests that fail at the servers, each after a while.
func serverFailures() *harness.Evidence {
	b := stallOf("failures-1", 4, 4, 900*s, 600*s).stream(1, 20*s, 0).headers(3, 100*s)
	for i := range b.ev.Calls {
		c := &b.ev.Calls[i]
		c.Attempts, c.LastError = 3, "pacer: error event in stream (code 500): Decode transfer failed"
	}
	b.ev.Window = harness.Totals{Attempts: 12, AttemptsStatus: 10, Backoffs: 10}
	b.ev.Totals = b.ev.Window
	return b.gauges(100, 20, gauge(harness.GaugeDecodeRunning, 1), gauge(harness.GaugePrefillQueue, 3)).done()
}
