package report

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/wedge/repro/series"
	"example.com/wedge/repro/soak"
)

// windowsMax bounds the windows that are drawn: from twice as many on, two are made one.
const windowsMax = 400

// soakView is a soak as the template has it.
type soakView struct {
	Doc     *soak.Document
	HasDoc  bool
	Met     int
	Charts  []chartView
	Broad   []chartView
	Process []chartView
	Trends  []trendRow
	Windows int
	WarmUp  string
	Decided bool // a threshold has more terms or windows than one, of which one decided
}

// trendRow is what was found about a series: drift of the run, or a leak of the process.
type trendRow struct {
	Kind, Name, Verdict, Mood, First, Last, Slope, Why string
	Clear                                              bool
}

// readSoak reads what a soak left; nil if there is nothing of one.
func (v *view) readSoak(s *source) *soakView {
	out := &soakView{Doc: &soak.Document{}}
	out.HasDoc = s.json(soak.DocumentFile, out.Doc)
	windows := readWindows(s)
	process := readProcess(s)
	if !out.HasDoc && len(windows) == 0 && len(process) == 0 {
		return nil
	}
	out.Windows = len(windows)
	bands := out.bands()
	out.Broad = views(stageSeries(windows, bands))
	out.Charts = views(windowSeries(windows, bands)...)
	out.Process = views(processSeries(process, bands)...)
	if out.HasDoc {
		v.Soak = out.Doc
		out.WarmUp = span(out.Doc.WarmUpS)
		for _, t := range out.Doc.Thresholds {
			if t.OK {
				out.Met++
			}
			out.Decided = out.Decided || t.Missing != "" || t.Term != "" || t.Window != 0
		}
		out.trends("drift", out.Doc.Drift)
		out.trends("leak", out.Doc.Leaks)
	}
	return out
}

// bands are the stalls whose evidence was kept. The warm-up, which does not count, is no band: it is told in words.
func (o *soakView) bands() (bands []band) {
	for _, k := range o.Doc.Stalls.Kept {
		end := o.Doc.AtS
		if k.EndedAtS != nil {
			end = *k.EndedAtS
		}
		bands = append(bands, band{k.DetectedAtS, end, fmt.Sprintf("stall %d: %s", k.Episode, clean(string(k.Cause)))})
	}
	return bands
}

// readWindows reads windows.jsonl, merged where there are too many.
func readWindows(s *source) []series.Window {
	var windows, pending []series.Window
	every := 1 // windows that are made one
	s.lines(soak.WindowsLog, func(line []byte) error {
		var w series.Window
		if err := json.Unmarshal(line, &w); err != nil {
			return err
		}
		if !finite(w.FromS) || !finite(w.ToS) || w.ToS <= w.FromS || w.FromS < 0 {
			return fmt.Errorf("from_s and to_s: found %v and %v, want a stretch of time", w.FromS, w.ToS)
		}
		if pending = append(pending, w); len(pending) < every {
			return nil
		}
		one, err := merged(pending)
		pending = pending[:0]
		if err != nil {
			return err
		}
		if n := len(windows); n > 0 && one.FromS < windows[n-1].ToS {
			return errors.New("it begins before the one before it ends")
		}
		if windows = append(windows, one); len(windows) == 2*windowsMax {
			kept := windows[:0]
			for i := 0; i+1 < len(windows); i += 2 {
				pair, err := series.Merge(windows[i], windows[i+1])
				if err != nil {
					return err
				}
				kept = append(kept, pair)
			}
			windows, every = kept, 2*every
		}
		return nil
	})
	return windows
}

func merged(windows []series.Window) (one series.Window, err error) {
	one = windows[0]
	for _, w := range windows[1:] {
		if one, err = series.Merge(one, w); err != nil {
			return one, err
		}
	}
	return one, nil
}

// readProcess reads process.jsonl, thinned where it is long.
func readProcess(s *source) (process []series.Process) {
	every, n := 1, 0
	s.lines(soak.ProcessLog, func(line []byte) error {
		var p series.Process
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		if k := len(process); !finite(p.AtS) || p.AtS < 0 || k > 0 && p.AtS < process[k-1].AtS {
			return fmt.Errorf("at_s: found %v, want no less than before", p.AtS)
		}
		if n++; n%every != 0 {
			return nil
		}
		if process = append(process, p); len(process) == 2*windowsMax {
			kept := process[:0]
			for i := 0; i < len(process); i += 2 {
				kept = append(kept, process[i])
			}
			process, every = kept, 2*every
		}
		return nil
	})
	return process
}

// trends adds what was found about series, those with something to say first.
func (o *soakView) trends(kind string, found []series.Finding) {
	for _, bad := range []bool{true, false} {
		for _, f := range found {
			clear := f.Verdict == series.VerdictOK || f.Verdict == series.VerdictUnclear
			if clear == bad {
				continue
			}
			r := trendRow{
				Kind: kind, Name: clean(f.Name), Verdict: clean(string(f.Verdict)), First: measure(f.First, f.Unit), Last: measure(f.Last, f.Unit),
				Slope: measure(f.SlopePerH, f.Unit) + " an hour", Why: clean(f.Why), Clear: clear, Mood: "warn",
			}
			if f.N == 0 { // nothing was read: 0 would be a reading
				r.First, r.Last = "–", "–"
			}
			switch f.Verdict {
			case series.VerdictOK:
				r.Mood = "good"
			case series.VerdictLeaking:
				r.Mood = "bad"
			case series.VerdictUnclear:
				r.Mood = ""
			}
			o.Trends = append(o.Trends, r)
		}
	}
}

// measure writes a value in a unit of series.
func measure(v float64, unit string) string {
	switch unit {
	case "s":
		return span(v)
	case "bytes":
		return map[bool]string{true: "−"}[v < 0] + bytesWords(int64(max(v, -v)))
	case "share":
		return number(100*v) + " %"
	case "1/s":
		return number(v) + " /s"
	}
	return number(v)
}

// soakBadge gives a soak's verdict its colour.
func soakBadge(v soak.Verdict) badge {
	b := badge{stageWords(string(v)), "warn"}
	switch v {
	case soak.Passed:
		b.Mood = "good"
	case soak.Missed, soak.Failed, soak.Stalled:
		b.Mood = "bad"
	}
	return b
}

// soakTiles are the figures at the top of the page of a soak.
func soakTiles(d *soak.Document) []tile {
	t := &d.Totals
	tiles := []tile{{span(d.AtS), "of run time", ""}, {thousands(t.TasksDone), "tasks done", ""}}
	if t.TasksFailed > 0 {
		tiles = append(tiles, tile{thousands(t.TasksFailed), "tasks failed", "bad"})
	}
	tiles = append(tiles, tile{thousands(t.CallsOK), "calls answered", ""})
	if t.CallsFailed > 0 {
		tiles = append(tiles, tile{thousands(t.CallsFailed), "calls failed", "bad"})
	}
	mood := ""
	if d.Stalls.Total > 0 {
		mood = "warn"
	}
	tiles = append(tiles, tile{thousands(d.Stalls.Total), word(d.Stalls.Total, "stall", "stalls"), mood}, tile{thousands(t.TokensReceived), "tokens received", ""})
	if t.TokensReceived > 0 && t.TokensWasted > 0 {
		tiles = append(tiles, tile{share(float64(t.TokensWasted) / float64(t.TokensReceived)), "of them wasted", "warn"})
	}
	if d.Resumed > 0 {
		tiles = append(tiles, tile{thousands(d.Resumed), word(d.Resumed, "time resumed", "times resumed"), ""})
	}
	return tiles
}
