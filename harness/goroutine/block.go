package goroutine

import "slices"

// A block is a Goroutine being filled.
type block struct {
	g    Goroutine
	open bool // it has begun and was not yet taken
	full bool // its stack is complete: frames that follow belong to something else
	lost bool // its header was damaged: which dump it belongs to waits for a frame
	// Argument texts are nearly all different and would each cost an allocation,
	// so those of g.Frames are gathered end to end and become one string.
	args  []byte
	spans []span
}

// A span is the place of one frame's arguments in block.args.
type span struct{ start, end int }

// begin makes b an empty open block, keeping its memory.
func (b *block) begin() {
	b.g = Goroutine{Frames: b.g.Frames[:0], Labels: b.g.Labels[:0], Merged: b.g.Merged[:0], Thread: -1}
	b.args, b.spans = b.args[:0], b.spans[:0]
	b.open, b.full, b.lost = true, false, false
}

// end closes b and returns what it holds, nil if that is nothing.
func (b *block) end() *Goroutine {
	if !b.open {
		return nil
	}
	b.open = false
	if b.g.Kind == KindHeadless && len(b.g.Frames) == 0 {
		return nil // a line that merely looked like a header
	}
	if len(b.args) > 0 {
		args := string(b.args)
		for i, s := range b.spans {
			if s.end > s.start {
				b.g.Frames[i].Args = args[s.start:s.end]
			}
		}
	}
	return &b.g
}

// ancestor returns the ancestor whose stack is being read, nil if it is g's own.
func (b *block) ancestor() *Ancestor {
	if n := len(b.g.Ancestors); n > 0 {
		return &b.g.Ancestors[n-1]
	}
	return nil
}

func (b *block) addFrame(f Frame, args []byte) {
	if a := b.ancestor(); a != nil {
		f.Args = string(args)
		a.Frames = append(a.Frames, f)
		return
	}
	s := span{len(b.args), len(b.args)}
	if string(args) == "..." {
		f.Args = "..." // inlined; about half of all frames
	} else {
		b.args = append(b.args, args...)
		s.end = len(b.args)
	}
	b.spans = append(b.spans, s)
	b.g.Frames = append(b.g.Frames, f)
}

// clearFrames takes back the frames so far.
func (b *block) clearFrames() {
	b.g.Frames, b.g.Gap = b.g.Frames[:0], Gap{}
	b.args, b.spans = b.args[:0], b.spans[:0]
}

// addGap notes frames left out. An ancestor's are not kept: they are its outermost.
func (b *block) addGap(count int) {
	if b.ancestor() == nil {
		b.g.Gap = Gap{Before: len(b.g.Frames), Count: count}
	}
}

func (b *block) addAncestor(id int64) {
	b.g.Ancestors = append(b.g.Ancestors, Ancestor{ID: id})
	b.full = false
}

// creator returns the frame that a "created by" line describes.
func (b *block) creator() *Frame {
	if a := b.ancestor(); a != nil {
		return &a.CreatedBy
	}
	return &b.g.CreatedBy
}

// setCreator ends the stack.
func (b *block) setCreator(name string, parentID int64) {
	b.creator().Func = name
	if b.ancestor() == nil {
		b.g.ParentID = parentID
	}
	b.full = true
}

// isBare reports whether nothing but the header has come.
func (b *block) isBare() bool {
	return len(b.g.Frames) == 0 && !b.g.NoStack
}

// Clone returns a copy that shares nothing writable with g.
func (g *Goroutine) Clone() *Goroutine {
	c := *g
	c.Labels = append([]Label(nil), g.Labels...) // nil for none, unlike slices.Clone
	c.Frames = append([]Frame(nil), g.Frames...)
	c.Merged = append([]int64(nil), g.Merged...)
	c.Ancestors = slices.Clone(g.Ancestors)
	for i := range c.Ancestors {
		c.Ancestors[i].Frames = slices.Clone(c.Ancestors[i].Frames)
	}
	return &c
}
