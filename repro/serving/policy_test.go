package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
)

// placed is where requests went: by user, and by worker.
type placed struct {
	byUser   map[string]map[string]int
	byWorker map[string]int
}

// place sends requests one after the other, n of each of so many users, and returns where they went.
func place(t *testing.T, policy serving.Policy, users, n int, tokens func(user, i int) int) (all placed) {
	all = placed{map[string]map[string]int{}, map[string]int{}}
	setup{cfg: func(c *serving.Config) { unified(4)(c); c.Router.Policy = policy }}.run(t, 1, func(p *play) {
		user := ""
		p.s.OnEnd(func(r *serving.Record) {
			if all.byUser[user] == nil {
				all.byUser[user] = map[string]int{}
			}
			all.byUser[user][r.Decode]++
			all.byWorker[r.Decode]++
		})
		for i := range n {
			for u := range users {
				user = fmt.Sprint("user-", u)
				q := whole(fmt.Sprint(u, "-", i), tokens(u, i), 1)
				q.User = user
				if got := p.serve(p.ctx, q, time.Hour); got.err != nil {
					t.Error(got.err)
				}
			}
		}
	})
	return all
}

// TestPolicies checks how each policy spreads requests over four workers, and whether conversations
// stay where they are.
func TestPolicies(t *testing.T) {
	same := func(int, int) int { return 100 }
	for _, row := range []struct {
		policy serving.Policy
		sticks bool
		least  int // of 410 requests, at each worker
		most   int
	}{
		{serving.Random, false, 70, 130},
		{serving.RoundRobin, false, 102, 103},
		{serving.PowerOfTwo, false, 70, 130},
		{serving.CacheAware, true, 100, 110},
		{serving.Manual, true, 40, 160},
		{serving.ConsistentHashing, true, 40, 160},
		{serving.PrefixHash, true, 40, 160},
	} {
		t.Run(string(row.policy), func(t *testing.T) {
			all := place(t, row.policy, 41, 10, same)
			moved := 0
			for _, at := range all.byUser {
				if len(at) > 1 {
					moved++
				}
			}
			if row.sticks != (moved == 0) {
				t.Errorf("%d of 41 conversations moved", moved)
			}
			for _, worker := range []string{"engine-0", "engine-1", "engine-2", "engine-3"} {
				if n := all.byWorker[worker]; n < row.least || n > row.most {
					t.Errorf("%s has %d requests, want %d to %d", worker, n, row.least, row.most)
				}
			}
		})
	}
}

// TestBucket: short prompts and long ones have workers of their own, each with its share.
func TestBucket(t *testing.T) {
	all := place(t, serving.Bucket, 4, 200, func(user, i int) int { return 100 + 1000*user })
	for user, worker := range map[string]string{"user-0": "engine-0", "user-1": "engine-1", "user-2": "engine-2", "user-3": "engine-3"} {
		if n := all.byUser[user][worker]; n < 190 {
			t.Errorf("%d of 200 requests of %s are at %s", n, user, worker)
		}
	}
}

// TestLoadOfStreams: requests without stream count into a worker's load at once, and so a conversation
// leaves its worker when that has too many. Streams count only when they have headers: while prefill
// is slow, everything goes to one worker.
func TestLoadOfStreams(t *testing.T) {
	for _, row := range []struct {
		policy serving.Policy
		stream bool
		most   int64 // requests at one worker, of 300
	}{
		{serving.CacheAware, false, 125}, {serving.CacheAware, true, 300},
		{serving.PrefixHash, false, 235}, {serving.PrefixHash, true, 300},
		{serving.PowerOfTwo, false, 80}, {serving.PowerOfTwo, true, 120},
	} {
		t.Run(fmt.Sprint(row.policy, row.stream), func(t *testing.T) {
			su := setup{
				cfg:    func(c *serving.Config) { unified(4)(c); c.Router.Policy = row.policy },
				faults: []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Latency, Delay: time.Hour}},
			}
			su.run(t, 1, func(p *play) {
				var all []*serving.Handle
				for i := range 300 {
					q := whole(fmt.Sprint(i), 1000, 10)
					q.User, q.Stream = "one", row.stream
					all = append(all, p.s.Submit(q))
				}
				most, active := int64(0), 0
				for _, w := range p.s.Router().Workers {
					most, active = max(most, w.Selections), active+w.Active
				}
				if most > row.most || row.stream && row.policy != serving.PowerOfTwo && most != row.most {
					t.Errorf("%d requests at one worker, want %d", most, row.most)
				}
				if want := 300; row.stream == (active == want) {
					t.Errorf("%d requests count into loads", active)
				}
				for _, h := range all {
					h.Cancel()
				}
			})
		})
	}
}

// TestManyConversations checks that the router forgets conversations, and so its memory is bounded.
func TestManyConversations(t *testing.T) {
	setup{cfg: func(c *serving.Config) { unified(2)(c); even(c) }}.run(t, 1, func(p *play) {
		at := ""
		p.s.OnEnd(func(r *serving.Record) { at = r.Decode })
		ask := func(user string) string {
			q := whole(user, 10, 1)
			q.User = user
			p.must(p.serve(p.ctx, q, time.Hour).err)
			return at
		}
		ask("other")
		first := ask("first")
		if again := ask("first"); again != first {
			t.Errorf("a conversation is at %s, then at %s", first, again)
		}
		for i := range 1<<14 + 10 {
			ask(fmt.Sprint(i))
		}
		ask("first") // anywhere
	})
}
