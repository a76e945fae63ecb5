package concurrency

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"example.com/wedge/harness/sim"
)

// flight is a call under way of the workload with which the library and the twin are compared.
type flight struct {
	permit   adaptivelimiter.Permit
	started  time.Time
	ends     time.Time
	inflight int
	drop     bool
}

type flights []flight

func (f flights) Len() int           { return len(f) }
func (f flights) Less(i, j int) bool { return f[i].ends.Before(f[j].ends) }
func (f flights) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)        { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

// duel runs both limiters over the same calls, and returns how often the limit moved. Calls come at
// the given rate, up to the library's limit; how long one takes is the server's word.
func duel(t *testing.T, calls int, gap time.Duration, server func(r *rand.Rand, inflight int) time.Duration, drops float64, seed uint64) int {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	lib := adaptivelimiter.NewBuilder[any]().Build()
	twin := New(Config{Rule: Failsafe}, 0, 0)
	begin := time.Now()
	var under flights
	next, moved := begin, 0
	for made := 0; made < calls || len(under) > 0; {
		if made < calls && (len(under) == 0 || next.Before(under[0].ends)) {
			time.Sleep(time.Until(next))
			made++
			next = next.Add(time.Duration(r.ExpFloat64() * float64(gap)))
			permit, ok := lib.TryAcquirePermit()
			if want := len(under) < twin.Limit(); ok != want {
				t.Fatalf("seed %d, call %d: the library lets in: %v, the twin: %v", seed, made, ok, want)
			}
			if ok {
				n := len(under) + 1
				heap.Push(&under, flight{permit, time.Now(), time.Now().Add(server(r, n)), n, r.Float64() < drops})
			}
			continue
		}
		time.Sleep(time.Until(under[0].ends))
		f := heap.Pop(&under).(flight)
		before, full := twin.Limit(), len(under)+1 >= twin.Limit()
		s := Sample{Latency: time.Since(f.started), Inflight: f.inflight, Full: full, Dropped: f.drop}
		if f.drop {
			f.permit.Drop()
		} else {
			f.permit.Record()
		}
		twin.Ended(sim.Instant(time.Since(begin)), s)
		if lib.Limit() != twin.Limit() {
			t.Fatalf("seed %d, call %d at %v: the library's limit is %d, the twin's %d, before %d", seed, made, time.Since(begin), lib.Limit(), twin.Limit(), before)
		}
		if twin.Limit() != before {
			moved++
		}
	}
	return moved
}

// The limit after every call is the library's. Windows here hold few enough samples for its t-digest to
// be exact.
func TestFailsafeIsTheLibrary(t *testing.T) {
	for _, tc := range []struct {
		name   string
		calls  int
		gap    time.Duration
		server func(r *rand.Rand, inflight int) time.Duration
		drops  float64
	}{
		{"steady", 6000, 3 * time.Second, func(r *rand.Rand, _ int) time.Duration {
			return time.Duration(40+20*r.Float64()) * time.Second
		}, 0},
		{"heavy tail", 6000, 3 * time.Second, func(r *rand.Rand, _ int) time.Duration {
			return 20*time.Second + time.Duration(r.ExpFloat64()*float64(time.Minute))
		}, 0.1},
		{"saturated above 12", 8000, 2 * time.Second, func(r *rand.Rand, n int) time.Duration {
			return time.Duration(float64(max(12, n)) / 12 * (0.8 + 0.4*r.Float64()) * 30 * float64(time.Second))
		}, 0.02},
		{"bursts", 6000, 700 * time.Millisecond, func(r *rand.Rand, n int) time.Duration {
			return time.Duration(n) * time.Duration(1+r.IntN(3)) * time.Second
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			moved := 0
			for seed := range uint64(5) {
				synctest.Test(t, func(t *testing.T) { moved += duel(t, tc.calls, tc.gap, tc.server, tc.drops, seed) })
			}
			if moved < 20 {
				t.Errorf("the limit moved %d times: too few to compare anything", moved)
			}
		})
	}
}

// Calls of 60 s, one after the other: one step for each 50 of them, 20 → 8 in ten hours, in the library
// and here.
func TestFailsafeWithSerialCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lib := adaptivelimiter.NewBuilder[any]().Build()
		twin := New(Config{Rule: Failsafe}, 0, 0)
		begin := time.Now()
		var steps []string
		for call := 1; time.Since(begin) < 10*time.Hour; call++ {
			permit, ok := lib.TryAcquirePermit()
			if !ok {
				t.Fatal("no permit")
			}
			time.Sleep(time.Minute)
			before := twin.Limit()
			permit.Record()
			twin.Ended(sim.Instant(time.Since(begin)), Sample{Latency: time.Minute, Inflight: 1})
			if lib.Limit() != twin.Limit() {
				t.Fatalf("call %d: the library's limit is %d, the twin's %d", call, lib.Limit(), twin.Limit())
			}
			if twin.Limit() != before {
				steps = append(steps, fmt.Sprintf("%d:%d", call, twin.Limit()))
			}
		}
		want := "[50:19 100:18 150:17 200:16 250:15 300:14 350:13 400:12 450:11 500:10 550:9 600:8]"
		if got := fmt.Sprint(steps); got != want {
			t.Errorf("steps %s, want %s", got, want)
		}
	})
}
