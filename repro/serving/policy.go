package serving

import (
	"cmp"
	"slices"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// pool is the workers of a kind, and how the router chooses among them.
type pool struct {
	s      *Stack
	all    []*worker
	policy Policy
	turn   int // of round_robin
	usable []*worker

	homes   map[string]*worker // where conversations are
	keys    []string           // of homes, a ring: the oldest is forgotten for a new one
	oldest  int
	lengths []int // of the latest prompts, a ring, for bucket
	latest  int
}

const (
	homesMax   = 1 << 14
	lengthsMax = 256
)

func newPool(s *Stack, engines []*engine.Worker, policy Policy) pool {
	if policy == "" {
		policy = s.cfg.Router.Policy
	}
	p := pool{s: s, policy: policy}
	for _, e := range engines {
		p.all = append(p.all, &worker{s: s, engine: e})
	}
	return p
}

// choose returns the worker for a request, or nil if none is to be had.
func (p *pool) choose(r *request, draw *sim.Stream) *worker {
	p.usable = p.usable[:0]
	for _, w := range p.all {
		if w.available() {
			p.usable = append(p.usable, w)
		}
	}
	var w *worker
	switch len(p.usable) {
	case 0:
		return nil
	case 1:
		w = p.usable[0]
	default:
		w = p.among(r, draw)
	}
	w.selections++
	if r.attempts > 1 {
		w.retries++
	}
	return w
}

// among chooses one of several usable workers by the policy.
func (p *pool) among(r *request, draw *sim.Stream) *worker {
	least, unbalanced := p.balance()
	key := cmp.Or(r.User, r.ID) // without a name it is a prompt like no other
	switch p.policy {
	case RoundRobin:
		p.turn++
		return p.usable[(p.turn-1)%len(p.usable)]
	case PowerOfTwo:
		i := draw.IntN(len(p.usable))
		j := (i + 1 + draw.IntN(len(p.usable)-1)) % len(p.usable)
		if p.usable[j].active < p.usable[i].active {
			i = j
		}
		return p.usable[i]
	case CacheAware:
		if unbalanced {
			return p.settle(r, least)
		}
		if w := p.homes[r.User]; w != nil && slices.Contains(p.usable, w) {
			return w
		}
		return p.settle(r, p.emptiest())
	case Manual:
		if w := p.homes[r.User]; w != nil && slices.Contains(p.usable, w) {
			return w
		}
		return p.settle(r, p.usable[draw.IntN(len(p.usable))])
	case Bucket:
		i := p.bucket(r.Prompt.Tokens)
		if unbalanced {
			return least
		}
		return p.usable[i]
	case ConsistentHashing:
		return p.ranked(key, 0)
	case PrefixHash:
		w := p.ranked(key, 0)
		if unbalanced && w.active > least.active+p.s.cfg.Router.BalanceAbs {
			w = p.ranked(key, 1)
		}
		return w
	}
	return p.usable[draw.IntN(len(p.usable))]
}

// balance returns the least loaded worker, and whether it is so by far.
func (p *pool) balance() (least *worker, unbalanced bool) {
	least = p.usable[0]
	most := least
	for _, w := range p.usable {
		if w.active < least.active {
			least = w
		}
		if w.active > most.active {
			most = w
		}
	}
	c := &p.s.cfg.Router
	return least, most.active-least.active > c.BalanceAbs && float64(most.active) > c.BalanceRel*float64(least.active)
}

// emptiest returns the worker with the fewest conversations.
func (p *pool) emptiest() *worker {
	w := p.usable[0]
	for _, x := range p.usable {
		if x.homes < w.homes {
			w = x
		}
	}
	return w
}

// settle makes w the place of r's conversation from now on, if it has a name.
func (p *pool) settle(r *request, w *worker) *worker {
	if r.User == "" {
		w.homes++ // a prompt like no other
		return w
	}
	if before := p.homes[r.User]; before != nil {
		before.homes--
	} else {
		p.remember(r.User)
	}
	p.homes[r.User] = w
	w.homes++
	return w
}

// remember makes room for a conversation that is new.
func (p *pool) remember(key string) {
	if p.homes == nil {
		p.homes = map[string]*worker{}
	}
	if len(p.keys) < homesMax {
		p.keys = append(p.keys, key)
		return
	}
	old := p.keys[p.oldest]
	p.homes[old].homes--
	delete(p.homes, old)
	p.keys[p.oldest] = key
	p.oldest = (p.oldest + 1) % homesMax
}

// bucket returns the worker for a length of prompt: each has its share of the latest ones, the first
// the shortest.
func (p *pool) bucket(tokens int) int {
	if len(p.lengths) < lengthsMax {
		p.lengths = append(p.lengths, tokens)
	} else {
		p.lengths[p.latest] = tokens
		p.latest = (p.latest + 1) % lengthsMax
	}
	shorter := 0
	for _, n := range p.lengths {
		if n < tokens {
			shorter++
		}
	}
	return shorter * len(p.usable) / len(p.lengths)
}

// ranked returns the usable worker that comes first, or second, for a key. The order of two workers
// does not depend on others, so that few conversations move when one comes or goes.
func (p *pool) ranked(key string, place int) *worker {
	rank := func(w *worker) uint64 {
		draw := sim.NewStream(0, w.engine.Name, key)
		return draw.Uint64()
	}
	var first, second *worker
	for _, w := range p.usable {
		switch {
		case first == nil || rank(w) > rank(first):
			first, second = w, first
		case second == nil || rank(w) > rank(second):
			second = w
		}
	}
	if place == 1 {
		return second
	}
	return first
}

// other returns another worker than w, or else one that knows no more of it.
func (p *pool) other(w *worker, stranger *engine.Worker) *engine.Worker {
	for _, x := range p.all {
		if x != w {
			return x.engine
		}
	}
	return stranger
}
