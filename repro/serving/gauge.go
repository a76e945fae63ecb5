package serving

// Gauge is one number that the servers show.
type Gauge struct {
	Name  string
	Value float64
}

// Names of the gauges, in their order. Those that end in _total count since the start of the run.
const (
	GaugeRouterInFlight   = "router_in_flight"     // requests that the router has and has not answered in full
	GaugeRouterQueued     = "router_queued"        // those of them that it has not passed on
	GaugePrefillBootstrap = "prefill_bootstrap"    // wait for KV memory or slots
	GaugePrefillQueue     = "prefill_queue"        // wait for their turn
	GaugePrefillRunning   = "prefill_running"      // in the chunk under way
	GaugePrefillInflight  = "prefill_inflight"     // KV memory on its way, and pinned entries
	GaugeDecodePrealloc   = "decode_prealloc"      // the same requests as prefill_bootstrap: see the package comment
	GaugeDecodeTransfer   = "decode_transfer"      // memory reserved, KV not there yet: in the prefill engine's queue, chunk or inflight queue
	GaugeDecodeQueue      = "decode_queue"         // wait for room in the running batch
	GaugeDecodeRunning    = "decode_running"       // in the running batch
	GaugeDecodeKV         = "decode_token_usage"   // share of the KV memory that is reserved, 0 to 1
	GaugePrefillTokens    = "prefill_tokens_total" // of prompts, computed
	GaugeDecodeTokens     = "decode_tokens_total"  // of answers, made

	// These are named already and not shown yet.
	GaugeDecodeRetracted  = "decode_retracted_total"         // requests taken out of the running batch for want of memory
	GaugeBootstrapFailed  = "prefill_bootstrap_failed_total" // requests
	GaugeTransferFailed   = "transfer_failed_total"          // requests
	GaugeEngineAborted    = "engine_aborted_total"           // requests whose client had left
	GaugeRouterRetries    = "router_retries_total"           // attempts of the router after the first
	GaugeUnhealthyWorkers = "router_unhealthy_workers"
	GaugeOpenBreakers     = "router_open_breakers"
)

// Gauges returns the gauges in their order, as they are at the present.
func (s *Stack) Gauges() []Gauge { return s.AppendGauges(nil) }

// AppendGauges is Gauges for those who ask often and bring the room.
func (s *Stack) AppendGauges(to []Gauge) []Gauge {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	v := s.view()
	return append(to, []Gauge{
		{GaugeRouterInFlight, float64(v.Router.InFlight)},
		{GaugeRouterQueued, float64(v.Router.Queued)},
		{GaugePrefillBootstrap, float64(v.Prefill.Bootstrap)},
		{GaugePrefillQueue, float64(v.Prefill.Queue)},
		{GaugePrefillRunning, float64(v.Prefill.Running)},
		{GaugePrefillInflight, float64(v.Prefill.Inflight)},
		{GaugeDecodePrealloc, float64(v.Decode.Prealloc)},
		{GaugeDecodeTransfer, float64(v.Decode.Transfer)},
		{GaugeDecodeQueue, float64(v.Decode.Queue)},
		{GaugeDecodeRunning, float64(v.Decode.Running)},
		{GaugeDecodeKV, float64(v.Decode.KVTokens) / float64(s.cfg.Decode.KVTokens)},
		{GaugePrefillTokens, float64(v.Prefill.Tokens)},
		{GaugeDecodeTokens, float64(v.Decode.Tokens)},
	}...)
}
