package goroutine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// Labels by which a patched runtime says, in a profile with a sample for each
// goroutine, what only its text says otherwise. They are numbers or strings.
const (
	labelID      = "go::goroutine"
	labelParent  = "go::goroutine_created_by"
	labelState   = "go::goroutine_state"
	labelStatus  = "go::goroutine_status"
	labelMinutes = "go::goroutine_wait_minutes"
)

// readProfile reads a profile in protobuf into the queue. ok is false if data is
// none. A profile of something else than goroutines is one skipped run of bytes.
func (r *Reader) readProfile(data []byte) (ok bool) {
	prof, err := profile.ParseUncompressed(data)
	if err != nil || len(prof.SampleType) == 0 {
		return false
	}
	p := r.parser(0)
	r.ended = len(r.parsers) // it has no lines
	size := int64(len(data))
	column := slices.IndexFunc(prof.SampleType, func(t *profile.ValueType) bool {
		return t.Type == "goroutine" || t.Type == "goroutines" || t.Type == "goroutineleak"
	})
	if column < 0 {
		what := make([]string, 0, len(prof.SampleType))
		for _, t := range prof.SampleType {
			what = append(what, t.Type+"/"+t.Unit)
		}
		p.skip(0, size, fmt.Appendf(nil, "a profile of %s, not of goroutines", strings.Join(what, ", ")))
		return true
	}
	p.newDump(FormProfile)
	p.use(size)
	for _, s := range prof.Sample {
		if s.Value[column] > 0 {
			r.queue = append(r.queue, r.sampled(s, int(min(s.Value[column], countMax))))
		}
	}
	return true
}

// sampled makes the block of a sample.
func (r *Reader) sampled(s *profile.Sample, count int) *Goroutine {
	g := &Goroutine{Count: count, Thread: -1}
	for _, l := range s.Location {
		if len(l.Line) == 0 {
			g.Frames = append(g.Frames, Frame{Func: "0x" + strconv.FormatUint(l.Address, 16)})
		}
		for _, line := range l.Line { // the innermost inlined call first
			f := Frame{Line: int(line.Line)}
			if line.Function != nil {
				f.Func, f.File = line.Function.Name, line.Function.Filename
			}
			g.Frames = append(g.Frames, f)
		}
	}
	for key, values := range s.Label {
		for _, v := range values {
			if n, err := strconv.ParseInt(v, 10, 64); err != nil || !g.setNumber(key, n) {
				g.setLabel(key, v)
			}
		}
	}
	for key, values := range s.NumLabel {
		for _, n := range values {
			if !g.setNumber(key, n) {
				g.setLabel(key, strconv.FormatInt(n, 10))
			}
		}
	}
	slices.SortFunc(g.Labels, func(a, b Label) int {
		return strings.Compare(a.Key+"\x00"+a.Value, b.Key+"\x00"+b.Value)
	})
	return g
}

// setNumber takes the value of a label that is a field of g.
func (g *Goroutine) setNumber(key string, n int64) bool {
	switch key {
	case labelID:
		g.ID = max(n, 0)
	case labelParent:
		g.ParentID = max(n, 0)
	case labelMinutes:
		g.Wait = time.Duration(min(max(n, 0), waitMinutesMax)) * time.Minute
	default:
		return false
	}
	return true
}

// setLabel takes the value of a label that may be the state.
func (g *Goroutine) setLabel(key, value string) {
	if key == labelState || key == labelStatus {
		g.State = string(cutMarks([]byte(value), g))
		return
	}
	g.Labels = append(g.Labels, Label{key, value})
}
