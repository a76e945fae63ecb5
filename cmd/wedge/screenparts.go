package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/wedge/repro/live"
	"example.com/wedge/repro/soak"
)

// framer makes the parts of the screen.
type framer struct {
	s     *live.Snapshot
	h     live.History
	width int
}

// wideFrom is from how many columns on the screen has two things beside each other.
const wideFrom = 72

func (f *framer) wide() bool { return f.width >= wideFrom }

// lasting writes how long something takes.
func lasting(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.1f s", s)
	}
	return soak.Length(s)
}

// head is what runs, how it stands, and how far it has come.
func (f *framer) head() []spans {
	s := f.s
	state := piece{string(s.State), inGreen}
	switch {
	case s.State == live.Ended:
		state.code = inBold
	case s.Stall != nil && s.Stall.Open:
		state = piece{"STALLED", inRed}
	case s.State == live.Starting:
		state.code = inDim
	}
	title := fmt.Sprintf("wedge %s %s", s.Run.Command, plainText(oneLine(s.Run.Scenario)))
	if f.wide() {
		title += fmt.Sprintf("  seed %d, %s clock", s.Run.Seed, s.Run.Clock)
	}
	clock := "t " + lasting(s.AtS)
	switch {
	case s.Run.Clock == "virtual":
		clock += "  " + lasting(s.RealS) + " real"
	case s.Run.Scale != 1:
		clock += fmt.Sprintf("  x%s", short(s.Run.Scale))
	}
	lines := []spans{bothEnds(f.width, piece{title, inBold}, state)}
	share := -1.0
	switch {
	case s.Run.Tasks > 0:
		share = float64(s.Agents.Done+s.Agents.Failed) / float64(s.Run.Tasks)
	case s.Run.UntilS > 0:
		share = s.AtS / s.Run.UntilS
	}
	if share < 0 {
		return append(lines, spans{{clock, ""}})
	}
	share = min(1, share)
	columns := f.width / 4
	full := int(share*float64(columns) + 0.5)
	return append(lines, spans{
		{fmt.Sprintf("%-*s", f.width-columns-6, clock), ""},
		{strings.Repeat("━", full), inGreen}, {strings.Repeat("─", columns-full), inDim}, {fmt.Sprintf(" %3.0f %%", 100*share), ""},
	})
}

// status is whether work gets done, and what was thought of the last stall.
func (f *framer) status() []spans {
	st := f.s.Stall
	if st == nil {
		if f.s.State == live.Starting {
			return []spans{{{"waiting for the run", inDim}}}
		}
		return []spans{{{"no stall so far", inGreen}, {"; last step " + lasting(f.s.IdleS) + " ago", ""}}}
	}
	what := plainText(oneLine(strings.TrimSpace(strings.ToUpper(st.Outcome) + " " + st.Cause)))
	if st.Open {
		line := spans{{fmt.Sprintf("STALL %d for %s", st.Episode, lasting(st.LastedS)), inRed}}
		if what != "" {
			line = append(line, piece{"  " + what, inRed})
		}
		return []spans{line}
	}
	line := spans{{fmt.Sprintf("last stall %d: ", st.Episode), ""}}
	if what != "" {
		line = append(line, piece{what, inYellow}, piece{", ", ""})
	}
	return []spans{append(line, piece{fmt.Sprintf("%s at %s", lasting(st.LastedS), lasting(st.StartedS)), ""})}
}

// why is the explanation of the stall.
func (f *framer) why() []spans {
	if f.s.Stall == nil || f.s.Stall.Why == "" {
		return nil
	}
	most := 1 // of one that is over
	if f.s.Stall.Open {
		most = 3
	}
	var out []spans
	for _, line := range strings.Split(strings.TrimSuffix(style{width: f.width}.wrap("  ", plainText(f.s.Stall.Why)), "\n"), "\n") {
		if len(out) == most {
			out[most-1] = append(out[most-1], piece{" …", inDim})
			break
		}
		out = append(out, spans{{line, ""}})
	}
	return out
}

// work is what has been done, and how fast.
func (f *framer) work() []spans {
	a, c := &f.s.Agents, &f.s.Calls
	tasks := "tasks " + thousands(a.Done)
	if n := f.s.Run.Tasks; n > 0 {
		tasks += " of " + thousands(n)
	}
	tasks += " done"
	failed := func(n int) piece {
		if n == 0 {
			return piece{}
		}
		return piece{", " + thousands(n) + " failed", inRed}
	}
	first := spans{{tasks, ""}, failed(a.Failed)}
	second := spans{{"calls " + thousands(c.Completed) + " done, " + thousands(c.InFlight) + " in flight", ""}, failed(c.Failed)}
	rate := spans{{short(c.PerS), inBold}, {" calls/s  ", ""}}
	values := make([]float64, len(f.h.Points))
	for i := range values {
		values[i] = f.h.Points[i].CallsPerS
	}
	line, _, _ := spark(values, min(f.width/3, 30))
	rate = append(rate, piece{strings.TrimRight(line, " "), inGreen})
	if !f.wide() {
		return []spans{first, second, rate}
	}
	first = append(append(first, piece{"   ", ""}), second...)
	return []spans{first, append(rate, piece{fmt.Sprintf("  %s tokens/s  %s steps", short(f.s.Tokens.PerS), thousands(a.Steps)), ""})}
}

// stages is how many agents are at what: in a low screen those stages only that somebody is in.
func (f *framer) stages() []spans {
	const name, count = 12, 7
	out := []spans{{{fmt.Sprintf("agents %s at work", thousands(f.s.Agents.AtWork)), inBold}}}
	for _, at := range f.s.Agents.ByStage {
		if at.N == 0 && !f.wide() {
			continue
		}
		line := spans{{fmt.Sprintf("  %-*s%*s ", name, strings.ReplaceAll(at.Stage, "_", " "), count-1, thousands(at.N)), ""}}
		if at.N == 0 {
			line[0].code = inDim
		}
		out = append(out, append(line, piece{wideBar(at.N, f.s.Agents.AtWork, f.width-2-name-count), stagePaint(at.Stage)}))
	}
	return out
}

// stagePaint is the colour of a stage: yellow where agents wait for wedge's own limits, red before a retry.
func stagePaint(stage string) string {
	switch stage {
	case "slot", "rate":
		return "33"
	case "backoff":
		return "31"
	case "connect", "headers", "first_token":
		return "34"
	case "stream":
		return "32"
	}
	return "36"
}

// pacer is how the pacer's limits are used.
func (f *framer) pacer() []spans {
	s := &f.s.Slots
	var parts []string
	if s.Max > 0 {
		parts = append(parts, fmt.Sprintf("slots %s of %s in use, %s waiting", thousands(s.InUse), thousands(s.Max), thousands(s.Waiting)))
	}
	for _, r := range f.s.Rates {
		left := short(r.Left) + " left"
		if r.Left < 0 {
			left = short(-r.Left) + " promised ahead"
		}
		parts = append(parts, fmt.Sprintf("%s %s/s, %s", short(r.PerS), r.Of, left))
	}
	var out []spans
	for _, p := range parts {
		out = append(out, spans{{p, ""}})
	}
	if c := &f.s.Calls; c.Timeouts+c.Refused+c.Retries > 0 {
		out = append(out, spans{{fmt.Sprintf("attempts %s: %s timed out, %s refused, %s retries",
			thousands(c.Attempts), thousands(c.Timeouts), thousands(c.Refused), thousands(c.Retries)), ""}})
	}
	return out
}

// oldest is the call that began first of those in flight.
func (f *framer) oldest() []spans {
	o := f.s.Oldest
	if o == nil {
		return []spans{{{"no call in flight", inDim}}}
	}
	return []spans{{
		{"oldest call ", ""}, {lasting(o.AgeS), inBold},
		{fmt.Sprintf("  %s, %s for %s", plainText(oneLine(o.ID)), strings.ReplaceAll(o.Stage, "_", " "), lasting(o.StageS)), ""},
	}}
}

// gauges are the servers' gauges: those that are not 0 first, as many as fit on a few lines.
func (f *framer) gauges() []spans {
	s := f.s
	if s.GaugesErr != "" {
		return []spans{{{"servers: " + plainText(oneLine(s.GaugesErr)), inRed}}}
	}
	if len(s.Gauges) == 0 {
		return nil
	}
	shown := slices.Clone(s.Gauges)
	slices.SortStableFunc(shown, func(a, b live.Gauge) int {
		zero := map[bool]int{true: 1}
		return cmp.Compare(zero[a.Value == 0], zero[b.Value == 0])
	})
	const most = 3
	lines, used := []string{"servers"}, len("servers")
	for _, g := range shown {
		text := fmt.Sprintf("  %s %s", strings.ReplaceAll(plainText(oneLine(g.Name)), "_", " "), short(g.Value))
		n := textColumns(text)
		if used+n > f.width {
			if len(lines) == most {
				break
			}
			lines, used = append(lines, ""), 0
		}
		lines[len(lines)-1] += text
		used += n
	}
	var out []spans
	for _, line := range lines {
		out = append(out, spans{{line, ""}})
	}
	return out
}

// facts is what else is to be seen.
func (f *framer) facts() []spans {
	var out []spans
	for _, fact := range f.s.Facts {
		code := ""
		if fact.Bad {
			code = inRed
		}
		out = append(out, spans{{plainText(oneLine(fact.Name)) + ": ", inDim}, {plainText(oneLine(fact.Value)), code}})
	}
	return out
}

// foot is where else to look.
func (f *framer) foot(url string) []spans {
	var parts []string
	if url != "" {
		parts = append(parts, url)
	}
	if dir := f.s.Run.Evidence; dir != "" {
		parts = append(parts, "evidence in "+plainText(oneLine(dir)))
	}
	if len(parts) == 0 {
		return nil
	}
	return []spans{{{strings.Join(parts, "  "), inDim}}}
}

// said is the latest thing that was said while the screen was up.
func (f *framer) said(text string) []spans {
	if text == "" {
		return nil
	}
	return []spans{{{plainText(oneLine(text)), inYellow}}}
}
