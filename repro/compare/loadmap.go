package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// loadMap is a scenario over two sweeps of its world: load across, trigger up.
type loadMap struct {
	of       string // the scenario without the changes
	load     []Point
	trigger  []Point // in order of size, as load is
	scenario [][]int // by trigger, then load: its place in the plan; -1: not there
}

// loadMaps returns the maps of a plan, one for each scenario that two sweeps changed. Of the two, the one of triggers is
// the trigger; else it is the second.
func (p *Plan) loadMaps() []loadMap {
	if len(p.Loads) == 0 || len(p.Loads[0]) != 2 {
		return nil
	}
	across, up := 0, 1
	if isTrigger(p.Loads[0][0].Path) && !isTrigger(p.Loads[0][1].Path) {
		across, up = 1, 0
	}
	var maps []loadMap
	for _, at := range p.Loads {
		i := slices.IndexFunc(maps, func(m loadMap) bool { return m.of == at[0].Of })
		if i < 0 {
			i = len(maps)
			maps = append(maps, loadMap{of: at[0].Of})
		}
		maps[i].load, maps[i].trigger = withPoint(maps[i].load, at[across]), withPoint(maps[i].trigger, at[up])
	}
	for i := range maps {
		m := &maps[i]
		for _, trigger := range m.trigger {
			row := make([]int, len(m.load))
			for x := range row {
				row[x] = slices.IndexFunc(p.Loads, func(at []Point) bool {
					return at[0].Of == m.of && at[across].Value == m.load[x].Value && at[up].Value == trigger.Value
				})
			}
			m.scenario = append(m.scenario, row)
		}
	}
	return maps
}

func isTrigger(path string) bool {
	return strings.HasPrefix(path, "triggers.") || strings.HasPrefix(path, "faults.")
}

// withPoint adds a point to those in order, unless its value is there.
func withPoint(points []Point, at Point) []Point {
	if slices.ContainsFunc(points, func(p Point) bool { return p.Value == at.Value }) {
		return points
	}
	points = append(points, at)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	return points
}

// axisName is a swept field as words and axes name it.
func axisName(path string) string {
	if isTrigger(path) { // with the name of the trigger, as "load" alone would say nothing
		return path[strings.IndexByte(path, '.')+1:]
	}
	return shortPath(path)
}

// recovers says how many runs of a cell came back, of how many. Where nothing upset them, it is whether they ended well.
func (c *Cell) recovers() Proportion {
	if c.Recovery != nil {
		return c.Recovery.Recovered
	}
	return c.Completed
}

// recovery says up to which load and trigger every policy recovers, a paragraph for each map.
func (w *wording) recovery(maps []loadMap) []string {
	var paragraphs []string
	for i := range maps {
		m := &maps[i]
		var told []string
		for policy := range w.r.Policies {
			told = append(told, w.policy(policy).Name+" – "+w.reach(m, policy))
		}
		paragraphs = append(paragraphs, fmt.Sprintf("Which runs of %s recover, by load (%s) and trigger (%s), %s each: %s.",
			m.of, axisName(m.load[0].Path), axisName(m.trigger[0].Path), count(w.r.N, "seed"), strings.Join(told, "; ")))
	}
	return paragraphs
}

// reach says up to which load all runs of a policy recover, trigger by trigger; triggers with the same limit are told
// together.
func (w *wording) reach(m *loadMap, policy int) string {
	var limits []int // by trigger: how many loads, from the least, at which all runs recover
	for _, row := range m.scenario {
		n := 0
		for n < len(row) && (row[n] < 0 || w.allRecover(row[n], policy)) {
			n++
		}
		limits = append(limits, n)
	}
	var parts []string
	for from := 0; from < len(limits); {
		to := from
		for to+1 < len(limits) && limits[to+1] == limits[from] {
			to++
		}
		parts = append(parts, upTo(m, limits[from])+after(m, from, to))
		from = to + 1
	}
	return strings.Join(parts, ", ")
}

// upTo says that all runs recover at so many loads from the least.
func upTo(m *loadMap, loads int) string {
	switch loads {
	case 0:
		return "not all at any load"
	case len(m.load):
		return "all"
	}
	return "all up to load " + m.load[loads-1].Value
}

// after names triggers that follow each other.
func after(m *loadMap, from, to int) string {
	switch {
	case from == 0 && to == len(m.trigger)-1:
		return ""
	case from == to:
		return " after trigger " + m.trigger[from].Value
	}
	return fmt.Sprintf(" after trigger %s to %s", m.trigger[from].Value, m.trigger[to].Value)
}

func (w *wording) allRecover(s, policy int) bool {
	back := w.r.Scenarios[s].Cells[policy].recovers()
	return back.N > 0 && back.K == back.N
}
