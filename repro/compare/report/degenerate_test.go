package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// manyNames are forty policies, some with names too long for any picture.
func manyNames() (names []string) {
	for i := range 40 {
		name := fmt.Sprintf("idle-%ds-budget-%d", 10+5*i, i)
		if i%7 == 3 {
			name = fmt.Sprintf("an-extraordinarily-long-policy-name-that-somebody-generated-by-a-sweep-idle=%ds,first_token=%ds,retries=%d", i, 2*i, i)
		}
		names = append(names, name)
	}
	return names
}

// degenerate is pages worth of data that real comparisons bring.
func degenerate() []Section {
	r := source(9)
	one := Section{Title: "One policy, one seed", Plots: []Plot{
		ForestInput{Frame: Frame{Title: "Nothing to compare with"}, What: "mean task time", Unit: "s"},
		ForestInput{Frame: Frame{Title: "One row, no width"}, What: "mean task time", Unit: "s", Rows: []Difference{{Name: "idle-60s", N: 1}}},
		CCDFInput{Frame: Frame{Title: "One task"}, What: "task time", Samples: []Sample{{Name: "none", TookS: []float64{120}}}},
		CCDFInput{Frame: Frame{Title: "None finished"}, What: "task time", Samples: []Sample{{Name: "none", CensoredS: []float64{3600, 3600, 3600}}}},
		RecoveryInput{Frame: Frame{Title: "All never recovered"}, Groups: []Recoveries{{Name: "none", NeverS: []float64{1800}}, {Name: "total-60s", NeverS: []float64{1800}}}},
		ParetoInput{Frame: Frame{Title: "One point without waste on a log axis"}, X: Axis{"tokens wasted (share of all)", "%", true}, Y: Axis{"p95 task time", "s", false}, Offers: []Offer{{Name: "none", Y: 300, N: 1}}},
		HeatMapInput{Frame: Frame{Title: "One cell"}, XLabel: "load", YLabel: "trigger", XTicks: []string{"0.8"}, YTicks: []string{"30 s"}, Recovered: [][]int{{1}}, Runs: [][]int{{1}}},
		SweepInput{Frame: Frame{Title: "One value"}, X: Axis{"idle limit", "s", false}, Y: Axis{"mean task time", "s", false}, Curves: []Curve{{Name: "healthy", Points: []Point{{60, 300, 280, 330}}, N: 1}}},
		LoadInput{Frame: Frame{Title: "No load at all"}, Unit: "calls/s"},
		PhaseInput{Frame: Frame{Title: "Never a queue"}, Paths: []Path{{"none", make([]float64, 50), make([]float64, 50)}}},
		TimelineInput{Frame: Frame{Title: "Nothing moves"}, EveryS: 10, Panels: []Panel{{"calls", "1/s", []Track{{"offered", make([]float32, 30)}}}, {Label: "queue", Unit: "calls"}}},
		GanttInput{Frame: Frame{Title: "Nobody"}},
	}}
	many := Section{Title: "Forty policies"}
	ccdf, forest := CCDFInput{Frame: Frame{Title: "Forty curves"}, What: "task time"}, ForestInput{Frame: Frame{Title: "Forty rows"}, What: "mean task time", Unit: "s"}
	pareto := ParetoInput{Frame: Frame{Title: "Forty points"}, X: Axis{"tokens wasted (share of all)", "%", true}, Y: Axis{"p95 task time", "s", false}}
	recovery := RecoveryInput{Frame: Frame{Title: "Forty recoveries"}}
	for i, name := range manyNames() {
		s, g := Sample{Name: name}, Recoveries{Name: name}
		for range 60 {
			s.TookS = append(s.TookS, 100*math.Exp(r.NormFloat64()*0.5+0.03*float64(i)))
			g.AfterS = append(g.AfterS, r.ExpFloat64()*300)
		}
		v := 300 * r.NormFloat64()
		ccdf.Samples, recovery.Groups = append(ccdf.Samples, s), append(recovery.Groups, g)
		forest.Rows = append(forest.Rows, Difference{Name: name, Value: v, Lo: v - 90, Hi: v + 120, N: 60, Certain: math.Abs(v) > 130})
		pareto.Offers = append(pareto.Offers, Offer{Name: name, X: math.Max(0, 0.2*r.NormFloat64()), Y: 900 + 400*r.NormFloat64(), N: 60})
	}
	many.Plots = []Plot{forest, ccdf, pareto, recovery}
	hostile := Section{Title: hostileName, Text: []string{hostileName}, Plots: oddPlots([]byte("\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x14@\x00\x00\x00\x00\x00\x00\x22@"), hostileName, false)}
	return []Section{one, many, hostile}
}

func TestDegenerateData(t *testing.T) {
	for _, s := range degenerate() {
		checkPlots(t, s.Plots)
	}
}

func TestHostileTextStaysText(t *testing.T) {
	in := Input{Title: hostileName, About: hostileName, Advice: []string{hostileName}, Warnings: []string{hostileName}, Facts: []Fact{{hostileName, hostileName}}, Command: hostileName,
		Tables:   []Table{{hostileName, hostileName, hostileName, []Column{{hostileName, hostileName, hostileName}}, []Row{{hostileName, hostileName, []Cell{{Text: hostileName}, {Value: 1}}}, {Cells: []Cell{{Value: 3}}}}}},
		Sections: degenerate()}
	var out bytes.Buffer
	if err := Write(&out, in); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "</svg></style>", "\u202e", "\x00", "ZgotmplZ"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if !strings.Contains(out.String(), "&lt;script&gt;alert(1)") {
		t.Error("the page does not show the name")
	}
	if opened, closed := strings.Count(out.String(), "<svg "), strings.Count(out.String(), "</svg>"); opened != closed {
		t.Errorf("%d pictures opened, %d closed", opened, closed)
	}
}

// What a picture must say in words about data it cannot draw.
func TestDegenerateWords(t *testing.T) {
	for _, row := range []struct {
		name string
		plot Plot
		want []string
		not  []string
	}{
		{"no rows", ForestInput{}, []string{"nothing was compared"}, nil},
		{"unknown row", ForestInput{Rows: []Difference{{Name: "x", Value: math.NaN()}}}, []string{"not known"}, []string{"NaN"}},
		{"none finished", CCDFInput{Samples: []Sample{{Name: "x", CensoredS: []float64{5, 5}}}}, []string{"x (n = 2, 2 never)", "never: failed, or not done by then"}, nil},
		{"none recovered", RecoveryInput{Groups: []Recoveries{{Name: "x", NeverS: []float64{5}}}}, []string{"x (n = 1, 1 never)", "100 %"}, nil},
		{"all recovered", RecoveryInput{Groups: []Recoveries{{Name: "x", AfterS: []float64{5, 9}}}}, []string{"x (n = 2)"}, []string{"never"}},
		{"NaN times", CCDFInput{Samples: []Sample{{Name: "x", TookS: []float64{math.NaN(), -1, 4}}}}, []string{"2 times that are none are left out", "x (n = 1)"}, nil},
		{"zero waste", ParetoInput{X: Axis{Log: true}, Offers: []Offer{{Name: "thrifty", X: 0, Y: 1}, {Name: "waster", X: 0.5, Y: math.Inf(1)}}}, []string{">0<", ">never<", "thrifty", "waster"}, nil},
		{"no numbers", ParetoInput{Offers: []Offer{{Name: "x", X: math.NaN()}}}, []string{"1 without numbers are left out", "nothing was measured"}, nil},
		{"no points", LinesInput{Curves: make([]Curve, 40)}, []string{"nothing was measured"}, nil},
		{"many series", CCDFInput{Samples: append([]Sample{{TookS: []float64{1}}}, make([]Sample, 39)...)}, []string{"32 more"}, nil},
		{"odd points", LinesInput{Curves: []Curve{{Points: []Point{{X: 1, Y: 1}, {X: 2, Y: math.NaN()}}}}}, []string{"1 values have no place here and are left out"}, nil},
		{"cell not run", HeatMapInput{XTicks: []string{"a"}, YTicks: []string{"b"}}, []string{"not measured"}, []string{"0/0"}},
		{"more recovered than run", HeatMapInput{XTicks: []string{"a"}, YTicks: []string{"b"}, Runs: [][]int{{3}}, Recovered: [][]int{{4}}}, nil, []string{"4/3"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			svg, err := row.plot.svg(row.plot.frame())
			if err != nil {
				t.Fatal(err)
			}
			_, drawn, _ := strings.Cut(string(svg), "</style>")
			for _, want := range row.want {
				if !strings.Contains(drawn, want) {
					t.Errorf("does not say %q", want)
				}
			}
			for _, not := range row.not {
				if strings.Contains(drawn, not) {
					t.Errorf("says %q", not)
				}
			}
		})
	}
}
