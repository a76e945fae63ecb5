package compare

import (
	"fmt"
	"math"
	"strings"
)

// seedsAdvised is the least number of seeds for intervals that hold what they promise.
const seedsAdvised = 30

// advice is the answer in words: which policy, how much better, at what cost, on which scenarios it loses,
// and why.
func advice(r *Results, maps []loadMap) []string {
	w := newWording(r)
	if len(r.Policies) == 1 {
		return []string{fmt.Sprintf("Only %s was run, so there is nothing to compare it with.", r.Baseline)}
	}
	paragraphs := append(append([]string{w.which(), w.what(), w.hangs()}, w.recovery(maps)...), w.cost(), w.loses(), w.beyond(), w.never())
	for i := range r.Policies {
		switch {
		case i == w.best || i == w.base:
		case r.Policies[i].Bracket:
			paragraphs = append(paragraphs, w.bracket(i))
		default:
			paragraphs = append(paragraphs, w.other(i))
		}
	}
	var said []string
	for _, p := range paragraphs {
		if p != "" {
			said = append(said, p)
		}
	}
	return said
}

// wording writes sentences about results.
type wording struct {
	r          *Results
	best, base int
}

func newWording(r *Results) *wording {
	w := &wording{r: r, best: leastRatio(r.Policies)}
	for i := range r.Policies {
		if r.Policies[i].Name == r.Baseline {
			w.base = i
		}
	}
	return w
}

func (w *wording) policy(i int) *PolicyResult { return &w.r.Policies[i] }

// which names the policy to use, and how sure that is.
func (w *wording) which() string {
	best, base := w.policy(w.best), w.policy(w.base)
	over := fmt.Sprintf("over %s and %s", count(len(w.r.Scenarios), "scenario"), count(w.r.N, "seed"))
	if w.best == w.base {
		return fmt.Sprintf("Keep %s: %s, none of the others takes less time a task.", base.Name, over)
	}
	if !best.RatioCI.Excludes(1) {
		return fmt.Sprintf("No policy is told apart from %s %s: the least time a task has %s, %s.", base.Name, over, best.Name, changeOf(best))
	}
	text := fmt.Sprintf("Use %s: %s, a task takes %s than with %s.", best.Name, over, changeOf(best), base.Name)
	if s := w.mostGained(); s >= 0 {
		cell := &w.r.Scenarios[s].Cells[w.base]
		if why := reason(cell, &w.r.Scenarios[s].Cells[w.best]); why != "" {
			text += fmt.Sprintf(" It gains most in %s, where with %s %s.", w.r.Scenarios[s].Name, base.Name, why)
		}
	}
	if near := w.notToldApart(); len(near) > 0 && !best.Best {
		text += fmt.Sprintf(" Not told apart from it: %s.", strings.Join(near, ", "))
	}
	return text
}

// notToldApart are policies whose time a task may be the same as the best one's.
func (w *wording) notToldApart() []string {
	var near []string
	for i := range w.r.Policies {
		if i != w.best && w.policy(i).NearBest {
			near = append(near, w.policy(i).Name)
		}
	}
	return near
}

// mostGained is the scenario in which the best policy gains most against the baseline, or -1.
func (w *wording) mostGained() int {
	most, least := -1, 0.97
	for s := range w.r.Scenarios {
		if ratio := w.taskRatio(s, w.best, w.base); ratio < least {
			most, least = s, ratio
		}
	}
	return most
}

// taskRatio is the mean task time of a policy by that of another in a scenario.
func (w *wording) taskRatio(s, policy, other int) float64 {
	cells := w.r.Scenarios[s].Cells
	if theirs := cells[other].Of(KeyTaskTime).Mean; theirs > 0 {
		return cells[policy].Of(KeyTaskTime).Mean / theirs
	}
	return 1
}

// cost is what stands beside the time: completion, waste, attempts, healthy attempts killed.
func (w *wording) cost() string {
	if w.best == w.base {
		return ""
	}
	best, base := w.policy(w.best), w.policy(w.base)
	pair := func(key string, show func(float64) string) string {
		return fmt.Sprintf("%s (%s %s)", show(best.Of(key).Mean), base.Name, show(base.Of(key).Mean))
	}
	return fmt.Sprintf("What it costs: it completes %s of the tasks, wastes %s of the output tokens, makes %s attempts a call, and its limits end %s healthy attempts a run.",
		pair(KeyCompletion, percent), pair(KeyWasted, percent), pair(KeyPerCall, twoDigits), pair(KeyKilled, oneDigit))
}

// loses tells where the best policy is worse than the baseline, and where another one beats it.
func (w *wording) loses() string {
	if w.best == w.base {
		return ""
	}
	var lost, fewer, beaten []string
	for s := range w.r.Scenarios {
		block := &w.r.Scenarios[s]
		cell, base := &block.Cells[w.best], &block.Cells[w.base]
		switch done := cell.Of(KeyCompletion); {
		case cell.Of(KeyTaskTime).Worse:
			lost = append(lost, block.Name+": "+w.worse(s, w.best)+because(reason(cell, base)))
		case done.Worse:
			fewer = append(fewer, fmt.Sprintf("%s (%s instead of %s)", block.Name, percent(done.Mean), percent(base.Of(KeyCompletion).Mean)))
		}
		if i := w.beatenBy(s); i >= 0 {
			beaten = append(beaten, fmt.Sprintf("%s (%s, %.0f %% less)", block.Name, w.policy(i).Name, 100*(1-w.taskRatio(s, i, w.best))))
		}
	}
	text := fmt.Sprintf("It loses to %s in no scenario.", w.policy(w.base).Name)
	if len(lost) > 0 {
		text = fmt.Sprintf("It loses to %s in %s.", w.policy(w.base).Name, strings.Join(lost, "; in "))
	}
	if len(fewer) > 0 {
		text += fmt.Sprintf(" It gives up tasks that %s completes, in no more time a task, in %s.", w.policy(w.base).Name, strings.Join(fewer, ", "))
	}
	if len(beaten) > 0 {
		text += " Another policy takes less time for sure in " + strings.Join(beaten, ", ") + "."
	}
	return text
}

// beatenBy is the policy that is best for sure in a scenario and at least a percent better than the
// best of all, or -1.
func (w *wording) beatenBy(s int) int {
	for i := range w.r.Policies {
		if i != w.best && w.r.Scenarios[s].Cells[i].Of(KeyTaskTime).Best && w.taskRatio(s, i, w.best) < 0.99 {
			return i
		}
	}
	return -1
}

// worse says how much more time a task takes than with the baseline.
func (w *wording) worse(s, policy int) string {
	f, base := w.r.Scenarios[s].Cells[policy].Of(KeyTaskTime), w.r.Scenarios[s].Cells[w.base].Of(KeyTaskTime)
	if base.Mean == 0 {
		return "more time a task"
	}
	if times := f.Mean / base.Mean; times >= manyTimes {
		return fmt.Sprintf("%.0f times the time a task", times)
	}
	return fmt.Sprintf("%s more time a task (%s to %s)", percent(f.Diff/base.Mean), percent(f.DiffCI.Low/base.Mean), percent(f.DiffCI.High/base.Mean))
}

// manyTimes is from where on it is told how many times as long something took.
const manyTimes = 5

// other is a line about a policy that is neither the best nor the baseline.
func (w *wording) other(i int) string {
	p := w.policy(i)
	text := fmt.Sprintf("%s: %s than with %s", p.Name, changeOf(p), w.policy(w.base).Name)
	if !p.RatioCI.Excludes(1) {
		text = fmt.Sprintf("%s: not told apart from %s (%s)", p.Name, w.policy(w.base).Name, changeOf(p))
	}
	if s := w.lostMost(i); s >= 0 {
		text += fmt.Sprintf("; worst in %s: %s%s", w.r.Scenarios[s].Name, w.worse(s, i), because(reason(&w.r.Scenarios[s].Cells[i], &w.r.Scenarios[s].Cells[w.base])))
	}
	return text + "."
}

// furthest is the policy that one can have whose time a task differs most from the baseline's.
func (w *wording) furthest() int {
	most := w.base
	for i := range w.r.Policies {
		if p := w.policy(i); !p.Bracket && math.Abs(math.Log(p.Ratio)) > math.Abs(math.Log(w.policy(most).Ratio)) {
			most = i
		}
	}
	return most
}

// gist says in a few words how policies differ in a scenario: which one takes least, and which most.
func (w *wording) gist(s int) string {
	least, most := w.base, w.base
	for i := range w.r.Policies {
		switch f := w.r.Scenarios[s].Cells[i].Of(KeyTaskTime); {
		case f.Better && w.taskRatio(s, i, least) < 1:
			least = i
		case f.Worse && w.taskRatio(s, i, most) > 1:
			most = i
		}
	}
	var said []string
	if ratio := w.taskRatio(s, least, w.base); least != w.base {
		said = append(said, fmt.Sprintf("%s %s less time a task than %s", w.policy(least).Name, percent(1-ratio), w.r.Baseline))
	}
	if ratio := w.taskRatio(s, most, w.base); most != w.base && ratio >= manyTimes {
		said = append(said, fmt.Sprintf("%s %.0f times as much", w.policy(most).Name, ratio))
	} else if most != w.base {
		said = append(said, fmt.Sprintf("%s %s more", w.policy(most).Name, percent(ratio-1)))
	}
	if len(said) == 0 {
		return "no difference for sure"
	}
	return strings.Join(said, ", ")
}

// bracket is a line about an oracle: how much there was to gain by knowing what is dead, and where.
func (w *wording) bracket(i int) string {
	p, best, base := w.policy(i), w.policy(w.best), w.policy(w.base)
	text := fmt.Sprintf("%s, which nobody can have, ends dead attempts at once and no others: %s than with %s.", p.Name, changeOf(p), base.Name)
	if w.best == w.base || !best.RatioCI.Excludes(1) {
		return text
	}
	var beyond, short []string
	for s := range w.r.Scenarios {
		switch ratio := w.taskRatio(s, w.best, i); {
		case ratio < 1-fewerTold:
			beyond = append(beyond, fmt.Sprintf("%s (%s less)", w.r.Scenarios[s].Name, percent(1-ratio)))
		case ratio >= manyTimes:
			short = append(short, fmt.Sprintf("%s (%.0f times)", w.r.Scenarios[s].Name, ratio))
		case ratio > 1+fewerTold:
			short = append(short, fmt.Sprintf("%s (%s more)", w.r.Scenarios[s].Name, percent(ratio-1)))
		}
	}
	switch {
	case len(short) == 0:
		text += fmt.Sprintf(" %s comes within %s of it everywhere.", best.Name, percent(fewerTold))
	case len(short) > 0:
		text += fmt.Sprintf(" %s takes more time than that in %s.", best.Name, strings.Join(short, ", "))
	}
	if len(beyond) > 0 {
		text += fmt.Sprintf(" It takes less in %s, where there is more to gain than the time of the dead.", strings.Join(beyond, ", "))
	}
	return text
}

// lostMost is the scenario in which a policy loses most against the baseline for sure, or -1.
func (w *wording) lostMost(policy int) int {
	most, worst := -1, 1.0
	for s := range w.r.Scenarios {
		if ratio := w.taskRatio(s, policy, w.base); ratio > worst && w.r.Scenarios[s].Cells[policy].Of(KeyTaskTime).Worse {
			most, worst = s, ratio
		}
	}
	return most
}
