package goroutine

const (
	skipsMax         = 32
	skipTextBytesMax = 160
)

// Stats is the account of a text: every byte was used or skipped.
type Stats struct {
	// Bytes is the size of the text; UsedBytes and SkippedBytes add up to it.
	// The line ends, separators and messages of a dump are used; what a crash
	// prints around its stacks, such as registers, is skipped. Of a compressed
	// text, they are the bytes unpacked.
	Bytes, UsedBytes, SkippedBytes int64
	// Skipped shows the first runs of skipped bytes, no more than 32.
	Skipped []Skip
	// Truncated says that the text ends inside a block, so that goroutines may
	// be missing. A cut just after a position line cannot be seen.
	Truncated bool
	// Dumps is the number of dumps in the text.
	Dumps int
}

// A Skip is a run of bytes that were not used.
type Skip struct {
	// Offset is the place of the run in the text, in bytes.
	Offset int64
	Bytes  int64
	// Text is how the run starts: up to 160 bytes, its lines joined by "\n".
	Text string
}

// skip counts a line that was not used. Lines come in order but for a function
// line that waited in vain for its position.
func (s *Stats) skip(offset, size int64, text []byte) {
	s.SkippedBytes += size
	s.Bytes += size
	if n := len(s.Skipped); n > 0 {
		last := &s.Skipped[n-1]
		if last.Offset+last.Bytes == offset {
			last.Bytes += size
			if room := skipTextBytesMax - len(last.Text) - 1; room >= 0 {
				last.Text += "\n" + string(text[:min(len(text), room)])
			}
			return
		}
	}
	if len(s.Skipped) < skipsMax {
		s.Skipped = append(s.Skipped, Skip{offset, size, string(text[:min(len(text), skipTextBytesMax)])})
	}
}

// add adds the account of another part of the text.
func (s *Stats) add(other *Stats) {
	s.Bytes += other.Bytes
	s.UsedBytes += other.UsedBytes
	s.SkippedBytes += other.SkippedBytes
	s.Skipped = append(s.Skipped, other.Skipped...)
	s.Truncated = s.Truncated || other.Truncated
	s.Dumps += other.Dumps
}
