package engine

import "time"

// pair lets a leg that has just been submitted shake hands with its peer, if that is there. The other
// half of the pair may have come earlier, at another instant, or come later.
func pair(l *Leg) {
	m := l.Peer
	if m == nil || m.rank == nil || m.Peer != l || m.rank.w != l.PeerAt || m.PeerAt != l.rank.w {
		return
	}
	p, d := l, m
	if p.rank.w.Kind == KindDecode {
		p, d = m, l
	}
	if !m.alive() {
		if m == p && m.stage != StageDone {
			d.rank.loseMate(d)
		}
		return
	}
	// Decode looks for the other leg at the rank that it computes from the room.
	if p.rank.w.Kind != KindPrefill || d.rank.w.Kind != KindDecode || p.rank != p.rank.w.rankOfRoom(p.Job.Room) {
		return
	}
	p.mate, d.mate = d, p
	if p.deaf || p.stage != StageBootstrap || d.stage != StagePrealloc {
		return
	}
	d.rank.touch()
	d.unqueue()
	d.rank.prealloc.push(d)
}

// peerPoll is how often a decode engine looks whether the prefill leg of a request is still there. It
// believes it to be gone when it has missed it twice, and so 4 to 8 s after it has gone.
const peerPoll = 4 * time.Second

// loseMate has the engine notice in a while that the prefill leg of l has gone.
func (r *rank) loseMate(l *Leg) {
	looks := r.e.now.Sub(l.arrived) / peerPoll
	r.e.schedule(l.arrived.Add((looks+2)*peerPoll), &l.lost)
}

// mateLost fails a decode leg whose prefill leg has gone.
func (r *rank) mateLost(l *Leg) {
	const text = "Lost connection with prefill instance"
	switch {
	case l.verdict != StageNone:
		return
	case l.stage == StagePrealloc:
		r.counts.bootstrapFailed++
		r.conclude(l, StageFailed, l.failed("Decode handshake failed", text))
		return
	}
	r.counts.transferFailed++
	r.conclude(l, StageFailed, l.transferFailed(text))
}
