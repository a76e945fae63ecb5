package container

// A layer is what can be undone; formats come first.
type layer uint8

const (
	layerBOM layer = layer(formatNumber) + iota
	layerWide
	layerCRLF
	layerANSI
	layerString
	layerMarkdown
	layerHTML
	layerMojibake
	layerNumber
)

func (l layer) name() string {
	if l < layer(formatNumber) {
		return format(l).name()
	}
	return [...]string{"BOM", "UTF-16", "CRLF", "ANSI", "JSON string", "Markdown", "HTML entities", "mojibake"}[l-layerBOM]
}

// counts is how many lines had each layer.
type counts [layerNumber]int64

func (c *counts) add(l layer) { c[l]++ }

// list returns the layers that occurred. Encodings and line ends come first, then
// formats in the order they are tried, which is mostly from outside in.
func (c *counts) list() []Layer {
	var out []Layer
	add := func(l layer) {
		if c[l] == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Name == l.name() {
			out[n-1].Lines += c[l]
			return
		}
		out = append(out, Layer{l.name(), c[l]})
	}
	for _, l := range [...]layer{layerWide, layerBOM, layerCRLF} {
		add(l)
	}
	for _, f := range [...]format{formatBracket, formatPipe, formatStern, formatDocker, formatCRI, formatJournal, formatActions, formatKlog, formatStamp, formatShape, formatJSON, formatStairs, formatQuote, formatIndent} {
		add(layer(f))
	}
	for _, l := range [...]layer{layerMarkdown, layerString, layerANSI, layerHTML, layerMojibake} {
		add(l)
	}
	return out
}

// sourcesMax bounds memory: further sources count as the last one.
const sourcesMax = 4096

// sources numbers the programs of an input.
type sources struct {
	names []string
	byKey map[string]int
	bare  int // 1 + the index of the one without a name
}

// index returns the index of a source by its key, nil for one without.
func (s *sources) index(key []byte) int {
	if len(key) == 0 {
		if s.bare == 0 {
			s.bare = 1 + s.add("")
		}
		return s.bare - 1
	}
	if i, ok := s.byKey[string(key)]; ok {
		return i
	}
	i := s.add(string(key))
	if s.byKey == nil {
		s.byKey = map[string]int{}
	}
	if len(s.byKey) < sourcesMax {
		s.byKey[string(key)] = i
	}
	return i
}

func (s *sources) add(name string) int {
	if len(s.names) >= sourcesMax {
		return sourcesMax - 1
	}
	s.names = append(s.names, name)
	return len(s.names) - 1
}
