package serving

// abort ends a request whose client has left, in whatever stage it is. What it holds is free at once,
// but for the faults of [Stack.leaveInflight].
func (s *Stack) abort(r *request) {
	switch r.stage {
	case StageRouter:
		s.held--
		r.timed.remove()
	case StageBootstrap, StageDecodeWait:
		r.unqueue()
	case StagePrefillWait:
		s.decode.transfer--
		r.unqueue()
		s.releasePrefill(r)
	case StagePrefill:
		s.decode.transfer--
		s.leaveChunk(r)
		s.releasePrefill(r)
	case StageInflight:
		r.timed.remove()
		s.leaveInflight(r)
	case StageDecode:
		s.leaveBatch(r)
	default:
		return // it has ended
	}
	s.releaseDecode(r)
	s.end(r, StageAborted)
}
