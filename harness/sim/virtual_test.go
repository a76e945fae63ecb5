package sim_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// town is a small program that uses everything: workers with random naps share two permits and pass
// parcels through a bounded queue, under time limits that some of them miss.
func town(w sim.World, out *strings.Builder) func(ctx context.Context) {
	return func(ctx context.Context) {
		slots := sim.NewSemaphore(w, "slots", 2)
		parcels := sim.NewQueue[string](w, "parcels", 1)
		closing := sim.NewLatch(w, "closing")
		tick := w.AfterFunc(3*time.Millisecond, func() { parcels.PutLocked("tick") })
		var workers []*sim.Process
		for i := range 5 {
			name := fmt.Sprintf("worker-%d", i)
			workers = append(workers, w.Spawn(ctx, name, func(ctx context.Context) {
				s := w.Stream(name, "nap")
				for n := range 4 {
					limited, release := sim.WithTimeout(ctx, w, 5*time.Millisecond, errors.New("too slow"))
					lease, err := slots.Acquire(limited, sim.Party{What: fmt.Sprint("job ", n)})
					_ = w.Sleep(ctx, time.Duration(1+s.IntN(4))*time.Millisecond)
					if err != nil {
						fmt.Fprintf(out, "%v %s %v\n", w.Now(), name, err)
					} else {
						_ = parcels.Put(ctx, fmt.Sprint(name, " ", n))
						_ = lease.Release()
					}
					release()
				}
				w.Note([]byte(name))
			}))
		}
		w.Spawn(ctx, "receiver", func(ctx context.Context) {
			for {
				parcel, err := parcels.Get(ctx)
				if err != nil {
					closing.Open()
					return
				}
				fmt.Fprintf(out, "%v %s\n", w.Now(), parcel)
				if strings.HasSuffix(parcel, " 3") {
					tick.Reset(time.Millisecond)
				}
			}
		})
		for _, p := range workers {
			_ = p.Wait(ctx)
		}
		_ = w.Sleep(ctx, 10*time.Millisecond)
		parcels.Close()
		_ = closing.Wait(ctx)
	}
}

// visit is what there is to compare about a run of town.
type visit struct {
	trace, out string
	hash       uint64
	tape       sim.Tape
}

func visitTown(t *testing.T, opts sim.VirtualOptions, change func(w *sim.Virtual)) visit {
	t.Helper()
	var trace bytes.Buffer
	var out strings.Builder
	opts.Trace = &trace
	w := sim.NewVirtual(opts)
	if change != nil {
		change(w)
	}
	run(t, w, town(w, &out))
	return visit{trace: trace.String(), out: out.String(), hash: w.Hash(), tape: w.Tape()}
}

func (v visit) sameAs(t *testing.T, other visit, what string) {
	t.Helper()
	if v.hash != other.hash || v.trace != other.trace || v.out != other.out {
		a, b := strings.Split(v.trace, "\n"), strings.Split(other.trace, "\n")
		i := 0
		for i < min(len(a), len(b))-1 && a[i] == b[i] {
			i++
		}
		t.Errorf("%s: hash %016x, want %016x; first difference in step %d:\n got %s\nwant %s", what, other.hash, v.hash, i, b[i], a[i])
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, shuffle := range []bool{false, true} {
		opts := sim.VirtualOptions{Seed: 7, Shuffle: shuffle, Record: true}
		first := visitTown(t, opts, nil)
		first.sameAs(t, visitTown(t, opts, nil), "second run")
		first.sameAs(t, visitTown(t, opts, (*sim.Virtual).SleepSlowly), "without the fast path")
		for procs := 1; procs <= 2; procs++ {
			old := runtime.GOMAXPROCS(procs)
			first.sameAs(t, visitTown(t, opts, nil), fmt.Sprint("GOMAXPROCS ", procs))
			runtime.GOMAXPROCS(old)
		}
		opts.Seed = 8
		if visitTown(t, opts, nil).hash == first.hash {
			t.Error("another seed gives the same hash")
		}
	}
}

func TestTraceGolden(t *testing.T) {
	v := visitTown(t, sim.VirtualOptions{Seed: 7}, nil)
	got := v.out + "--\n" + v.trace
	path := filepath.Join("testdata", "town.trace")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the trace differs from %s; if that is meant, run with -update and say why. Got:\n%s", path, got)
	}
}

func TestTape(t *testing.T) {
	shuffled := visitTown(t, sim.VirtualOptions{Seed: 7, Shuffle: true, Record: true}, nil)
	plain := visitTown(t, sim.VirtualOptions{Seed: 7}, nil)
	if len(shuffled.tape) == 0 || shuffled.hash == plain.hash {
		t.Fatalf("seed 7: shuffling made %d choices and changed nothing", len(shuffled.tape))
	}
	replay := func(tape sim.Tape) visit {
		return visitTown(t, sim.VirtualOptions{Seed: 7, Shuffle: true, Record: true, Replay: tape}, nil)
	}
	shuffled.sameAs(t, replay(shuffled.tape), "replayed")
	plain.sameAs(t, replay(sim.Tape{}), "replayed from an empty tape")
	zeros := append(sim.Tape(nil), shuffled.tape...)
	for i := range zeros {
		zeros[i].Value = 0
	}
	plain.sameAs(t, replay(zeros), "replayed from zeros")

	// Any tape must do, and what it records must replay to the same.
	s := sim.NewStream(7, "tape", "changes")
	for range 100 {
		changed := append(sim.Tape(nil), shuffled.tape[:s.IntN(len(shuffled.tape)+1)]...)
		for range s.IntN(10) {
			if len(changed) > 0 {
				changed[s.IntN(len(changed))] = sim.Choice{Label: []string{"runnable", "x"}[s.IntN(2)], N: 3, Value: s.IntN(2000) - 1000}
			}
		}
		v := replay(changed)
		v.sameAs(t, replay(v.tape), "replay of a replay")
	}
}

func TestChoose(t *testing.T) {
	tape := sim.Tape{{Label: "a", N: 3, Value: 2}, {Label: "b", N: 9, Value: 8}, {Label: "a", N: 3, Value: -1}, {Label: "a", N: 5, Value: 4}}
	for _, w := range []sim.World{
		sim.NewVirtual(sim.VirtualOptions{Replay: tape, Record: true}),
		sim.NewWall(sim.WallOptions{Replay: tape, Record: true}),
	} {
		got := []int{w.Choose("a", 3), w.Choose("a", 1), w.Choose("a", 3), w.Choose("b", 4), w.Choose("a", 9), w.Choose("a", 9), w.Choose("c", 5)}
		if want := "[2 0 0 3 4 0 0]"; fmt.Sprint(got) != want {
			t.Errorf("choices %v, want %v", got, want)
		}
		recorded := w.(interface{ Tape() sim.Tape }).Tape()
		if want := "[{a 3 2} {a 3 0} {b 4 3} {a 9 4} {a 9 0} {c 5 0}]"; fmt.Sprint(recorded) != want {
			t.Errorf("tape %v, want %v", recorded, want)
		}
	}
	seen := map[int]bool{}
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	for range 100 {
		seen[w.Choose("a", 4)] = true
	}
	if len(seen) != 4 {
		t.Errorf("100 choices among 4 took %d of them", len(seen))
	}
}

// TestShuffleExplores has three processes woken at one instant by three different things: every
// order must occur.
func TestShuffleExplores(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(300) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed, Shuffle: true})
		order := ""
		run(t, w, func(ctx context.Context) {
			_ = w.Sleep(ctx, 1) // so that the order of the start does not matter
			s := w.Spawn(ctx, "sleeper", func(ctx context.Context) {
				_ = w.Sleep(ctx, time.Second)
				order += "s"
			})
			t := w.AfterFunc(time.Second, func() { order += "t" })
			_ = w.Sleep(ctx, time.Second)
			order += "m"
			_ = s.Wait(ctx)
			_ = w.Sleep(ctx, 1)
			t.Stop()
		})
		orders[order]++
	}
	for _, order := range []string{"smt", "stm", "mst", "mts", "tsm", "tms"} {
		if orders[order] < 10 {
			t.Errorf("order %s occurred %d times in 300 seeds", order, orders[order])
		}
	}
	if len(orders) != 6 {
		t.Errorf("orders: %v", orders)
	}
}

// TestShuffleStopsDueTimers stops a timer, and cancels a sleep, that are due at this very instant.
func TestShuffleStopsDueTimers(t *testing.T) {
	prevented, late := 0, 0
	for seed := range uint64(100) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed, Shuffle: true})
		run(t, w, func(ctx context.Context) {
			rang := false
			t2 := w.AfterFunc(time.Second, func() { rang = true })
			other, cancel := w.WithCancel(ctx)
			var slept error
			p := w.Spawn(other, "sleeper", func(ctx context.Context) { slept = w.Sleep(ctx, time.Second) })
			_ = w.Sleep(ctx, time.Second)
			stopped := t2.Stop()
			cancel(errors.New("cancelled"))
			if stopped == rang {
				t.Errorf("seed %d: Stop %v, but rang %v", seed, stopped, rang)
			}
			_ = p.Wait(ctx)
			_ = w.Sleep(ctx, time.Second)
			if stopped && rang {
				t.Errorf("seed %d: rang after Stop", seed)
			}
			if stopped && slept != nil {
				prevented++
			}
			if !stopped && slept == nil {
				late++
			}
		})
	}
	if prevented == 0 || late == 0 {
		t.Errorf("of 100 seeds %d prevented both and %d were too late for both: want some of each", prevented, late)
	}
}
