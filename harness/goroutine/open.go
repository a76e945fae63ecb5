package goroutine

// open looks at the start of the text and sets up how to read it.
func (r *Reader) open() {
	src := r.src
	r.src = nil
	r.lines = &lines{src: src}
}
