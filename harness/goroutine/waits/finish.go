package waits

import (
	"cmp"
	"slices"
)

// Analysis says what the goroutines so far amount to. The Builder can go on.
func (b *Builder) Analysis() *Analysis {
	a := &Analysis{Goroutines: b.total, partial: b.Partial, facts: b.facts[:len(b.facts):len(b.facts)]}
	a.marks = make([]flags, len(a.facts))
	for i := range a.facts {
		a.marks[i] = a.facts[i].flags
	}
	b.findChannelSlots()
	a.addGroups(b)
	a.addStages(b)
	a.judge(b)
	return a
}

// addGroups takes the groups over in the order of goroutine.Group.
func (a *Analysis) addGroups(b *Builder) {
	order := slices.Clone(b.groups)
	slices.SortStableFunc(order, func(x, y *group) int { return cmp.Compare(y.size, x.size) })
	for _, grp := range order {
		a.order = append(a.order, grp.index)
		g := Group{StackGroup: grp.tally.Groups()[0], Class: grp.shape.class, Stage: grp.shape.stage, Waits: grp.shape.waits}
		g.Place = grp.place()
		a.Groups = append(a.Groups, g)
	}
}

// addStages sums up the stages, the most frequent first.
func (a *Analysis) addStages(b *Builder) {
	for _, grp := range b.groups {
		for _, s := range grp.stages {
			a.Stages = addStage(a.Stages, s.Stage, s.Count)
		}
		if stage := grp.shape.stage; stage != "" && grp.unlabelled > 0 {
			a.Stages = addStage(a.Stages, stage, grp.unlabelled)
		}
	}
	slices.SortFunc(a.Stages, func(x, y StageCount) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Stage, y.Stage))
	})
}
