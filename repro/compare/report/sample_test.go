package report

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Sample data: shaped like a comparison, drawn from a fixed seed.

var policies = []string{"none", "sdk-default", "idle-60s", "total-60s", "total-300s", "adaptive-rto", "hedge-p95", "budget-10pct"}

// source gives the same numbers each time.
func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

func sampleTimeline() TimelineInput {
	r := source(1)
	var offered, attempts, goodput, queue, zombies, flight []float32
	for i := range 120 {
		t := float64(i * 30)
		load := 3.0
		if t >= 600 && t < 900 {
			load = 6
		}
		trouble := 0.0
		if t > 600 {
			trouble = math.Min(1, (t-600)/300) * math.Max(0, 1-math.Max(0, t-1800)/1200)
		}
		n := func(s float64) float32 { return float32(s * r.NormFloat64()) }
		offered = append(offered, float32(load)+n(0.15))
		attempts = append(attempts, float32(load+6*trouble)+n(0.25))
		goodput = append(goodput, max(0, float32(load*(1-0.9*trouble))+n(0.12)))
		queue = append(queue, max(0, float32(4+130*trouble)+n(3)))
		zombies = append(zombies, max(0, float32(24*trouble)+n(1)))
		flight = append(flight, max(0, float32(12+18*trouble)+n(1)))
	}
	return TimelineInput{
		Frame:  Frame{Title: "What happened to total-60s on a load spike", Note: "one run: scenario spike, seed 7, 30 agents"},
		EveryS: 30,
		Panels: []Panel{
			{Label: "calls", Unit: "1/s", Lines: []Track{{"offered", offered}, {"attempts", attempts}, {"goodput", goodput}}},
			{Label: "at the servers", Unit: "calls", Lines: []Track{{"queue", queue}, {"zombies", zombies}, {"in flight, as the client sees it", flight}}},
		},
		Triggers: []Shade{{"trigger: twice the load", 600, 900}},
		Marks:    []Reference{{Name: "goodput is back, 28.3 min after the trigger", At: 2600}},
	}
}

func sampleSlots() SlotsInput {
	t := sampleTimeline()
	in := SlotsInput{Frame: Frame{Title: "What the 32 slots did", Note: "one run: total-60s, scenario spike, seed 7"}, Slots: 32, EveryS: 30, Triggers: t.Triggers}
	for i, z := range t.Panels[1].Lines[1].Values {
		useful := min(32-z, 20+t.Panels[0].Lines[0].Values[i])
		in.Zombie = append(in.Zombie, z)
		in.Useful = append(in.Useful, useful)
		in.Idle = append(in.Idle, max(0, 32-z-useful))
		in.Queued = append(in.Queued, t.Panels[1].Lines[0].Values[i]/3)
	}
	return in
}

func sampleGantt() GanttInput {
	r := source(2)
	in := GanttInput{
		Frame:    Frame{Title: "What each agent did", Note: "one run: total-60s, scenario spike, seed 7"},
		Stages:   []string{"waits for a permit", "waits for headers", "waits for the first token", "streams", "waits to retry", "runs a tool"},
		Triggers: []Shade{{"trigger: twice the load", 600, 900}},
	}
	for a := range 8 {
		name := fmt.Sprintf("agent-%02d", a+1)
		in.Agents = append(in.Agents, name)
		for t := r.Float64() * 60; t < 3600; {
			for k, stage := range in.Stages {
				if k == 4 && r.Float64() < 0.7 {
					continue
				}
				d := []float64{10, 5, 30, 150, 20, 40}[k] * (0.2 + r.ExpFloat64())
				in.Spans = append(in.Spans, Span{name, stage, t, math.Min(3600, t+d)})
				t += d
			}
		}
	}
	return in
}

func sampleLoad() LoadInput {
	in := LoadInput{Frame: Frame{Title: "Where it breaks, and where it heals", Note: "medians of 30 seeds with 95 % intervals; load up, then down, 20 min a step"}, Unit: "calls/s", Capacity: 10}
	for i, name := range []string{"total-60s", "idle-60s", "budget-10pct"} {
		r := Ramp{Name: name, N: 30}
		broken := false
		for _, up := range []bool{true, false} {
			for k := range 13 {
				x := float64(k + 1)
				if !up {
					x = float64(13 - k)
				}
				y := math.Min(x, 10)
				if i == 0 {
					broken = broken && x > 3 || x > 8
				}
				if i == 2 {
					broken = x > 10
				}
				if broken && i != 1 {
					y = []float64{1.2, 0, 6}[i]
				}
				p := Point{x, y, y * 0.93, math.Min(x, y*1.06)}
				if up {
					r.Up = append(r.Up, p)
				} else {
					r.Down = append(r.Down, p)
				}
			}
		}
		in.Ramps = append(in.Ramps, r)
	}
	return in
}

func sampleHeat() HeatMapInput {
	in := HeatMapInput{Frame: Frame{Title: "How often does it recover? total-60s", Note: "runs that recovered of 30 seeds a cell"}, XLabel: "load before the trigger (share of capacity)", YLabel: "length of the trigger"}
	for x := range 9 {
		in.XTicks = append(in.XTicks, fmt.Sprintf("%.2f", 0.5+0.05*float64(x)))
	}
	for y, name := range []string{"10 s", "30 s", "1 min", "2 min", "5 min", "10 min"} {
		in.YTicks = append(in.YTicks, name)
		var rec, runs []int
		for x := range 9 {
			n := 30
			if y == 5 && x == 8 {
				n = 0
			}
			runs = append(runs, n)
			rec = append(rec, min(n, int(float64(n)/(1+math.Exp(float64(x+y)*1.2-8.5))+0.5)))
		}
		in.Recovered, in.Runs = append(in.Recovered, rec), append(in.Runs, runs)
	}
	return in
}

func samplePhase() PhaseInput {
	in := PhaseInput{Frame: Frame{Title: "Healing and not healing", Note: "seed 7, an instant every 10 s"}}
	for i, name := range []string{"total-60s", "idle-60s"} {
		p := Path{Name: name}
		for k := range 100 {
			t := float64(k) / 100
			q, o := 60*math.Sin(math.Pi*t)+3, 25*math.Sin(math.Pi*t*t)+1
			if i == 0 {
				q, o = 130*(1-math.Exp(-4*t))+4*math.Sin(40*t), 80*(1-math.Exp(-3*t*t))+4*math.Cos(40*t)
			}
			p.Queued, p.Orbit = append(p.Queued, q), append(p.Orbit, math.Max(0, o))
		}
		in.Paths = append(in.Paths, p)
	}
	return in
}

func sampleCCDF() CCDFInput {
	r := source(3)
	in := CCDFInput{Frame: Frame{Title: "How long do tasks take?", Note: "scenario starvation, seeds 1 to 50, 30 agents; from when the agent wanted to begin"}, What: "task time"}
	for i, name := range policies {
		s := Sample{Name: name}
		for range 250 {
			v := 240 * math.Exp(r.NormFloat64()*(0.4+0.08*float64(i))) * (1 + 0.1*float64(i))
			if v > 3600 {
				s.CensoredS = append(s.CensoredS, 3600)
			} else {
				s.TookS = append(s.TookS, v)
			}
		}
		in.Samples = append(in.Samples, s)
	}
	return in
}

func sampleRecovery() RecoveryInput {
	r := source(4)
	in := RecoveryInput{Frame: Frame{Title: "How long until it has recovered?", Note: "scenario spike, 50 seeds; watched for 30 min after the trigger"}}
	for i, name := range policies[:5] {
		g := Recoveries{Name: name}
		for range 50 {
			if r.Float64() < []float64{0, 0.3, 0.02, 1, 0.6}[i] {
				g.NeverS = append(g.NeverS, 1800)
			} else {
				g.AfterS = append(g.AfterS, math.Min(1790, 60+r.ExpFloat64()*200*float64(i+1)/2))
			}
		}
		in.Groups = append(in.Groups, g)
	}
	return in
}

func samplePareto() ParetoInput {
	r := source(6)
	in := ParetoInput{Frame: Frame{Title: "Time against waste", Note: "over all scenarios, 50 seeds, 95 % intervals"}, X: Axis{"tokens wasted (share of all)", "%", true}, Y: Axis{"p95 task time", "s", false}}
	for i, name := range policies {
		x, y := []float64{0, 0.021, 0.03, 0.62, 0.2, 0.025, 0.11, 0.05}[i], []float64{3400, 1900, 900, 2600, 1500, 980, 840, 1700}[i]
		o := Offer{Name: name, X: x, Y: y, YLo: y * 0.94, YHi: y * (1.03 + r.Float64()*0.06), N: 50}
		if x > 0 {
			o.XLo, o.XHi = x*0.8, x*1.3
		}
		in.Offers = append(in.Offers, o)
	}
	in.Offers = append(in.Offers, Offer{Name: "total-20s", X: 0.9, Y: math.Inf(1), N: 50})
	return in
}

func sampleForest() ForestInput {
	r := source(7)
	in := ForestInput{Frame: Frame{Title: "What changes against sdk-default, on the same seeds", Note: "paired by seed, bootstrap over 50 seeds, Holm over 21 comparisons"}, What: "mean task time", Unit: "s"}
	for _, scenario := range []string{"starvation", "silent-stream", "timeout-cascade"} {
		for i, name := range policies {
			if name == "sdk-default" {
				continue
			}
			v := float64(i-3)*55 + 80*r.NormFloat64()
			w := 30 + 60*r.Float64()
			d := Difference{Group: scenario, Name: name, Value: v, Lo: v - w, Hi: v + w, N: 50, Certain: math.Abs(v) > w*1.3}
			if name == "hedge-p95" && scenario == "silent-stream" {
				d.Value = math.NaN()
			}
			in.Rows = append(in.Rows, d)
		}
	}
	return in
}

func sampleSweep() SweepInput {
	in := SweepInput{Frame: Frame{Title: "Which idle limit?", Note: "idle-… on three scenarios, seeds 51 to 100"}, X: Axis{"idle limit", "s", true}, Y: Axis{"mean task time", "s", false}, ShippedX: 60}
	for i, name := range []string{"silent-stream", "long-reasoning", "healthy"} {
		c := Curve{Name: name, N: 50}
		for _, x := range []float64{5, 10, 20, 30, 60, 120, 300, 600, 1200} {
			y := 600 + 200*float64(i)
			switch i {
			case 0:
				y = 500 + 1.2*x
			case 1:
				y = 700 + 3000*math.Exp(-x/40)
			}
			c.Points = append(c.Points, Point{x, y, y * 0.95, y * 1.07})
		}
		in.Curves = append(in.Curves, c)
	}
	return in
}

// samplePlots is one of each, by name.
func samplePlots() []Plot {
	lines := LinesInput{
		Frame: Frame{Title: "A plain picture", Note: "closed form and ours"}, X: Axis{Label: "utilisation"}, Y: Axis{Label: "mean wait", Unit: "service times"},
		References: []Reference{{Name: "edge of the vulnerable region", At: 0.5, Vertical: true}, {Name: "published", At: 5}},
	}
	for i, name := range []string{"M/M/1", "ours"} {
		c := Curve{Name: name}
		for x := 0.05; x < 0.96; x += 0.05 {
			c.Points = append(c.Points, Point{X: x, Y: x/(1-x) + 0.2*float64(i)*math.Sin(30*x)})
		}
		lines.Curves = append(lines.Curves, c)
	}
	return []Plot{sampleTimeline(), sampleSlots(), sampleGantt(), sampleForest(), sampleLoad(), sampleHeat(), samplePhase(), sampleCCDF(), sampleRecovery(), samplePareto(), sampleSweep(), lines}
}

func samplePage() Input {
	in := Input{
		Title: "Use idle-60s: mean task time 31 % below sdk-default, for 0.9 points more tokens wasted",
		About: "8 policies × 3 scenarios × 50 seeds, same agents, same servers, same random numbers",
		Advice: []string{
			"idle-60s is the fastest on two of three scenarios: the difference to sdk-default is −212 s a task [−260 s, −171 s], n = 50 pairs.",
			"It costs 0.9 points more wasted tokens. It loses on long-reasoning if its silence is longer than 60 s: 12 healthy calls of 4,200 were killed.",
			"If nothing may be killed, take adaptive-rto: 80 s slower, no healthy call killed.",
		},
		Warnings: []string{"total-60s never recovers on spike in 50 of 50 runs: its means are of what finished by the horizon."},
		Facts:    []Fact{{"Seeds", "1 to 50, the same for all policies"}, {"Pairing", "correlation of none and idle-300s over seeds: 0.998"}, {"Horizon", "1 h of virtual time; what is unfinished is censored"}},
		Command:  "wedge compare --policies none,sdk-default,idle-60s --scenarios starvation,silent-stream --seeds 1-50",
	}
	t := Table{Title: "The numbers", Note: "means over seeds, 95 % intervals; marks only where the paired difference to sdk-default excludes zero (Holm)",
		Columns: []Column{{"tasks done", "%", "completed of started"}, {"task time, mean", "s", "restricted to the horizon"}, {"task time, p95", "s", ""}, {"tokens wasted", "%", "generated and not used, of all"}, {"healthy calls killed", "", "would have finished: the servers know"}, {"recovers", "", "runs whose goodput came back"}}}
	for i, name := range policies {
		y := []float64{3400, 690, 478, 2600, 1500, 560, 500, 700}[i]
		row := Row{Name: name, Cells: []Cell{
			{Value: 1 - 0.02*float64(i), Lo: 0.95 - 0.02*float64(i), Hi: 1, N: 1500},
			{Value: y, Lo: y * 0.96, Hi: y * 1.05, N: 50, Mark: []Mark{Worse, Plain, Best, Worse, Worse, Better, Better, Plain}[i]},
			{Value: y * 2, Lo: y * 1.9, Hi: y * 2.2, N: 1500}, {Value: 0.03 * float64(i), Lo: 0.02 * float64(i), Hi: 0.04 * float64(i), N: 50},
			{Value: float64(i * i * i)}, {Text: []string{"50/50", "35/50", "49/50", "never", "20/50", "50/50", "50/50", "48/50"}[i]},
		}}
		if i == 2 {
			row.About = "give up a stream that is silent for 60 s"
		}
		t.Rows = append(t.Rows, row)
	}
	in.Tables = []Table{t}
	p := samplePlots()
	in.Sections = []Section{
		{Title: "Differences", Plots: []Plot{p[3], p[9], p[7]}},
		{Title: "A load spike", Text: []string{"The trigger doubles the load for five minutes."}, Plots: []Plot{p[0], p[1], p[2], p[8], p[6]}},
		{Title: "Where it breaks", Plots: []Plot{p[4], p[5], p[10], p[11]}},
	}
	return in
}
