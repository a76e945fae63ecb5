package goroutine

// namesBytesMax bounds what a names table holds on to. A real program has a few
// thousand names; only a hostile or mixed text reaches the bound.
const namesBytesMax = 32 << 20

// A place is a source position.
type place struct {
	file string
	line int
}

// names gives equal texts one string, so that a dump of a million goroutines
// costs the memory of its distinct names.
type names struct {
	texts  map[string]string
	places map[string]place
	bytes  int
}

// text returns b as a string.
func (n *names) text(b []byte) string {
	if s, ok := n.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	n.grow(len(b))
	n.texts[s] = s
	return s
}

// place parses FILE:LINE, where FILE may hold blanks and colons.
func (n *names) place(b []byte) (place, bool) {
	if p, ok := n.places[string(b)]; ok {
		return p, true
	}
	i := len(b)
	for i > 0 && b[i-1] >= '0' && b[i-1] <= '9' {
		i--
	}
	if i < 2 || b[i-1] != ':' {
		return place{}, false
	}
	number, rest, ok := cutInt(b[i:])
	if !ok || len(rest) > 0 {
		return place{}, false
	}
	p := place{file: n.text(b[:i-1]), line: int(number)}
	n.grow(len(b))
	n.places[string(b)] = p
	return p, true
}

// grow makes room for one more entry, by forgetting everything at the bound.
func (n *names) grow(size int) {
	if n.texts == nil || n.bytes > namesBytesMax {
		*n = names{texts: map[string]string{}, places: map[string]place{}}
	}
	n.bytes += size
}
