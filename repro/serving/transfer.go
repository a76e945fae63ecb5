package serving

import (
	"time"

	"example.com/wedge/harness/fault"
)

// toInflight sends the KV memory of a computed prompt to the decode engine.
func (s *Stack) toInflight(r *request) {
	r.enter(StageInflight, s.now)
	s.prefill.inflight++
	o := s.occasion(&r.Request, s.now)
	r.hung = s.faults.Fires(fault.Inflight, fault.Hang, o) != nil || s.faults.Fires(fault.Transfer, fault.Hang, o) != nil
	if r.hung {
		return
	}
	takes := s.cfg.Transfer.Latency + time.Duration(r.Prompt.Tokens)*s.cfg.Transfer.PerToken
	if f := s.faults.Fires(fault.Transfer, fault.Latency, o); f != nil {
		takes += f.Delay
	}
	r.timed.do = actTransfer
	s.schedule(s.now.Add(takes), &r.timed)
}

// transferred frees the prefill engine's part and lets the request wait for the running batch.
func (s *Stack) transferred(r *request) {
	s.dropInflight(r)
	s.decode.transfer--
	r.enter(StageDecodeWait, s.now)
	s.decode.waiting.push(r)
}

// leaveInflight takes a request out that leaves during its transfer. A pinned entry stays behind with
// its slot and memory, until it is released, if ever.
func (s *Stack) leaveInflight(r *request) {
	s.decode.transfer--
	f := s.faults.Fires(fault.Inflight, fault.PinOnAbort, s.occasion(&r.Request, s.now))
	if f == nil {
		s.dropInflight(r)
		return
	}
	if f.ReleaseAfter > 0 {
		r.timed.do = actUnpin
		s.schedule(s.now.Add(f.ReleaseAfter), &r.timed)
	}
}

// dropInflight gives back what an entry of the inflight queue holds.
func (s *Stack) dropInflight(r *request) {
	s.prefill.inflight--
	s.releasePrefill(r)
}
