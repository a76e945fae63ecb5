package published

import (
	"fmt"
	"math"
	"time"
)

// retryPanels is the retry experiment of the second paper on metastable failures, four times with
// another trigger or load.
func retryPanels() Result {
	return Result{
		Name:   "retry-panels",
		Source: "Huang et al., Metastable Failures in the Wild, OSDI'22, the artefact's retry experiment (MongoDB, open loop, timeout 3 s, 4 resends)",
		About:  "of four nearly equal triggers and loads, one tips the system for good and three do not",
		seeds:  10,
		play:   playRetryPanels,
	}
}

// panel is one of the paper's four.
type panel struct {
	name     string
	cores    float64 // of 2, during the trigger
	length   time.Duration
	load     float64 // as a share of the experiment's: one request per 75 µs
	recovers bool    // as published
	toy      [2]int  // how many of 10 runs of an earlier toy model healed, at the lowest and the highest load of toyLoads
}

func panels() []panel {
	return []panel{
		{"baseline: 0.45 of 2 cores for 10 s", .45, 10 * time.Second, 1, true, [2]int{10, 10}},
		{"metastable: 0.40 of 2 cores for 10 s", .40, 10 * time.Second, 1, false, [2]int{1, 0}},
		{"shorter: 0.40 of 2 cores for 9 s", .40, 9 * time.Second, 1, true, [2]int{10, 9}},
		{"less load: 0.40 of 2 cores for 10 s, a request per 100 µs", .40, 10 * time.Second, .75, true, [2]int{10, 10}},
	}
}

// panelLoads are the ratios λ/μ at which the panels are played. The artefact gives rates and quotas of
// processors, not how much a request needs, so the ratio is a fit: it is one number for all four.
func panelLoads() []float64 { return []float64{.3725, .375, .3775, .38, .3825} }

const (
	panelRate    = 1000. // services/s at full speed: the model's scale
	panelToyLow  = .3725
	panelToyHigh = .38
)

// station is the panel's, at a ratio of λ and μ.
func (p *panel) station(ratio float64) station {
	return station{
		horizon: 120 * time.Second, callsPerSecond: panelRate * ratio * p.load, evenly: true, servicesPerSecond: panelRate,
		policy:  impatient(3*time.Second, 4),
		trigger: trigger{at: 60 * time.Second, length: p.length, speed: p.cores / 2},
	}
}

func playRetryPanels(p *replay) {
	ps, loads := panels(), panelLoads()
	courses := each(p, len(ps)*len(loads), func(i int, seed uint64) course {
		s := ps[i/len(loads)].station(loads[i%len(loads)])
		s.seed = seed
		return s.run().course()
	})
	for j, ratio := range loads {
		for i := range ps {
			healed := healedOf(courses[i*len(loads)+j])
			p.panelRow(&ps[i], ratio, healed)
		}
	}
	p.note("λ/μ is fitted: the artefact states rates and quotas, not the work of a request. It is the same for all four panels of a row of runs. The artefact itself warns of variation between runs.")
	p.figure(panelFigure())
	p.figure(vulnerabilityFigure(p))
}

// panelRow holds the majority of runs against the publication, and the number of those that healed
// against the toy model where that was played.
func (p *replay) panelRow(q *panel, ratio float64, healed int) {
	what := fmt.Sprintf("λ/μ %.4g, %s", ratio, q.name)
	want := "does not recover"
	if q.recovers {
		want = "recovers"
	}
	p.row(Row{
		What: what, Grade: GradePublished, Expected: want, Here: fmt.Sprintf("%d of %d recover", healed, p.Seeds),
		Tolerance: "most runs", Right: (2*healed > p.Seeds) == q.recovers,
	})
	toy := -1
	switch ratio {
	case panelToyLow:
		toy = q.toy[0]
	case panelToyHigh:
		toy = q.toy[1]
	}
	if toy < 0 {
		return
	}
	share, within := float64(healed)/float64(p.Seeds), healsWithin(float64(toy)/toyRuns, p.Seeds)
	p.row(Row{
		What: what, Grade: GradeToy, Expected: fmt.Sprintf("%d of 10 recover", toy), Here: fmt.Sprintf("%d of %d recover", healed, p.Seeds),
		Tolerance: fmt.Sprintf("± %.0f points", 100*within), Right: math.Abs(share-float64(toy)/toyRuns) <= within,
	})
}

// panelFigure shows a run of each panel.
func panelFigure() Figure {
	f := Figure{
		Name: "retry-panels", Title: "Four triggers, one of which is too much",
		Note: "answers in time over calls; λ/μ 0.3775, timeout 3 s, 4 resends, seed 1",
		X:    Axis{"time", "s"}, Y: Axis{"answers in time a call", ""},
		Shade: Shade{"trigger", 60, 70},
	}
	ps := panels()
	for i := range ps {
		s := ps[i].station(.3775)
		s.seed = 1
		points := s.run().goodput()
		for j := range points {
			points[j].Y /= s.callsPerSecond
		}
		f.Curves = append(f.Curves, Curve{Name: ps[i].name, Points: points})
	}
	return f
}

// vulnerabilityFigure is P(recover) over load and the length of the trigger.
func vulnerabilityFigure(p *replay) Figure {
	loads := []float64{.20, .24, .28, .32, .34, .36, .38, .40, .44, .48}
	lengths := []int{4, 6, 8, 9, 10, 11, 12, 14, 17, 20}
	q := panels()[1]
	healed := each(p, len(loads)*len(lengths), func(i int, seed uint64) bool {
		s := q.station(loads[i%len(loads)])
		s.trigger.at, s.trigger.length, s.horizon = 20*time.Second, time.Duration(lengths[i/len(loads)])*time.Second, 90*time.Second
		s.seed, s.servicesPerSecond, s.callsPerSecond = seed, panelRate/4, s.callsPerSecond/4
		return s.run().course().healed()
	})
	h := &Heat{Runs: p.Seeds}
	for _, load := range loads {
		h.Columns = append(h.Columns, fmt.Sprintf("%.2f", load))
	}
	for i, length := range lengths {
		h.Rows = append(h.Rows, fmt.Sprint(length))
		row := make([]int, len(loads))
		for j := range loads {
			for _, ok := range healed[i*len(loads)+j] {
				if ok {
					row[j]++
				}
			}
		}
		h.Healed = append(h.Healed, row)
	}
	return Figure{
		Name: "retry-vulnerability", Title: "How vulnerable: share of runs that recover",
		Note: fmt.Sprintf("server of 250/s at a fifth of its speed, timeout 3 s, 4 resends, %d seeds a cell", p.Seeds),
		X:    Axis{"load λ/μ", ""}, Y: Axis{"length of the trigger", "s"},
		Heat: h,
	}
}
