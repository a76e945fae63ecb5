package goroutine

// A turn is what tells where, in one source, a dump ends and the next begins.
type turn struct {
	seen idSet
	bare map[int64]bool // goroutines without a stack so far
	// head says that a line has come, since the last block, that only starts a
	// dump.
	head bool
	// threads says that a crash has begun to print its threads one by one, and
	// with them some goroutines a second time.
	threads bool
	// total is the number of goroutines that a head has announced, 0 for none,
	// and count how many have come.
	total, count int
}

// noteBare remembers a goroutine without a stack.
func (t *turn) noteBare(id int64) {
	if t.bare == nil {
		t.bare = map[int64]bool{}
	}
	t.bare[id] = true
}

// An idSet holds IDs, near ones in one word.
type idSet map[int64]uint64

// add reports whether id is new.
func (s idSet) add(id int64) bool {
	word, bit := s[id>>6], uint64(1)<<(id&63)
	if word&bit != 0 {
		return false
	}
	s[id>>6] = word | bit
	return true
}

// place says which dump the block that has just begun belongs to, beginning a new
// one where it must. The header's line is accounted for after this.
func (p *parser) place(form Form) {
	g := &p.cur.g
	counts := g.Kind == KindGoroutine && g.ID != 0
	known := p.snapshot >= 0 && counts && p.turn.seen[g.ID>>6]>>(g.ID&63)&1 != 0
	again := known && (p.turn.threads || p.turn.bare[g.ID] || form == FormGDB)
	if p.snapshot < 0 || p.turns(form) || known && !again {
		p.newDump(form)
		again = false
	}
	if form == FormInspect {
		p.dump.Form = form
	}
	p.preamble.flush(p.dump)
	p.turn.head = false
	if counts && !again {
		p.turn.seen.add(g.ID)
	}
	if g.Kind == KindGoroutine && !again {
		p.turn.count += g.N()
	}
	if again {
		delete(p.turn.bare, g.ID)
	}
	g.Again, g.Snapshot, g.Source = again, p.snapshot, p.source
}

// turns reports whether a block of the form cannot belong to the dump before it.
func (p *parser) turns(form Form) bool {
	if p.turn.head && !p.turn.threads {
		return true
	}
	merged := p.dump.Form == FormInspect && form == FormDump || p.dump.Form == FormDump && form == FormInspect
	return p.dump.Form != form && !merged
}

// newDump begins one. The first takes over the account of what came before it.
func (p *parser) newDump(form Form) {
	total := p.turn.total
	if p.snapshot >= 0 {
		if !p.turn.head {
			total = 0
		}
		p.finish()
		p.dump = new(Dump)
	}
	p.turn = turn{seen: idSet{}, total: total}
	p.snapshot = len(p.r.dumps)
	p.dump.Form = form
	p.dump.Stats.Dumps = 1
	if p.r.lines != nil {
		p.dump.Source = p.r.lines.Sources()[p.source]
	}
	p.r.dumps = append(p.r.dumps, p.dump)
}

// finish judges a dump that has had its last block.
func (p *parser) finish() {
	if p.snapshot >= 0 && p.turn.count < p.turn.total {
		p.dump.Truncated = true
	}
}
