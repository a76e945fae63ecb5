package serving

// Gauge is one number that the servers show.
type Gauge struct {
	Name  string
	Value float64
}

// Names of the gauges, in their order. Those that end in _total count since the start of the run.
// Those of the engines are sums over all of them, of what each has shown last: see
// engine.GaugesConfig.
const (
	GaugeRouterInFlight   = "router_in_flight"     // requests that the router has and has not answered in full
	GaugeRouterQueued     = "router_queued"        // those of them that it has not passed on
	GaugePrefillBootstrap = "prefill_bootstrap"    // wait for decode's handshake and memory, or for a slot
	GaugePrefillQueue     = "prefill_queue"        // wait for their turn
	GaugePrefillRunning   = "prefill_running"      // their prompt is being computed
	GaugePrefillInflight  = "prefill_inflight"     // KV memory on its way, and pinned entries
	GaugeDecodePrealloc   = "decode_prealloc"      // wait for the handshake, KV memory or a slot
	GaugeDecodeTransfer   = "decode_transfer"      // memory reserved, KV not there yet: in the prefill engine's queue, chunk or inflight queue
	GaugeDecodeQueue      = "decode_queue"         // wait for room in the running batch
	GaugeDecodeRunning    = "decode_running"       // in the running batch
	GaugeDecodeKV         = "decode_token_usage"   // share of the KV memory that is taken, 0 to 1
	GaugePrefillTokens    = "prefill_tokens_total" // of prompts, computed
	GaugeDecodeTokens     = "decode_tokens_total"  // of answers, made

	GaugeDecodeRetracted  = "decode_retracted_total"         // requests taken out of the running batch for want of memory
	GaugeBootstrapFailed  = "prefill_bootstrap_failed_total" // requests
	GaugeTransferFailed   = "transfer_failed_total"          // requests
	GaugeEngineAborted    = "engine_aborted_total"           // requests, at each engine that has noticed that it was left
	GaugeRouterRetries    = "router_retries_total"           // attempts of the router after the first
	GaugeUnhealthyWorkers = "router_unhealthy_workers"
	GaugeOpenBreakers     = "router_open_breakers"
)

// Gauges returns the gauges in their order, as they are shown at the present.
func (s *Stack) Gauges() []Gauge { return s.AppendGauges(nil) }

// AppendGauges is Gauges for those who ask often and bring the room.
func (s *Stack) AppendGauges(to []Gauge) []Gauge {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	s.checkHealth()
	var p PrefillState
	var d DecodeState
	var retracted, bootstrapFailed, transferFailed, aborted int64
	ranks, unhealthy, open := 0, 0, 0
	for _, pool := range [...]*pool{&s.prefills, &s.decodes} {
		for _, w := range pool.all {
			if w.unhealthy {
				unhealthy++
			}
			if w.breakerState() == BreakerOpen {
				open++
			}
			for rank := range w.engine.Ranks() {
				l, _ := w.engine.Published(rank)
				oneQueue(w.engine, &l)
				p.add(&l)
				d.add(&l)
				retracted += l.RetractedSum
				bootstrapFailed += l.BootstrapFailed
				transferFailed += l.TransferFailed
				aborted += l.Aborted
			}
		}
	}
	for _, w := range s.decodes.all {
		ranks += w.engine.Ranks()
	}
	return append(to,
		Gauge{GaugeRouterInFlight, float64(s.inFlight)},
		Gauge{GaugeRouterQueued, float64(s.queued)},
		Gauge{GaugePrefillBootstrap, float64(p.Bootstrap)},
		Gauge{GaugePrefillQueue, float64(p.Queue)},
		Gauge{GaugePrefillRunning, float64(p.Running)},
		Gauge{GaugePrefillInflight, float64(p.Inflight)},
		Gauge{GaugeDecodePrealloc, float64(d.Prealloc)},
		Gauge{GaugeDecodeTransfer, float64(d.Transfer)},
		Gauge{GaugeDecodeQueue, float64(d.Queue)},
		Gauge{GaugeDecodeRunning, float64(d.Running)},
		Gauge{GaugeDecodeKV, float64(d.KVTokens) / (float64(s.cfg.Decode.KVTokens) * float64(ranks))},
		Gauge{GaugePrefillTokens, float64(p.Tokens)},
		Gauge{GaugeDecodeTokens, float64(d.Tokens)},
		Gauge{GaugeDecodeRetracted, float64(retracted)},
		Gauge{GaugeBootstrapFailed, float64(bootstrapFailed)},
		Gauge{GaugeTransferFailed, float64(transferFailed)},
		Gauge{GaugeEngineAborted, float64(aborted)},
		Gauge{GaugeRouterRetries, float64(s.counts.retries)},
		Gauge{GaugeUnhealthyWorkers, float64(unhealthy)},
		Gauge{GaugeOpenBreakers, float64(open)},
	)
}
