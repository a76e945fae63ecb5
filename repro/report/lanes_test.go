package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

var letters = regexp.MustCompile(`([A-Z])([0-9a-z]+)`)

// decoded is a lane's text as the page's script reads it: a line a stretch, in units.
func decoded(text string, texts []string) (out []string) {
	at, call, attempt, outcome := int64(0), "-", int64(0), ""
	var pending string // what is told of an attempt comes before its stretches
	for _, m := range letters.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(m[2], 36, 64)
		switch kind := m[1][0]; {
		case kind <= 'I':
			words := fmt.Sprintf("%d-%d %s", at, at+n, pacer.Stage(kind-'A'))
			if kind > 'B' {
				words += fmt.Sprintf(" %s/%d%s%s", call, attempt, pending, outcome)
			}
			out, at = append(out, words), at+n
		case kind == 'J':
			at += n
		case kind == 'N', kind == 'X':
			call, attempt, pending, outcome = strconv.FormatInt(n, 10), 0, "", ""
			if kind == 'X' {
				call = texts[n]
			}
		case kind == 'P':
			attempt, pending, outcome = n, "", ""
		case kind == 'T':
			pending = fmt.Sprintf(" %d tokens", n)
		case kind == 'O':
			outcome = " " + texts[n]
		case kind == 'W':
			out[len(out)-1] += " " + texts[n]
		}
	}
	return out
}

func TestEncoder(t *testing.T) {
	s := func(v float64) sim.Instant { return sim.Instant(v * 1e9) }
	l := &lane{agent: "agent-07", from: s(1), to: s(30), calls: []laneCall{
		{id: "agent-07-c001", round: 1, step: 1, attempts: []laneAttempt{{1, 12, "timeout, limit idle"}, {2, 40, "ok"}}},
		{id: "other", attempts: []laneAttempt{{1, 5, "ok"}}},
	}, spans: []laneSpan{
		{from: s(3), to: s(5), stage: pacer.StageSlot, call: 0},
		{from: s(5), to: s(6.5), stage: pacer.StageHeaders, call: 0, attempt: 1},
		{from: s(6.5), to: s(6.5004), stage: pacer.StageBackoff, call: 0, attempt: 1},
		{from: s(6.5004), to: s(9), stage: pacer.StageStream, call: 0, attempt: 2},
		{from: s(9), to: s(9.25), stage: pacer.StageTool, call: -1, tool: "save"},
		{from: s(12), to: s(13), stage: pacer.StageStream, call: 1, attempt: 1},
	}}
	e := encoder{unit: time.Millisecond, index: map[string]int{}}
	want := []string{
		"1000-3000 think", "3000-5000 slot 1/0", "5000-6500 headers 1/1 12 tokens timeout, limit idle", "6500-9000 stream 1/2 40 tokens",
		"9000-9250 tool save", "9250-12000 think", "12000-13000 stream other/1 5 tokens", "13000-30000 think",
	}
	if got := decoded(e.lane(l, 0), e.texts); !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// What is shorter than a second and a half goes to the stretch before.
	want = []string{"1000-3000 think", "3000-5000 slot 1/0", "5000-6500 headers 1/1 12 tokens timeout, limit idle", "6500-9000 stream 1/2 40 tokens", "9000-30000 think"}
	if got := decoded(e.lane(l, 1200*time.Millisecond), e.texts); !slices.Equal(got, want) {
		t.Errorf("melted: found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Sums by stretches are those of all time, however long the run turns out to be.
func TestStageTimeSums(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	var st stageTime
	var want [pacer.StageCount]time.Duration
	for range 2000 {
		stage := pacer.Stage(r.IntN(pacer.StageCount))
		from := sim.Instant(math.Exp(r.Float64()*20) * 1e6)
		to := from + sim.Instant(r.Int64N(int64(time.Hour)))
		st.add(stage, from, to)
		want[stage] += to.Sub(from)
	}
	var got [pacer.StageCount]time.Duration
	for _, sum := range st.sums {
		for stage, d := range sum {
			got[stage] += d
		}
	}
	if got != want || len(st.sums) > stageBuckets {
		t.Errorf("seed %d: %v in %d stretches, want %v", seed, got, len(st.sums), want)
	}
}

// A journal whose lines are out of order, as two that happen at once may be on the wall, is read all the same.
func TestLinesOutOfOrder(t *testing.T) {
	b := fstest.MapFS{"events.jsonl": {Data: []byte(`{"t_s":0.000000000,"event":"run_start","run":"x-1","agents":1,"workers":1}
{"t_s":0.000000000,"event":"task_start","agent":"a","task":"t"}
{"t_s":2.000000000,"event":"stage","call":"a-c001","agent":"a","task":"t","round":1,"step":1,"stage":"connect","from":"think","attempt":1}
{"t_s":1.000000000,"event":"task_start","agent":"b","task":"u"}
{"t_s":3.000000000,"event":"run_end","why":"completed","agents_done":0,"agents_failed":0,"steps":0,"stalls":0}
`)}}
	s := &source{fs: b}
	j := readJournal(s)
	if len(j.lanes) != 2 || len(s.troubles) != 0 {
		t.Errorf("%d lanes, want 2; wrong: %v", len(j.lanes), s.troubles)
	}
}

func TestWords(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{span(0), "0 s"}, {span(0.0081), "8.1 ms"}, {span(61.8), "61.8 s"}, {span(123.4), "2 min 3 s"}, {span(7200), "2 h"}, {span(86400 * 3), "3 d"}, {span(math.NaN()), "–"}, {span(-3), "−3 s"},
		{number(1234567), "1,234,567"}, {number(0.02067), "0.0207"}, {number(1e18), "1e+18"}, {share(0.0004), "< 0.1 %"}, {share(0.527), "52.7 %"}, {bytesWords(1536), "1.5 KiB"},
		{clean("a\n\u202eb\x00"), "a \uFFFDb\uFFFD"}, {plural(1, "call", "calls"), "1 call"}, {plural(1200, "call", "calls"), "1,200 calls"},
	} {
		if row.got != row.want {
			t.Errorf("found %q, want %q", row.got, row.want)
		}
	}
}

// What stands at the top of an axis is round, and so is its half.
func TestCeilings(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{span(timeCeiling(25 * 60)), "30 min"}, {span(timeCeiling(0.049)), "50 ms"}, {span(timeCeiling(59)), "60 s"}, {span(timeCeiling(61)), "2 min"}, {span(timeCeiling(7 * 3600)), "8 h"},
		{span(timeCeiling(25 * 3600)), "2 d"}, {span(timeCeiling(0)), "1 s"}, {bytesWords(int64(bytesCeiling(9 << 20))), "10 MiB"}, {bytesWords(int64(bytesCeiling(11 << 20))), "12 MiB"},
		{bytesWords(int64(bytesCeiling(13 << 20))), "16 MiB"}, {bytesWords(int64(bytesCeiling(0))), "1 KiB"},
	} {
		if row.got != row.want {
			t.Errorf("found %q, want %q", row.got, row.want)
		}
	}
}

// Charts of what no chart can be made of are charts all the same.
func TestOddCharts(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []*chart{
		{}, {EndS: nan, AtS: []float64{nan}, Series: []curve{{V: []float64{nan}}}}, {EndS: inf, AtS: []float64{0, 1}, Series: []curve{{V: []float64{inf, 1}}}},
		{EndS: 1, AtS: []float64{0, 0.5}, Series: []curve{{V: []float64{1e300, -1e300, 4}}}, Stacked: true, Bands: []band{{nan, inf, "x"}}, Lines: []level{{"y", nan}}},
	} {
		v := c.view()
		if strings.Contains(string(v.Picture), "NaN") || strings.Contains(v.Data, "Inf") {
			t.Errorf("%+v: %s", c, v.Picture)
		}
	}
}
