package waits

// findChannelSlots recognises semaphores made of a channel. To the dump their
// wait is any send; but of those who got past it, each is further on in the same
// function, and holds what the others wait for.
func (b *Builder) findChannelSlots() {
	for _, g := range b.groups {
		s := &g.shape
		if g.state != "chan send" || s.role != plain || s.place < 0 {
			continue
		}
		if b.hasPassed(g) {
			s.stage = "slot"
			s.role, s.kind, s.waits = slot, Semaphore, "a send to a channel that works as a semaphore"
		}
	}
}

// hasPassed reports whether somebody calls something from a later line of the
// function in which g sends.
func (b *Builder) hasPassed(g *group) bool {
	at := &g.frames[g.shape.place]
	for _, other := range b.groups {
		for i := range other.frames {
			f := &other.frames[i]
			if f.Func == at.Func && f.File == at.File && f.Line > at.Line && i > other.shape.place {
				return true
			}
		}
	}
	return false
}
