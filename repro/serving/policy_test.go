package serving_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// pairs has the router choose among three prefill and three decode engines, with a small tolerance for
// uneven loads and no other limits.
func pairs(policy, prefill, decode serving.Policy) func(c *serving.Config) {
	return func(c *serving.Config) {
		c.Prefill.Workers, c.Decode.Workers = 3, 3
		r := &c.Router
		r.QueuedMax, r.BalanceAbs, r.BalanceRel = 0, 2, 1.5
		r.Policy, r.PrefillPolicy, r.DecodePolicy = policy, prefill, decode
	}
}

// place submits a request that does not end, and returns the workers that it was sent to.
func (p *play) place(q serving.Request) (prefill, decode int) {
	p.t.Helper()
	if q.Prompt.Tokens == 0 {
		q.Prompt.Tokens = 100
	}
	before := p.s.Router().Workers
	placed := int64(0)
	for _, w := range before {
		placed += w.Selections
	}
	q.ID = fmt.Sprint("placed-", placed/2)
	p.s.Submit(q)
	prefill, decode = -1, -1
	for i, w := range p.s.Router().Workers {
		if w.Selections == before[i].Selections {
			continue
		}
		if w.Kind == engine.KindPrefill {
			prefill = i
		} else {
			decode = i - 3
		}
	}
	return prefill, decode
}

// places submits a request of each user and returns the prefill and the decode workers, a digit each.
func (p *play) places(users ...string) (prefill, decode string) {
	p.t.Helper()
	for _, user := range users {
		i, j := p.place(serving.Request{User: user})
		prefill += fmt.Sprint(i)
		decode += fmt.Sprint(j)
	}
	return prefill, decode
}

// loads returns the loads of the three workers of a kind.
func (p *play) loads(kind engine.Kind) (loads []int) {
	for _, w := range p.s.Router().Workers {
		if w.Kind == kind {
			loads = append(loads, w.Active)
		}
	}
	return loads
}

// spread checks that each worker has had its turn, of so many in all, about as often as the others.
func spread(t testing.TB, what, places string) {
	t.Helper()
	for _, w := range []string{"0", "1", "2"} {
		if n := strings.Count(places, w); n < len(places)/5 {
			t.Errorf("%s: worker %s has had %d of %d", what, w, n, len(places))
		}
	}
}

// users returns the names of n conversations.
func users(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("user-", i))
	}
	return names
}

func TestPolicyRandom(t *testing.T) {
	setup{cfg: pairs(serving.Random, "", "")}.run(t, 1, func(p *play) {
		prefill, decode := p.places(users(120)...)
		spread(t, "prefill", prefill)
		spread(t, "decode", decode)
		if prefill == decode || prefill[:60] == prefill[60:] {
			t.Errorf("not at random: %s and %s", prefill, decode)
		}
	})
}

func TestPolicyRoundRobin(t *testing.T) {
	setup{cfg: pairs(serving.RoundRobin, "", "")}.run(t, 1, func(p *play) {
		if prefill, decode := p.places("a", "a", "b", "b", "c", "c", "d"); prefill != "0120120" || decode != "0120120" {
			t.Errorf("prefill %s, decode %s", prefill, decode)
		}
	})
}

// TestPolicyPowerOfTwo checks that the most loaded worker of three is never the better of two.
func TestPolicyPowerOfTwo(t *testing.T) {
	setup{cfg: pairs(serving.PowerOfTwo, "", "")}.run(t, 1, func(p *play) {
		all := ""
		for range 90 {
			loads := p.loads(engine.KindDecode)
			most := slices.Max(loads)
			_, decode := p.place(serving.Request{})
			all += fmt.Sprint(decode)
			if loads[decode] == most && slices.Min(loads) < most && most != slices.Sorted(slices.Values(loads))[1] {
				t.Fatalf("chosen %d of the loads %v", decode, loads)
			}
		}
		spread(t, "decode", all)
	})
}

// TestLoadOfStreams checks that a stream counts into the load of its workers from its headers on, and
// another request from its start.
func TestLoadOfStreams(t *testing.T) {
	setup{cfg: pairs(serving.RoundRobin, "", "")}.run(t, 1, func(p *play) {
		p.place(serving.Request{Stream: true})
		p.place(serving.Request{})
		for _, want := range [][]int{{0, 1, 0}, {1, 1, 0}} {
			for _, kind := range []engine.Kind{engine.KindPrefill, engine.KindDecode} {
				if got := p.loads(kind); !slices.Equal(got, want) {
					t.Errorf("at %v: loads %v, want %v", p.w.Now(), got, want)
				}
			}
			p.sleep(time.Second)
		}
		p.sleep(10 * time.Minute)
		if got := p.loads(engine.KindDecode); !slices.Equal(got, []int{0, 0, 0}) {
			t.Errorf("loads %v at rest", got)
		}
	})
}

// TestPolicyCacheAware checks that a conversation stays where it was, that new ones go where there are
// fewest, and that both go to the least loaded worker once one has far more than another.
func TestPolicyCacheAware(t *testing.T) {
	setup{cfg: pairs(serving.CacheAware, "", "")}.run(t, 1, func(p *play) {
		if prefill, decode := p.places("a", "b", "c", "a", "c", "b", "b"); prefill != "0120211" || decode != prefill {
			t.Errorf("prefill %s, decode %s, want 0120211", prefill, decode)
		}
		// b's worker has three, the others two each; three more make it six.
		if _, decode := p.places("b", "b", "b"); decode != "110" {
			t.Errorf("decode %s, want 110: the third is out of balance", decode)
		}
		p.sleep(10 * time.Minute)
		if _, decode := p.places("b", "b"); decode != "00" {
			t.Errorf("decode %s, want 00: it has moved", decode)
		}
		p.sleep(10 * time.Minute)
		if _, decode := p.places("", "", ""); decode != "112" {
			t.Errorf("decode %s, want 112: prompts like no other", decode)
		}
	})
}

// TestPolicyManual checks that conversations are put at random and stay.
func TestPolicyManual(t *testing.T) {
	setup{cfg: pairs(serving.Manual, "", "")}.run(t, 1, func(p *play) {
		stays(p, false)
	})
}

// TestPolicyHash checks that conversations have a place of their own, and that those of a worker that is
// out of balance have another one with prefix_hash only.
func TestPolicyHash(t *testing.T) {
	for _, policy := range []serving.Policy{serving.ConsistentHashing, serving.PrefixHash} {
		t.Run(string(policy), func(t *testing.T) {
			setup{cfg: pairs(policy, "", "")}.run(t, 1, func(p *play) {
				stays(p, policy == serving.PrefixHash)
				p.sleep(10 * time.Minute)
				spread(t, "without a name", func() string { _, decode := p.places(make([]string, 60)...); return decode }())
			})
		})
	}
}

// stays checks that conversations are spread, and that each stays, unless moved is expected, where it
// was even if all are at one place.
func stays(p *play, moves bool) {
	p.t.Helper()
	names := users(60)
	_, first := p.places(names...)
	spread(p.t, "decode", first)
	p.sleep(time.Hour)
	slices.Reverse(names)
	_, again := p.places(names...)
	digits := []byte(again)
	slices.Reverse(digits)
	if moved := 60 - same(first, string(digits)); moved > 0 && !moves || moved > 20 {
		p.t.Errorf("%d conversations have moved: %s, then %s", moved, first, digits)
	}
	p.sleep(time.Hour)
	_, crowd := p.places(slices.Repeat([]string{"user-7"}, 12)...)
	if one := strings.Count(crowd, crowd[:1]) == len(crowd); one == moves {
		p.t.Errorf("a crowd of one conversation: %s", crowd)
	}
}

// same returns in how many places a and b are equal.
func same(a, b string) (n int) {
	for i := range len(a) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// TestPolicyBucket checks that short and long prompts have workers of their own, unless loads are uneven.
func TestPolicyBucket(t *testing.T) {
	setup{cfg: pairs(serving.Bucket, "", "")}.run(t, 1, func(p *play) {
		ask := func(tokens int) string {
			_, decode := p.place(serving.Request{Prompt: serving.Prompt{Tokens: tokens}})
			p.sleep(10 * time.Minute)
			return fmt.Sprint(decode)
		}
		for range 20 {
			for _, tokens := range []int{100, 2000, 9000} {
				ask(tokens)
			}
		}
		if got := ask(50) + ask(100) + ask(2100) + ask(1900) + ask(9100); got != "00112" && got != "00212" {
			t.Errorf("workers %s by length", got)
		}
		crowd := ""
		for range 8 {
			_, decode := p.place(serving.Request{Prompt: serving.Prompt{Tokens: 50}})
			crowd += fmt.Sprint(decode)
		}
		if !strings.HasPrefix(crowd, "000") || strings.Count(crowd, "0") == len(crowd) {
			t.Errorf("a crowd of short ones: %s", crowd)
		}
	})
}

// TestPolicyOfKind checks that prefill and decode can have policies of their own, and show them.
func TestPolicyOfKind(t *testing.T) {
	setup{cfg: pairs(serving.RoundRobin, serving.ConsistentHashing, "")}.run(t, 1, func(p *play) {
		prefill, decode := p.places("a", "a", "a", "a")
		if strings.Count(prefill, prefill[:1]) != 4 || decode != "0120" {
			t.Errorf("prefill %s, decode %s", prefill, decode)
		}
		for _, w := range p.s.Router().Workers {
			want := serving.RoundRobin
			if w.Kind == engine.KindPrefill {
				want = serving.ConsistentHashing
			}
			if w.Policy != want {
				t.Errorf("%s shows policy %s, want %s", w.Name, w.Policy, want)
			}
		}
	})
}
