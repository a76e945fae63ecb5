package probe

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// call is a goroutine of a client that is in the midst of a call.
type call struct {
	goroutine int64
	stage     pacer.Stage
	id        string // the label call, or the attempt's without it; empty: no label
	attempt   string // the label attempt
	agent     string // the label agent
	since     time.Duration
	// object is what tells this request from another one of the same goroutine: the address of what
	// net/http makes for each; empty: the dump does not show it.
	object string
	// weight is how many goroutines it stands for.
	weight int
}

// same says whether two dumps show one call: by its labels if there are some, else by its goroutine,
// stage and the address of its request. Where the address does not show, the same goroutine at the same
// place is taken for the same call.
func (c *call) same(d *call) bool {
	if c.attempt != "" || d.attempt != "" {
		return c.attempt == d.attempt
	}
	if c.id != "" || d.id != "" {
		return c.id == d.id
	}
	return c.goroutine == d.goroutine && c.stage == d.stage && c.object == d.object
}

// snapshot is what one goroutine dump of a client shows.
type snapshot struct {
	at         sim.Instant
	goroutines int
	calls      []call
	byStage    [pacer.StageCount]int // goroutines
	labelled   int
	dump       *goroutine.Dump
	text       []byte
}

// readDump finds the calls in the text of a dump.
func readDump(at sim.Instant, text []byte) (*snapshot, error) {
	d, err := goroutine.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	s := &snapshot{at: at, dump: d, text: text}
	for i := range d.Goroutines {
		g := &d.Goroutines[i]
		s.goroutines += g.N()
		name, ok := goroutine.Stage(g)
		if !ok {
			continue
		}
		stage, ok := stageOf(name)
		if !ok {
			continue
		}
		s.byStage[stage] += g.N()
		if g.Label("agent") != "" || g.Label("call") != "" {
			s.labelled++
		}
		if stage == pacer.StageThink || stage == pacer.StageTool || stage == pacer.StageDone {
			continue // no call is out
		}
		s.calls = append(s.calls, call{
			goroutine: g.ID, stage: stage, id: g.Label("call"), attempt: g.Label("attempt"), agent: g.Label("agent"),
			object: objectOf(g, stage), weight: g.N(),
		})
	}
	return s, nil
}

// stageOf finds a stage by its name.
func stageOf(name string) (pacer.Stage, bool) {
	for s := range pacer.StageCount {
		if pacer.Stage(s).String() == name {
			return pacer.Stage(s), true
		}
	}
	return 0, false
}

// objects says which argument of which function is made anew for each request.
var objects = []struct {
	stage pacer.Stage
	call  string
	arg   int
}{
	{pacer.StageHeaders, "net/http.(*persistConn).roundTrip", 1},
	{pacer.StageHeaders, "net/http.(*Transport).roundTrip", 1},
	{pacer.StageConnect, "net/http.(*Transport).getConn", 1},
	{pacer.StageConnect, "net/http.(*Transport).roundTrip", 1},
	{pacer.StageStream, "net/http.(*bodyEOFSignal).Read", 0},
	{pacer.StageStream, "net/http.(*body).readLocked", 0},
	{pacer.StageStream, "http2.transportResponseBody.Read", 0},
}

// objectOf returns the address of what was made for the request alone.
func objectOf(g *goroutine.Goroutine, stage pacer.Stage) string {
	for _, o := range objects {
		if o.stage != stage {
			continue
		}
		for i := range g.Frames {
			if strings.HasSuffix(g.Frames[i].Func, o.call) {
				if word, ok := argument(g.Frames[i].Args, o.arg); ok {
					return word
				}
			}
		}
	}
	return ""
}

// argument returns an argument of a call if it is an address that is known for sure. Those inside
// braces are parts of one argument.
func argument(args string, n int) (string, bool) {
	depth, start, at := 0, 0, 0
	for i := 0; i <= len(args); i++ {
		switch {
		case i == len(args) || args[i] == ',' && depth == 0:
			if at == n {
				word := strings.TrimSpace(args[start:i])
				_, err := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 64)
				return word, err == nil && strings.HasPrefix(word, "0x") && word != "0x0"
			}
			at, start = at+1, i+1
		case args[i] == '{':
			depth++
		case args[i] == '}':
			depth--
		}
	}
	return "", false
}

// watched is what two dumps of a client show together.
type watched struct {
	target         Target
	first, last    *snapshot // last is nil if it could not be taken
	lastErr        error
	still          int // calls of the last dump that the first one has too
	ended, begun   int // calls that only the first has, or only the last
	sentThroughout int // of still, those that were sent and without their headers, or stream
}

// compare matches the calls of the two dumps and notes since when each has been there at least.
func (w *watched) compare() {
	if w.last == nil {
		return
	}
	taken := make([]bool, len(w.first.calls))
	byKey := map[string][]int{}
	for i := range w.first.calls {
		k := w.first.calls[i].key()
		byKey[k] = append(byKey[k], i)
	}
	for i := range w.last.calls {
		c := &w.last.calls[i]
		found := false
		for _, j := range byKey[c.key()] {
			if before := &w.first.calls[j]; !taken[j] && before.same(c) {
				taken[j], found = true, true
				w.still++
				if before.stage == c.stage {
					c.since = w.last.at.Sub(w.first.at)
				}
				if sent(c.stage) && sent(before.stage) {
					w.sentThroughout++
				}
				break
			}
		}
		if !found {
			w.begun++
		}
	}
	w.ended = len(w.first.calls) - w.still
}

// key is what calls that are the same have in common.
func (c *call) key() string {
	switch {
	case c.attempt != "":
		return "attempt " + c.attempt
	case c.id != "":
		return "call " + c.id
	}
	return strconv.FormatInt(c.goroutine, 10)
}

// sent says whether a request has gone out.
func sent(s pacer.Stage) bool {
	return s == pacer.StageHeaders || s == pacer.StageFirstToken || s == pacer.StageStream
}

// now is the latest snapshot there is.
func (w *watched) now() *snapshot {
	if w.last != nil {
		return w.last
	}
	return w.first
}

// sentAt counts the calls of a snapshot that have gone out.
func (s *snapshot) sentCalls() (sentOut, streaming, all int) {
	for i := range s.calls {
		c := &s.calls[i]
		all += c.weight
		if sent(c.stage) {
			sentOut += c.weight
		}
		if c.stage == pacer.StageStream || c.stage == pacer.StageFirstToken {
			streaming += c.weight
		}
	}
	return sentOut, streaming, all
}
