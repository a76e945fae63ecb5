package report

import (
	"bytes"
	"slices"
	"strconv"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/record"
)

// inOrder returns the lines of a journal in the order of their instants, if that is not the order in which they stand:
// on the wall, where somebody else's harness is watched, two things that happen at once may be written down the other
// way round. Nil: they are in order, or there are too many of them.
func inOrder(s *source) [][]byte {
	type stamped struct {
		at   float64
		line []byte
	}
	var lines []stamped
	size, latest, sorted := 0, 0.0, true
	quiet := &source{fs: s.fs} // what is wrong with lines has been told of
	quiet.lines(bundle.EventsLog, func(line []byte) error {
		rest, ok := bytes.CutPrefix(line, []byte(`{"t_s":`))
		text, _, _ := bytes.Cut(rest, []byte(","))
		at, err := strconv.ParseFloat(string(text), 64)
		if size += len(line); !ok || err != nil || size > fileBytesMax {
			return nil
		}
		sorted = sorted && at >= latest
		latest = max(latest, at)
		lines = append(lines, stamped{at, bytes.Clone(line)})
		return nil
	})
	if sorted || size > fileBytesMax {
		return nil
	}
	slices.SortStableFunc(lines, func(a, b stamped) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	out := make([][]byte, len(lines))
	for i := range lines {
		out[i] = lines[i].line
	}
	return out
}

// feed reads a journal line by line, as far as it can be read.
func (j *journal) feed(lines [][]byte) (record.Summary, error) {
	r := record.NewReader(bundle.EventsLog, j.handler())
	for i, line := range lines {
		if err := r.Feed(line); err != nil {
			return record.Summary{Lines: i}, err
		}
	}
	return r.Close(), nil
}
