package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
)

// allScenarios names the lines of a table that are of all scenarios together.
const allScenarios = "all"

// CSV is every figure as a table: a line for each scenario, policy and metric. The lines of scenario
// "all" are means over the scenarios; their metric "task_time_ratio" is the geometric mean of the time a
// task against the baseline's.
func (r *Results) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{"scenario", "policy", "metric", "unit", "n_seeds", "mean", "low", "high", "diff", "diff_low", "diff_high", "win_rate", "p", "p_holm", "pairing", "mark"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		lines = append(lines, []string{allScenarios, p.Name, "task_time_ratio", "", strconv.Itoa(r.N), number(p.Ratio), number(p.RatioCI.Low), number(p.RatioCI.High),
			"", "", "", number(p.WinRate), number(p.P), number(p.PHolm), "", markOf(p.Best, false, false)})
		lines = append(lines, r.lines(allScenarios, p.Name, p.Figures)...)
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		for j := range s.Cells {
			lines = append(lines, r.lines(s.Name, s.Cells[j].Policy, s.Cells[j].Figures)...)
			lines = append(lines, s.Cells[j].quantileLines(s.Name)...)
		}
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	return b.Bytes(), nil
}

func (r *Results) lines(scenario, policy string, figures []Figure) [][]string {
	var lines [][]string
	for i, m := range Metrics() {
		f := &figures[i]
		pairing := ""
		if f.Pairing != nil {
			pairing = number(*f.Pairing)
		}
		lines = append(lines, []string{scenario, policy, m.Key, m.Unit, strconv.Itoa(r.N), number(f.Mean), number(f.CI.Low), number(f.CI.High),
			number(f.Diff), number(f.DiffCI.Low), number(f.DiffCI.High), number(f.WinRate), number(f.P), number(f.PHolm), pairing, markOf(f.Best, f.Better, f.Worse)})
	}
	return lines
}

// quantileLines are the quantiles of a cell, with the number of samples for that of seeds.
func (c *Cell) quantileLines(scenario string) [][]string {
	var lines [][]string
	for _, l := range []struct {
		name string
		of   *Latency
	}{{"call", &c.Calls}, {"task", &c.Tasks}, {"detect_dead", &c.DetectDead}} {
		for _, q := range []struct {
			name string
			of   *Quantile
		}{{"p50", l.of.P50}, {"p95", l.of.P95}, {"p99", l.of.P99}} {
			if q.of == nil {
				continue
			}
			value, high := number(q.of.S), number(q.of.HighS)
			if q.of.Never {
				value = "never"
			}
			if q.of.HighNever {
				high = "never"
			}
			lines = append(lines, []string{scenario, c.Policy, l.name + "_" + q.name + "_s", "s", strconv.Itoa(l.of.N), value, number(q.of.LowS), high, "", "", "", "", "", "", "", ""})
		}
	}
	return lines
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }

func markOf(best, better, worse bool) string {
	switch {
	case best:
		return "best"
	case better:
		return "better"
	case worse:
		return "worse"
	}
	return ""
}
