package metrics

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// stretch is a time in which there was progress, or an instant at which there was.
type stretch struct {
	from, to sim.Instant
	task     int // index of the agent whose task it was; everybody: there was nothing to do
}

// everybody is the task of a stretch that counts as progress of all.
const everybody = -1

// progress are the stretches of a run, by and large in the order of their ends.
type progress struct{ all []stretch }

// add takes in a stretch. latest is one more than the place of the latest of the same task, or 0: what
// goes on where that has ended is one with it, so that there are no more of them than silences.
func (p *progress) add(s stretch, latest *int) {
	if *latest > 0 {
		if l := &p.all[*latest-1]; s.from >= l.from && s.from <= l.to {
			l.to = max(l.to, s.to)
			return
		}
	}
	p.all = append(p.all, s)
	*latest = len(p.all)
}

// silence is what was found between stretches.
type silence struct {
	total   time.Duration // of those that were long enough
	windows int           // such
	longest time.Duration // of all
	from    sim.Instant   // of the stretch that begins next, in the order of the search
}

// gap takes in that there was nothing from an instant to the next stretch.
func (s *silence) gap(from sim.Instant, least time.Duration) {
	d := s.from.Sub(from)
	if d <= 0 {
		return
	}
	s.longest = max(s.longest, d)
	if d > least {
		s.total += d
		s.windows++
	}
}

// stalls returns the silences of all together, and for each agent of its own: those longer than least.
// The time of all goes from one instant to another, that of an agent from its start to its end. It
// searches from the end, where the last stretches are, to the beginning: the part that has been covered
// is then a single stretch with a hole before it, or none.
func (p *progress) stalls(from, to sim.Instant, agents []*agent, least time.Duration, each []silence) (all silence) {
	slices.SortFunc(p.all, func(a, b stretch) int { return cmp.Compare(b.to, a.to) })
	all.from = to
	for _, s := range p.all {
		all.gap(s.to, least)
		all.from = min(all.from, s.from)
		if s.task == everybody {
			continue
		}
		one := &each[s.task]
		one.gap(s.to, least)
		one.from = min(one.from, s.from)
	}
	all.gap(from, least)
	for i, a := range agents {
		if a.task == a {
			each[i].gap(a.started, least)
		}
	}
	return all
}
