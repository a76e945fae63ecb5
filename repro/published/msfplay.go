package published

import (
	"fmt"
	"math"
)

// notebook is the chain of the artefact's notebook: of 10⁶ units of time, the trigger has 10⁵. Where it
// stands is not stated; early, so that most of the run shows what comes after it.
func notebook(peak float64) *msf {
	return &msf{base: 4, peak: peak, services: 15, orbitReturns: 1, timeout: 1, horizon: 1e6, from: 1e4, to: 1.1e5}
}

// trial is the same, cut some time after the trigger: enough to see whether it returns.
func trial(peak float64) *msf {
	m := notebook(peak)
	m.horizon = 1.2e5
	return m
}

// returned says whether a run was at its end where it had been before the trigger.
func (r *msfRun) returned() bool { return r.last < 100 }

// oddsLeast is how likely the outcome of a single published run must be here.
const oddsLeast = 0.1

func playMSF(p *replay) {
	peaks := []float64{5, 6}
	trials := each(p, len(peaks), func(i int, seed uint64) msfRun { return trial(peaks[i]).run(seed) })
	whole := make([]msfRun, len(peaks))
	p.Each(len(peaks), func(i int) { whole[i] = notebook(peaks[i]).run(asPublished(trials[i], peaks[i] == 5)) })

	for i, peak := range peaks {
		p.msfFate(peak, trials[i])
	}
	for i, peak := range peaks {
		p.about(fmt.Sprintf("4 → %g: distance before the trigger", peak), GradeToy, .36, whole[i].before, .03, "%.2f")
	}
	p.about("distance before the trigger, as λ/(μ−λ)", GradeClosedForm, 4./11, whole[0].before, .02, "%.3f")
	bump := whole[0].during / whole[0].before
	p.row(Row{"4 → 5: distance during the trigger", GradePublished, "about twice that before", fmt.Sprintf("%.2f times", bump), "1.2 to 3 times", bump >= 1.2 && bump <= 3})
	p.about("4 → 5: distance long after it", GradeToy, .36, whole[0].after, .03, "%.2f")
	p.row(Row{"4 → 6: distance at the end", GradeToy, "above 600,000", fmt.Sprintf("%.0f", whole[1].last), "as stated", whole[1].last > 6e5})
	p.note("The publication shows one run each. Whether a run tips is chance: the chain leaves its good state after an exponential time, whose mean τ follows from the equations of first passage. With the rates as stated, 4 → 6 tips about every other run, 4 → 5 one in forty; so the published pair is what one would see most often, but not a certainty.")
	p.note("Rows about single runs, and the figure, are of the first seed that ended as published.")
	p.figure(msfFigure(peaks, whole))
	p.figure(tippingFigure(p))
}

// asPublished is the first seed whose run returned, or did not; 1 if there is none.
func asPublished(runs []msfRun, returns bool) uint64 {
	for i := range runs {
		if runs[i].returned() == returns {
			return uint64(i + 1)
		}
	}
	return 1
}

// msfFate holds what the runs did against the publication, and how many against the theory.
func (p *replay) msfFate(peak float64, runs []msfRun) {
	back := 0
	for i := range runs {
		if runs[i].returned() {
			back++
		}
	}
	n := len(runs)
	name := fmt.Sprintf("4 → %g", peak)
	want, did := "returns", back
	if peak == 6 {
		want, did = "never returns", n-back
	}
	p.row(Row{name, GradePublished, want, fmt.Sprintf("%d of %d: %s", did, n, want), "one run was published: at least 1 in 10", float64(did) >= oddsLeast*float64(n)})
	tips := notebook(peak).tips()
	off := max(3*math.Sqrt(tips*(1-tips)/float64(n)), 2/float64(n))
	p.about(name+": share of runs that never return, as 1−exp(−10⁵/τ)", GradeClosedForm, tips, 1-float64(back)/float64(n), off, "%.2f")
}

func msfFigure(peaks []float64, runs []msfRun) Figure {
	f := Figure{
		Name: "msf-model", Title: "A rise from 4 to 5 comes back, one to 6 does not",
		Note: "distance √(orbit² + queue²), averaged over stretches of 5000; μ 15, μ₀ 1, T 1",
		X:    Axis{"time", ""}, Y: Axis{"distance", ""}, LogY: true,
		Shade: Shade{"trigger", 1e4, 1.1e5},
	}
	for i, peak := range peaks {
		f.Curves = append(f.Curves, Curve{Name: fmt.Sprintf("4 → %g", peak), Points: runs[i].course})
	}
	return f
}

// tippingFigure is the chance to tip over the peak of the load.
func tippingFigure(p *replay) Figure {
	theory, runs := Curve{Name: "first passage"}, Curve{Name: "runs", N: p.Seeds}
	for peak := 4.0; peak <= 7.5; peak += .125 {
		theory.Points = append(theory.Points, Point{peak, notebook(peak).tips()})
	}
	peaks := []float64{4.5, 5.5, 6.5, 7}
	back := each(p, len(peaks), func(i int, seed uint64) bool {
		r := trial(peaks[i]).run(seed)
		return r.returned()
	})
	for i, peak := range peaks {
		n := 0
		for _, b := range back[i] {
			if !b {
				n++
			}
		}
		runs.Points = append(runs.Points, Point{peak, float64(n) / float64(p.Seeds)})
	}
	return Figure{
		Name: "msf-tipping", Title: "The chance that the trigger tips the chain for good",
		Note: "trigger of 10⁵ units from 4 to the peak; μ 15, μ₀ 1, T 1",
		X:    Axis{"peak of the load", ""}, Y: Axis{"share of runs that never return", ""},
		Curves: []Curve{theory, runs}, Markers: true,
	}
}
