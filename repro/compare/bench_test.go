package compare_test

import (
	"testing"

	"example.com/wedge/repro/compare"
)

// BenchmarkCompare is what wedge compare does without arguments, but with 50 seeds: 8 policies x 10
// scenarios x 50 seeds are 4,000 runs. The aim is 20 s on two cores.
func BenchmarkCompare(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		p, err := compare.DefaultPlan()
		if err != nil {
			b.Fatal(err)
		}
		p.Policies = p.Policies[:len(compare.DefaultPolicies())] // without the oracle
		p.Seeds = compare.Seeds{From: 1, To: 50}
		runs := execute(b, p, compare.Options{})
		if r := compare.Analyse(runs); r.Runs != 4000 {
			b.Fatalf("%d runs, want 4000", r.Runs)
		}
	}
	b.ReportMetric(4000*float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkAnalyse is the statistics alone.
func BenchmarkAnalyse(b *testing.B) {
	p, err := compare.DefaultPlan()
	if err != nil {
		b.Fatal(err)
	}
	p.Seeds = compare.Seeds{From: 1, To: 5}
	runs := execute(b, p, compare.Options{})
	for b.Loop() {
		compare.Analyse(runs)
	}
}
