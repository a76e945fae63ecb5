package report

import (
	"encoding/json"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// lanesBytesMax bounds what the lanes take of the page. Where they would take more, short stretches melt into the ones
// before; what is lost by that is told.
const lanesBytesMax = 900 << 10

// melts are below which lengths stretches melt, as shares of the run, until the lanes fit.
var melts = []float64{0, 1. / 20000, 1. / 5000, 1. / 2000, 1. / 1000, 1. / 500, 1. / 250, 1. / 100, 1. / 50}

// lanesView is the swimlanes as the template has them.
type lanesView struct {
	Lanes  int
	More   int // agents that are not drawn
	Legend []legendEntry
	Data   template.HTML // for the script
	Static staticLanes
	Area   chartView
	Stalls []stallRow
	Melted string // below which length stretches are not drawn
	Ends   string
}

// legendEntry is a stage that occurs.
type legendEntry struct{ Stage, Words, About, Share string }

// stageAbout says what happens in each stage.
var stageAbout = [pacer.StageCount]string{
	pacer.StageThink:      "between calls: the agent prepares the next one",
	pacer.StageTool:       "a tool runs",
	pacer.StageSlot:       "waits for a slot of the pacer",
	pacer.StageRate:       "waits for the rate limit",
	pacer.StageBackoff:    "waits before another attempt",
	pacer.StageConnect:    "waits for a connection",
	pacer.StageHeaders:    "request sent, no response header yet",
	pacer.StageFirstToken: "response headers in, no content yet",
	pacer.StageStream:     "content arrives, or has stopped arriving",
}

// lanesData is what the script draws.
type lanesData struct {
	Unit   float64     `json:"unit"` // seconds
	End    float64     `json:"end"`  // seconds
	Stages []string    `json:"stages"`
	Texts  []string    `json:"texts"`
	Stalls [][3]any    `json:"stalls"` // number, from, to
	Lanes  [][4]string `json:"lanes"`  // agent, parent, how it ended, stretches
}

// lanes makes the view; nil without a journal.
func (j *journal) view() *lanesView {
	if j == nil || len(j.lanes) == 0 {
		return nil
	}
	v := &lanesView{Lanes: len(j.lanes), More: j.more, Legend: j.legend(), Ends: span(j.end.Seconds())}
	for _, share := range melts {
		least := time.Duration(share * float64(j.end))
		e := encoder{unit: unitOf(j.end), index: map[string]int{}}
		d := lanesData{End: j.end.Seconds(), Unit: e.unit.Seconds()}
		size := 0
		for _, l := range j.lanes {
			text := e.lane(l, least)
			size += len(text) + len(l.agent) + 16
			d.Lanes = append(d.Lanes, [4]string{clean(l.agent), clean(l.parent), clean(l.ends), text})
			if size > lanesBytesMax {
				break
			}
		}
		if size > lanesBytesMax && share != melts[len(melts)-1] {
			continue
		}
		v.More += len(j.lanes) - len(d.Lanes)
		v.Lanes = len(d.Lanes)
		if least > 0 {
			v.Melted = span(least.Seconds())
		}
		d.Stages, d.Texts, d.Stalls = stageNames(), e.texts, j.stallData()
		v.Data = dataScript("lanes-data", d)
		break
	}
	v.Static = j.static()
	v.Area = j.area().view()
	return v
}

// dataScript is data for the script: a block that no browser runs. JSON as Go writes it has no <, > or & in it.
func dataScript(id string, data any) template.HTML {
	text, err := json.Marshal(data)
	if err != nil {
		return ""
	}
	return template.HTML(`<script type="application/json" id="` + id + `">` + string(text) + `</script>`)
}

func stageNames() (names []string) {
	for stage := range pacer.StageCount {
		names = append(names, pacer.Stage(stage).String())
	}
	return names
}

func (j *journal) stallData() [][3]any {
	out := [][3]any{}
	for _, s := range j.stalls {
		out = append(out, [3]any{s.Episode, jsonFloat(s.Since.Seconds()), jsonFloat(s.To.Seconds())})
	}
	return out
}

// unitOf is what lengths in the data are counted in: fine enough for any zoom, coarse enough to be short.
func unitOf(end sim.Instant) time.Duration {
	unit := time.Millisecond
	for int64(end)/int64(unit) > 1<<24 {
		unit *= 10
	}
	if end < sim.Instant(10*time.Second) {
		unit = 10 * time.Microsecond
	}
	return unit
}

// encoder writes lanes as text: a capital letter, then a number of base 36.
//
//	A to I  a stretch in the stage of that number; the number is its length in units
//	J       a stretch outside the agent's task
//	N       a call: the number of its id within the agent's
//	X       a call whose id is none of the agent's: its id, as an index into texts
//	R       round times 1000 plus step of the call
//	P       the attempt that follows
//	T, O    tokens and outcome (an index into texts; none: ok) of the latest attempt
//	Z       how the call ended, if not well: an index into texts
//	W, V    the tool that ran in the latest stretch, and its error: indexes into texts
type encoder struct {
	unit  time.Duration
	texts []string
	index map[string]int
	b     []byte
}

// textsMax bounds the different texts: beyond, the last one stands for all others.
const textsMax = 4000

func (e *encoder) text(s string) int {
	s = clean(s)
	if i, ok := e.index[s]; ok {
		return i
	}
	if len(e.texts) >= textsMax {
		s = "(too many different texts to keep)"
		if i, ok := e.index[s]; ok {
			return i
		}
	}
	e.index[s] = len(e.texts)
	e.texts = append(e.texts, s)
	return len(e.texts) - 1
}

func (e *encoder) put(kind byte, n int64) { e.b = strconv.AppendInt(append(e.b, kind), n, 36) }

// lane writes the stretches of a lane that are at least so long.
func (e *encoder) lane(l *lane, least time.Duration) string {
	e.b = e.b[:0]
	at, call, attempt := int64(0), -1, 0
	until := func(kind byte, to sim.Instant) {
		if n := int64(math.Round(float64(to) / float64(e.unit))); n > at {
			e.put(kind, n-at)
			at = n
		}
	}
	until('J', l.from)
	last, end := byte('A'), l.from
	for i := range l.spans {
		s := &l.spans[i]
		if s.to.Sub(s.from) < least {
			continue
		}
		if s.from.Sub(end) >= max(least, 1) && (i == 0 || l.spans[i-1].to < s.from) {
			last = 'A' // it thought; a shorter while, or what melts, goes to the stretch before
		}
		until(last, s.from)
		last, end = 'A'+byte(s.stage), s.to
		if s.call >= 0 && s.call != call {
			e.call(l, &l.calls[s.call])
			call, attempt = s.call, 0
		}
		if s.call >= 0 && s.attempt != attempt {
			e.attempt(&l.calls[s.call], s.attempt)
			attempt = s.attempt
		}
		until(last, s.to)
		if s.tool != "" {
			e.put('W', int64(e.text(s.tool)))
			if s.err != "" {
				e.put('V', int64(e.text(s.err)))
			}
		}
	}
	until('A', l.to)
	return string(e.b)
}

// call writes which call it is.
func (e *encoder) call(l *lane, c *laneCall) {
	number, own := strings.CutPrefix(c.id, l.agent+"-c")
	n, err := strconv.ParseUint(number, 10, 31)
	if own && err == nil && len(number) == max(3, len(strconv.FormatUint(n, 10))) {
		e.put('N', int64(n))
	} else {
		e.put('X', int64(e.text(c.id)))
	}
	if c.round > 0 || c.step > 0 {
		e.put('R', int64(c.round)*1000+int64(min(c.step, 999)))
	}
	if c.ends != "" {
		e.put('Z', int64(e.text(c.ends)))
	}
}

// attempt writes which attempt it is, and how it ended.
func (e *encoder) attempt(c *laneCall, n int) {
	if n < 1 {
		return // before the first
	}
	e.put('P', int64(n))
	for _, a := range c.attempts {
		if a.n == n {
			e.put('T', int64(a.tokens))
			if a.outcome != pacer.AttemptOK {
				e.put('O', int64(e.text(a.outcome)))
			}
			return
		}
	}
}

// legend lists the stages that occur, with their share of the agents' time.
func (j *journal) legend() (entries []legendEntry) {
	var sums [pacer.StageCount]time.Duration
	for _, bucket := range j.stages.sums {
		for stage, d := range bucket {
			sums[stage] += d
		}
	}
	whole := sums[pacer.StageDone]
	sums[pacer.StageThink] = whole
	for stage := pacer.StageTool; stage < pacer.StageDone; stage++ {
		sums[pacer.StageThink] -= sums[stage]
	}
	for stage := pacer.StageThink; stage < pacer.StageDone; stage++ {
		if sums[stage] <= 0 || whole <= 0 {
			continue
		}
		entries = append(entries, legendEntry{stage.String(), stageWords(stage.String()), stageAbout[stage], share(float64(sums[stage]) / float64(whole))})
	}
	return entries
}

// area is how many agents were in each stage over time.
func (j *journal) area() *chart {
	at, agents := j.stages.mean()
	c := &chart{Title: "Agents by stage", EndS: j.end.Seconds(), AtS: at, Stacked: true, Bands: j.bands(), Kind: "broad", Unit: "agents"}
	for _, stage := range stacked {
		some := false
		for _, v := range agents[stage] {
			some = some || v > 0
		}
		if some {
			c.Series = append(c.Series, curve{Name: stageWords(stage.String()), Class: "s-" + stage.String(), V: agents[stage], Area: true})
		}
	}
	return c
}
