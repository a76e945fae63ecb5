package compare_test

import (
	"context"
	"testing"

	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// TestEveryPlanComesBack writes a plan of every preset and every scenario of the catalogue, and goes on
// with what it reads: a plan that came back another one would be refused.
func TestEveryPlanComesBack(t *testing.T) {
	p := planOf(t, append(preset.Names(), compare.AsIs, "own: {idle: 90s, set: [pacer.hold=start]}"), repro.Names(), compare.Seeds{From: 1, To: 1})
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := compare.Execute(ctx, p, compare.Options{Dir: dir}); err != context.Canceled {
		t.Fatal(err)
	}
	again, err := compare.ReadPlan(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range []*compare.Plan{again, p} {
		if _, err := compare.Execute(ctx, plan, compare.Options{Dir: dir, Resume: true}); err != context.Canceled {
			t.Error(err)
		}
	}
	one, err1 := p.ID("")
	other, err2 := again.ID("")
	if one != other || err1 != nil || err2 != nil {
		t.Errorf("named %s, then %s; %v, %v", one, other, err1, err2)
	}
}
