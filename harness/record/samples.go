package record

import (
	"io/fs"
	"strconv"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
)

// Sample is one reading of the servers' gauges: a line of samples.jsonl.
type Sample struct {
	At     sim.Instant
	Sent   int     // attempts that had been sent and not ended
	Calls  int     // calls that had begun and not ended
	Gauges []Gauge // in the order of the line; empty if the servers could not be read
	Err    string  // why not
}

// Gauge is one number of a sample.
type Gauge struct {
	Name  string
	Value float64
}

// ReadSamples reads the samples with the given name, such as [bundle.SamplesLog], from a bundle: one file,
// or the rotated ones that are left. It calls emit for each one, oldest first; what is passed is good until
// emit returns. Errors are those of [ReadAll], and a last line without its end is left out too. A log
// that is not there has no samples.
func ReadSamples(fsys fs.FS, name string, emit func(*Sample)) error {
	files, err := bundle.Logs(fsys, name)
	if err != nil {
		return err
	}
	var p sampleParser
	for i, file := range files {
		number := 0
		_, err := eachLine(fsys, file, 0, i == len(files)-1, func(line []byte) error {
			number++
			lost, err := p.parse(line)
			if err != nil {
				return &LineError{File: file, Line: number, Field: err.field, Msg: err.msg}
			}
			if !lost {
				emit(&p.sample)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sampleParser reads samples into the same room, since names seldom change from one to the next.
type sampleParser struct {
	sample Sample
	room   []byte
}

// parse reads a line. lost says that it stands for lines for which there was no room.
func (p *sampleParser) parse(line []byte) (lost bool, err *fieldError) {
	f := &p.sample
	f.At, f.Sent, f.Calls, f.Gauges, f.Err = 0, 0, 0, f.Gauges[:0], ""
	p.room = p.room[:0]
	s := scanner{rest: line, room: &p.room}
	at := false
	err = s.object(func(name []byte) (ok bool, want string) {
		var n int64
		switch string(name) {
		case "t_s":
			at = true
			n, ok = s.number(9)
			f.At = sim.Instant(n)
			return ok, kindSeconds.String()
		case "sent":
			n, ok = s.number(0)
			f.Sent = int(n)
			return ok, kindCount.String()
		case "calls":
			n, ok = s.number(0)
			f.Calls = int(n)
			return ok, kindCount.String()
		case "error":
			text, ok := s.quoted()
			f.Err = string(text)
			return ok, kindText.String()
		case "lost_lines":
			lost = true
			_, ok = s.number(0)
			return ok, kindCount.String()
		case "gauges":
			return p.gauges(&s), "an object of gauges"
		}
		return false, "no other field than t_s, sent, calls, error, gauges"
	})
	if err == nil && !at && !lost {
		err = wrong(keyAt, "found a line without it, want it in every line")
	}
	return lost, err
}

func (p *sampleParser) gauges(s *scanner) bool {
	return s.object(func(name []byte) (bool, string) {
		v, ok := s.float()
		all := p.sample.Gauges
		if n := len(all); n < cap(all) && all[:n+1][n].Name == string(name) { // as in the line before
			p.sample.Gauges = all[:n+1]
			p.sample.Gauges[n].Value = v
		} else {
			p.sample.Gauges = append(all, Gauge{string(name), v})
		}
		return ok, "a number"
	}) == nil
}

// float reads any number.
func (s *scanner) float() (float64, bool) {
	s.skip()
	n := 0
	for n < len(s.rest) && (s.rest[n] >= '0' && s.rest[n] <= '9' || s.rest[n] == '-' || s.rest[n] == '+' || s.rest[n] == '.' || s.rest[n]|0x20 == 'e') {
		n++
	}
	v, err := strconv.ParseFloat(string(s.rest[:n]), 64)
	if err != nil {
		return 0, false
	}
	s.rest = s.rest[n:]
	return v, true
}
