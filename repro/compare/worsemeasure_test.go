package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare/stats"
	"example.com/wedge/repro/metrics"
)

// standingWorlds are the worlds in which presets are held against none: the whole catalogue, and some in
// which traps spring that no scenario of it has.
func standingWorlds() []World {
	var worlds []World
	for _, name := range repro.Names() {
		worlds = append(worlds, World{Scenario: name})
	}
	return append(worlds,
		// Silences that are longer than the idle limits of two minutes, and than those of five and ten.
		World{"long-reasoning", []string{"faults.thinking.delay=240s"}},
		World{"long-reasoning", []string{"faults.thinking.delay=900s", "workflow.output_tokens={uniform: [15000, 18000]}"}},
	)
}

// standingPlan is the comparison that standings are made of.
func standingPlan(policies []string, worlds []World, seeds Seeds) (*Plan, error) {
	p := &Plan{Seeds: seeds, Baseline: baselineName}
	for _, name := range policies {
		v, err := presetNamed(name)
		if err != nil {
			return nil, err
		}
		p.Policies = append(p.Policies, v)
	}
	for _, w := range worlds {
		s, err := repro.Lookup(w.Scenario)
		if err != nil {
			return nil, err
		}
		for _, set := range w.Set {
			path, value, _ := strings.Cut(set, "=")
			if s, err = scenarioAt(s, path, value); err != nil {
				return nil, err
			}
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return p, nil
}

// baselineName is the preset that the others are held against.
const baselineName = "none"

// measureStandings runs presets in worlds and says how they stand. The first must be none.
func measureStandings(ctx context.Context, policies []string, worlds []World, seeds Seeds, o Options) (*Standings, error) {
	p, err := standingPlan(policies, worlds, seeds)
	if err != nil {
		return nil, err
	}
	runs, err := Execute(ctx, p, o)
	if err != nil {
		return nil, err
	}
	m := &standingMaker{runs: runs, draws: stats.NewResampler(seeds.N(), resampleSeed), cells: map[key]*Cell{}}
	s := &Standings{Seeds: seeds, Worlds: worlds}
	for policy := range p.Policies {
		if policy == p.baseline() {
			continue
		}
		for world := range worlds {
			if row := m.standing(policy, world); len(row.Figures) > 0 {
				row.Policy, row.World = p.Policies[policy].Name, worlds[world]
				s.Rows = append(s.Rows, row)
			}
		}
	}
	return s, nil
}

// standingMaker holds runs of presets against those of none.
type standingMaker struct {
	runs  *Runs
	draws *stats.Resampler
	cells map[key]*Cell // that have been made
}

// standing says how a policy stands in a world. Its policy and world are left out.
func (m *standingMaker) standing(policy, world int) Standing {
	var row Standing
	cell, none := m.cell(policy, world), m.cell(m.runs.Plan.baseline(), world)
	slower := 0
	for _, key := range StandingKeys() {
		f, base := cell.Of(key), none.Of(key)
		diffs := minus(f.values, base.values)
		diff := stats.Mean(diffs)
		if math.Abs(diff) < trifle(key, base.Mean) {
			continue
		}
		within := m.draws.Mean(diffs)
		if !within.Excludes(0) {
			continue
		}
		worse := (diff > 0) != (key == KeyCompletion)
		if key == KeyTaskTime || key == KeyCompletion {
			if slower = -1; worse {
				slower = 1
			}
		}
		row.Figures = append(row.Figures, Against{
			Metric: key, Mean: rounded(f.Mean), None: rounded(base.Mean), Low: rounded(within.Low), High: rounded(within.High), Worse: worse,
		})
	}
	switch slower {
	case 1:
		row.Because = cause(cell, none)
	case -1:
		row.Because = cause(none, cell)
	}
	return row
}

// trifle is the least difference of a figure that is told, if it is that much with none.
func trifle(key string, none float64) float64 {
	switch key {
	case KeyTaskTime:
		return 0.01 * none
	case KeyKilled:
		return 1
	default:
		return 0.01
	}
}

// rounded keeps four digits: more are noise, and would make a table that changes with every change.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// cell has the means of all figures, without the intervals that standings do not need.
func (m *standingMaker) cell(policy, world int) *Cell {
	at := key{policy: policy, scenario: world}
	if c := m.cells[at]; c != nil {
		return c
	}
	n := m.runs.Whole()
	c := &Cell{Policy: m.runs.Plan.Policies[policy].Name}
	for _, metric := range Metrics() {
		values := m.runs.column(policy, world, n, metric.of)
		c.Figures = append(c.Figures, Figure{Metric: metric.Key, Mean: stats.Mean(values), values: values})
	}
	c.Completed = Proportion{N: n} // how many completed is not told
	for seed := range n {
		run := m.runs.Of(policy, world, seed)
		switch run.Outcome {
		case metrics.Failed:
			c.Failed++
		case metrics.Never:
			c.Never++
		}
		c.killedBy(run, n)
	}
	m.cells[at] = c
	return c
}

// encode writes what readStandings reads.
func (s *Standings) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	for i := range s.Rows {
		if err := e.Encode(&s.Rows[i]); err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
	}
	return b.Bytes(), nil
}
