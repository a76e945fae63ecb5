package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

// row of a timeline: what happens at an instant, and what comes of it. do is "push", "next", "expire"
// or "leave"; want is "in" or the reason at the door, who is let in, with those turned away on the way
// as "-3 codel 6s", or "nobody".
type row struct {
	at   time.Duration
	do   string
	w    Waiter
	want string
}

func push(at time.Duration, id uint64, agent string) row {
	return row{at: at, do: "push", w: Waiter{ID: id, Agent: agent}, want: "in"}
}

func next(at time.Duration, want string) row { return row{at: at, do: "next", want: want} }

func play(t *testing.T, c Config, rows []row) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	q := New(c)
	for i, r := range rows {
		now := sim.Instant(r.at)
		var got []string
		var shed []Shed
		switch r.do {
		case "push":
			if reason, ok := q.Push(now, r.w, 2, 0.5); ok {
				got = append(got, "in")
			} else {
				got = append(got, string(reason))
			}
		case "leave":
			q.Remove(now, r.w.ID)
		case "expire":
			shed = q.Expire(now, nil)
		case "next":
			var id uint64
			var ok bool
			if id, shed, ok = q.Next(now, nil); ok {
				got = append(got, fmt.Sprint(id))
			} else {
				got = append(got, "nobody")
			}
		}
		for _, s := range shed {
			got = append(got, fmt.Sprintf("-%d %s %v", s.ID, s.Reason, s.Waited))
		}
		if have := strings.Join(got, " "); have != r.want {
			t.Errorf("row %d, at %v, %s %d: %q, want %q", i, r.at, r.do, r.w.ID, have, r.want)
		}
	}
}

func TestFIFO(t *testing.T) {
	play(t, Config{}, []row{
		next(0, "nobody"), push(1*second, 1, "a"), push(2*second, 2, "b"), push(3*second, 3, "c"),
		{at: 4 * second, do: "leave", w: Waiter{ID: 2}},
		next(1000*second, "1"), next(1000*second, "3"), next(1000*second, "nobody"),
	})
}

func TestLIFO(t *testing.T) {
	play(t, Config{Order: LIFO, Wait: 10 * second}, []row{
		push(1*second, 1, "a"), push(2*second, 2, "b"), push(3*second, 3, "c"),
		next(4*second, "3"), push(5*second, 4, "d"), next(6*second, "4"), next(11*second, "2 -1 wait 10s"),
	})
}

func TestAdaptiveLIFO(t *testing.T) {
	play(t, Config{Order: AdaptiveLIFO, LIFOAbove: 2}, []row{
		push(1*second, 1, "a"), push(2*second, 2, "b"), next(3*second, "1"), // 2 wait: the oldest
		push(4*second, 3, "c"), push(5*second, 4, "d"), next(6*second, "4"), // 3 wait: the newest
		next(7*second, "2"), next(8*second, "3"),
	})
}

func TestFair(t *testing.T) {
	play(t, Config{Order: Fair}, []row{
		push(1*second, 1, "a"), push(1*second, 2, "a"), push(1*second, 3, "a"), push(2*second, 4, "b"), push(3*second, 5, "c"),
		next(4*second, "1"), next(4*second, "4"), push(5*second, 6, "b"), // b is new, and comes behind c and a
		next(6*second, "5"), next(6*second, "2"), next(6*second, "6"), next(6*second, "3"),
	})
}

func TestRetriesAndFirstTries(t *testing.T) {
	retry := func(at time.Duration, id uint64) row {
		return row{at: at, do: "push", w: Waiter{ID: id, Retry: true}, want: "in"}
	}
	came := []row{push(1*second, 1, "a"), retry(2*second, 2), push(3*second, 3, "c"), retry(4*second, 4)}
	play(t, Config{Order: RetriesFirst}, append(came[:4:4],
		next(5*second, "2"), next(5*second, "4"), next(5*second, "1"), next(5*second, "3")))
	play(t, Config{Order: FirstTriesFirst}, append(came[:4:4],
		next(5*second, "1"), next(5*second, "3"), next(5*second, "2"), next(5*second, "4")))
}

func TestBounded(t *testing.T) {
	full := push(3*second, 3, "c")
	full.want = "full"
	play(t, Config{Max: 2}, []row{
		push(1*second, 1, "a"), push(2*second, 2, "b"), full, next(4*second, "1"), push(5*second, 3, "c"),
	})
}

// With a limit of 2, nobody is turned away while fewer than 4 wait, everybody when 6 do, and at 5 the
// chance is a half.
func TestRejectByChance(t *testing.T) {
	turned := func(id uint64) row {
		return row{at: second, do: "push", w: Waiter{ID: id}, want: "rejected"}
	}
	play(t, Config{RejectFrom: 2, RejectTo: 3}, []row{
		push(second, 1, "a"), push(second, 2, "a"), push(second, 3, "a"), push(second, 4, "a"), push(second, 5, "a"), turned(6),
		next(2*second, "1"), push(3*second, 7, "a"),
	})
}

func TestMaxWait(t *testing.T) {
	play(t, Config{Wait: 60 * second}, []row{
		push(1*second, 1, "a"), push(2*second, 2, "b"),
		{at: 60 * second, do: "expire", want: ""}, {at: 61 * second, do: "expire", want: "-1 wait 1m0s"},
		next(61*second, "2"), next(62*second, "nobody"),
	})
}

func TestDropDead(t *testing.T) {
	by := func(at time.Duration, id uint64, deadline time.Duration) row {
		return row{at: at, do: "push", w: Waiter{ID: id, Deadline: sim.Instant(deadline)}, want: "in"}
	}
	play(t, Config{DropDead: true, Need: 30 * second}, []row{
		by(1*second, 1, 60*second), by(1*second, 2, 40*second), by(1*second, 3, 0), by(1*second, 4, 100*second),
		next(30*second, "1"),             // 30 s are left, and enough
		next(30*second, "3 -2 dead 29s"), // 10 s are not; 3 has no deadline
		next(71*second, "nobody -4 dead 1m10s"),
	})
}

// Who comes within 100 ms of an empty queue may wait for 100 ms, everybody later for 5 ms.
func TestCoDelServer(t *testing.T) {
	play(t, Config{CoDel: CoDelServer}, []row{
		push(0, 1, "a"), push(100*ms, 2, "a"),
		{at: 100 * ms, do: "expire", want: "-1 codel 100ms"},
		push(101*ms, 3, "a"), // the queue was empty last at 0
		{at: 105 * ms, do: "expire", want: ""}, {at: 106 * ms, do: "expire", want: "-3 codel 5ms"},
		next(150*ms, "2"), // empty again
		push(300*ms, 4, "a"), push(301*ms, 5, "a"), next(399*ms, "4"), next(400*ms, "5"),
	})
}

// Waits are above 5 ms from 10 ms on. After 100 ms of this one is dropped, the next after another 100 ms,
// then after 100/√2, 100/√3, 100/√4. At 400 ms the queue is emptied. When waits have been long again for
// 100 ms, dropping goes on with the fourth: after 100/√4.
func TestCoDelRFC8289(t *testing.T) {
	q := New(Config{CoDel: CoDelRFC8289})
	var drops []string
	id := uint64(0)
	for at := time.Duration(0); at < 600*ms; at += 10 * ms {
		now := sim.Instant(at)
		for q.Len() < 4 {
			id++
			q.Push(now, Waiter{ID: id}, 1, 0)
		}
		_, shed, _ := q.Next(now, nil)
		for _, s := range shed {
			drops = append(drops, fmt.Sprintf("%v:%d", at, s.ID))
		}
		if at == 400*ms {
			for q.Len() > 0 {
				q.Next(now, nil)
			}
		}
	}
	want := "[110ms:12 210ms:23 290ms:32 340ms:38 390ms:44 520ms:61 570ms:67]"
	if got := fmt.Sprint(drops); got != want {
		t.Errorf("drops %s, want %s", got, want)
	}
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		config Config
		want   string // start of the error; empty: none
	}{
		{Config{}, ""},
		{Config{Order: AdaptiveLIFO, LIFOAbove: 8, Max: 100, Wait: time.Minute}, ""},
		{Config{CoDel: CoDelServer, Target: second, Interval: 10 * second}, ""},
		{Config{Order: "random"}, `order: found "random", want one of fifo, lifo, adaptive_lifo, fair, retries_first, first_tries_first`},
		{Config{Order: AdaptiveLIFO}, "lifo_above: found 0, want a number from 1"},
		{Config{LIFOAbove: 3}, "lifo_above: found 3, want 0 without order adaptive_lifo"},
		{Config{Max: -1}, "max: found -1, want 0 (no bound)"},
		{Config{RejectFrom: 3, RejectTo: 2}, "reject_from: found 3 with reject_to 2, want 1 <= reject_from < reject_to"},
		{Config{Wait: 60}, "wait: found 60ns, want 0 or a duration"},
		{Config{CoDel: "blue"}, `codel: found "blue", want server or rfc8289`},
		{Config{Target: second}, "codel: found none with a target or interval"},
		{Config{CoDel: CoDelServer, Target: second}, "target: found 1s, want at most interval, which is 100ms"},
		{Config{Need: second}, "need: found 1s, want 0 without drop_dead"},
	} {
		err := tc.config.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%+v: got %v, want one line: %s", tc.config, err, tc.want)
		}
	}
}
