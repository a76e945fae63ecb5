package diff

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"example.com/wedge/harness/bundle"
)

// event is what is read of a line of events.jsonl.
type event struct {
	T       float64 `json:"t_s"`
	Event   string  `json:"event"`
	Call    string  `json:"call"`
	Stage   string  `json:"stage"`
	OK      bool    `json:"ok"`
	Took    float64 `json:"took_s"`
	Tokens  int     `json:"tokens"`
	Done    int     `json:"agents_done"`
	Failed  int     `json:"agents_failed"`
	Steps   int     `json:"steps"`
	Episode int     `json:"episode"`
	Stalls  int     `json:"stalls"`

	Outcome string `json:"outcome"`
}

// lineMax bounds a line of a journal.
const lineMax = 4 << 20

// stages are those of calls, in the order in which one passes them.
var stages = []string{"slot", "rate", "backoff", "connect", "headers", "first_token", "stream"}

// tally is what the journal of a run adds up to.
type tally struct {
	end      float64 // of the run, or of the latest event
	ended    bool    // the run came to its end
	done     int     // agents
	failed   int
	steps    int
	stalls   int
	latency  []float32 // of completed calls, seconds
	bad      int       // calls that failed
	attempts int
	timeouts int
	refused  int
	tokens   int
	wasted   int
	inStage  map[string]float64 // seconds of calls
	calls    map[string]pending // in flight
}

// pending is a call in flight.
type pending struct {
	stage string
	since float64
}

// events compares the journals.
func events(r *Report, a, b *source) error {
	one, two := newJournal(a), newJournal(b)
	defer one.close()
	defer two.close()
	parted := a.run.Clock != "virtual" || b.run.Clock != "virtual"
	for same := 0; ; same++ {
		lineA, err := one.next()
		if err != nil {
			return err
		}
		lineB, err := two.next()
		if err != nil {
			return err
		}
		if lineA == nil && lineB == nil {
			break
		}
		if !parted && !bytes.Equal(lineA, lineB) && one.lines > 1 { // the first line has the run's name
			parted = true
			r.First = &Parting{Same: same, AtS: math.Min(one.at(lineA), two.at(lineB)), A: string(lineA), B: string(lineB)}
		}
	}
	r.A.Unended, r.B.Unended = one.isUnended(), two.isUnended()
	for _, j := range []*journal{one, two} {
		if j.lines == 0 {
			r.miss("calls, stages and steps: %s has no %s", j.s.dir, bundle.EventsLog)
		}
		if j.cut {
			r.miss("the end of the run: the last line of %s/%s is cut off", j.s.dir, bundle.EventsLog)
		}
	}
	if one.lines > 0 && two.lines > 0 {
		r.figures(&one.tally, &two.tally)
	}
	return nil
}

// journal reads events.jsonl line by line.
type journal struct {
	s     *source
	in    *bufio.Reader
	file  io.Closer
	err   error
	lines int
	cut   bool // the last line has no end
	line  []byte
	tally tally
}

func newJournal(s *source) *journal {
	j := &journal{s: s, tally: tally{inStage: map[string]float64{}, calls: map[string]pending{}}}
	f, err := s.file(bundle.EventsLog)
	if j.err = err; f != nil {
		j.in, j.file = bufio.NewReaderSize(f, 64<<10), f
	}
	return j
}

// isUnended reports whether the run was killed, or goes on: its journal has events and no end.
func (j *journal) isUnended() bool { return j.lines > 0 && !j.tally.ended }

func (j *journal) close() {
	if j.file != nil {
		_ = j.file.Close() // it was only read
	}
}

// next returns the next whole line, nil at the end.
func (j *journal) next() ([]byte, error) {
	if j.err != nil || j.in == nil {
		return nil, j.err
	}
	j.line = j.line[:0]
	for {
		piece, err := j.in.ReadSlice('\n')
		j.line = append(j.line, piece...)
		switch {
		case err == nil:
			j.lines++
			line := bytes.TrimSpace(j.line)
			if err := j.take(line); err != nil {
				return nil, err
			}
			return line, nil
		case err == io.EOF:
			j.cut = len(j.line) > 0
			j.in = nil
			return nil, nil
		case err == bufio.ErrBufferFull && len(j.line) < lineMax:
		default:
			return nil, j.s.wrong(bundle.EventsLog, fmt.Errorf("line %d: %w", j.lines+1, err))
		}
	}
}

// at returns the instant of a line, infinity for none.
func (j *journal) at(line []byte) float64 {
	var e event
	if line == nil || json.Unmarshal(line, &e) != nil {
		return math.Inf(1)
	}
	return e.T
}

// take adds a line up.
func (j *journal) take(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return j.s.wrong(bundle.EventsLog, fmt.Errorf("line %d: no valid JSON: %w", j.lines, err))
	}
	t := &j.tally
	t.end = e.T
	switch e.Event {
	case "stage":
		t.leave(e.Call, e.T)
		t.calls[e.Call] = pending{e.Stage, e.T}
	case "attempt_end":
		t.attempt(&e)
	case "call_end":
		t.leave(e.Call, e.T)
		delete(t.calls, e.Call)
		if e.OK {
			t.latency = append(t.latency, float32(e.Took))
		} else {
			t.bad++
		}
	case "agent_end":
		if e.OK {
			t.done++
		} else {
			t.failed++
		}
	case "step_end":
		t.steps++
	case "stall":
		t.stalls = max(t.stalls, e.Episode)
	case "run_end":
		t.ended = true
		t.done, t.failed, t.stalls = e.Done, e.Failed, e.Stalls
		for call := range t.calls { // the order does not matter: they are added up by stage
			t.leave(call, e.T)
		}
	}
	return nil
}

func (t *tally) attempt(e *event) {
	t.attempts++
	t.tokens += e.Tokens
	switch e.Outcome {
	case "ok":
		return
	case "timeout":
		t.timeouts++
	case "status":
		t.refused++
	}
	t.wasted += e.Tokens
}

// leave ends the stage that a call is in.
func (t *tally) leave(call string, at float64) {
	if c, ok := t.calls[call]; ok {
		t.inStage[c.stage] += at - c.since
	}
}

// quantile returns the p-quantile of sorted values, by the nearest rank.
func quantile(sorted []float32, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return float64(sorted[max(i, 0)])
}

// figures fills in numbers and shares.
func (r *Report) figures(a, b *tally) {
	counts := func(name string, a, b float64) { r.Figures = append(r.Figures, Figure{Name: name, A: a, B: b}) }
	number := func(name string, a, b int) { counts(name, float64(a), float64(b)) }
	counts("run_s", a.end, b.end)
	number("agents_done", a.done, b.done)
	number("agents_failed", a.failed, b.failed)
	number("stalls", a.stalls, b.stalls)
	number("steps", a.steps, b.steps)
	number("calls_completed", len(a.latency), len(b.latency))
	number("calls_failed", a.bad, b.bad)
	number("attempts", a.attempts, b.attempts)
	number("attempts_timeout", a.timeouts, b.timeouts)
	number("attempts_status", a.refused, b.refused)
	number("tokens_received", a.tokens, b.tokens)
	number("tokens_wasted", a.wasted, b.wasted)
	slices.Sort(a.latency)
	slices.Sort(b.latency)
	for _, q := range []struct {
		name string
		p    float64
	}{{"call_p50_s", 0.5}, {"call_p95_s", 0.95}, {"call_max_s", 1}} {
		r.Figures = append(r.Figures, Figure{Name: q.name, A: quantile(a.latency, q.p), B: quantile(b.latency, q.p), NA: len(a.latency), NB: len(b.latency)})
	}
	allA, allB := 0.0, 0.0
	for _, s := range stages {
		allA, allB = allA+a.inStage[s], allB+b.inStage[s]
	}
	for _, s := range stages {
		if x, y := a.inStage[s], b.inStage[s]; x > 0 || y > 0 {
			r.Stages = append(r.Stages, Share{Stage: s, AS: x, BS: y, A: part(x, allA), B: part(y, allB)})
		}
	}
}

func part(x, of float64) float64 {
	if of == 0 {
		return 0
	}
	return x / of
}
