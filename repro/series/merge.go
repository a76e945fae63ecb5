package series

import "fmt"

// Merge returns one window for two that follow each other, the earlier one first. Counts add up, means are weighed,
// distributions are as if both had been one, and what stood at the end of a window is that of the later one. The error says that a
// window has a histogram that cannot be read; there is none for windows of this program.
func Merge(a, b Window) (Window, error) {
	out := mergeCounts(&a, &b)
	out.Merged = max(a.Merged, 1) + max(b.Merged, 1)
	lengthA, lengthB := a.ToS-a.FromS, b.ToS-b.FromS
	out.Agents = mergeLevels(a.Agents, b.Agents, lengthA, lengthB)
	out.Flight = mergeLevels(a.Flight, b.Flight, lengthA, lengthB)
	out.Slots = mergeSlots(a.Slots, b.Slots, lengthA, lengthB)
	out.Gauges = mergeGauges(a.Gauges, b.Gauges)
	times, err := mergeTimes(&a, &b)
	if err != nil {
		return Window{}, fmt.Errorf("series: Merge of windows %d and %d: %w", a.Index, b.Index, err)
	}
	out.Times = times
	return out, nil
}

// mergeCounts is Merge for what adds up.
func mergeCounts(a, b *Window) Window {
	out := Window{
		Index: a.Index, FromS: a.FromS, ToS: b.ToS,
		Tasks:    Tasks{a.Tasks.Begun + b.Tasks.Begun, a.Tasks.Done + b.Tasks.Done, a.Tasks.Failed + b.Tasks.Failed, b.Tasks.Open},
		Calls:    Calls{a.Calls.Begun + b.Calls.Begun, a.Calls.OK + b.Calls.OK, a.Calls.Failed + b.Calls.Failed, b.Calls.Open},
		Attempts: a.Attempts, Tokens: a.Tokens, Steps: a.Steps + b.Steps, Tools: a.Tools + b.Tools,
		Stalls: Stalls{Begun: a.Stalls.Begun + b.Stalls.Begun, S: a.Stalls.S + b.Stalls.S, Open: b.Stalls.Open, OpenBefore: a.Stalls.OpenBefore},
		StageS: a.StageS,
	}
	out.Attempts.add(&b.Attempts, 1)
	out.Tokens.add(&b.Tokens, 1)
	out.StageS.add(&b.StageS)
	return out
}

func mergeLevels(a, b Level, lengthA, lengthB float64) Level {
	out := Level{Mean: b.Mean, Max: max(a.Max, b.Max), Last: b.Last}
	if lengthA+lengthB > 0 {
		out.Mean = (a.Mean*lengthA + b.Mean*lengthB) / (lengthA + lengthB)
	}
	return out
}

func mergeSlots(a, b *Slots, lengthA, lengthB float64) *Slots {
	if a == nil || b == nil {
		return b
	}
	return &Slots{mergeLevels(a.Level, b.Level, lengthA, lengthB), b.Limit}
}

func mergeGauges(a, b []Gauge) []Gauge {
	out := append([]Gauge(nil), a...)
	for _, g := range b {
		p := findGauge(out, g.Name)
		if p == nil {
			out = append(out, g)
			continue
		}
		n := p.N + g.N
		if n > 0 {
			p.Mean = (p.Mean*float64(p.N) + g.Mean*float64(g.N)) / float64(n)
		}
		p.N, p.Last, p.Max = n, g.Last, max(p.Max, g.Max)
	}
	return out
}

func findGauge(list []Gauge, name string) *Gauge {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// mergeTimes merges the distributions of windows, which have them in the same order.
func mergeTimes(windows ...*Window) ([]Distribution, error) {
	out := make([]Distribution, timeCount)
	h := newHistogram()
	for i, name := range timeNames {
		h.reset()
		for _, w := range windows {
			d := w.Time(name)
			if d == nil {
				continue
			}
			if err := h.load(d); err != nil {
				return nil, err
			}
		}
		out[i] = h.distribution(name)
	}
	return out, nil
}
