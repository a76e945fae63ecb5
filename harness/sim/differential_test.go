package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

// A random program is a few processes, each with a list of steps. Before each step its process sleeps
// for a length drawn in nanoseconds, so that no two steps fall on one instant unless one causes the
// other; then the outcome cannot depend on who happens to run first, and every world must give the
// same log.
type program struct {
	permits, bounds []int
	processes       [][]step
}

type step struct {
	nap   time.Duration
	op    string
	which int // semaphore, queue, timer, latch or process
	limit time.Duration
}

var (
	operations = []string{"acquire", "acquire", "release", "release", "put", "get", "timer", "stop", "open", "wait", "cancel", "join", "close", "spawn"}
	errTooLate = errors.New("limit")
)

const programHorizon = 20 * time.Second

func randomProgram(seed uint64) program {
	s := sim.NewStream(seed, "program", "")
	var p program
	for range 1 + s.IntN(3) {
		p.permits = append(p.permits, 1+s.IntN(2))
		p.bounds = append(p.bounds, s.IntN(3))
	}
	for range 2 + s.IntN(6) {
		var steps []step
		for range 3 + s.IntN(12) {
			steps = append(steps, step{
				nap:   time.Duration(1 + s.Uint64()%uint64(2*time.Second)),
				op:    operations[s.IntN(len(operations))],
				which: s.IntN(10),
				limit: time.Duration(1 + s.Uint64()%uint64(3*time.Second)),
			})
		}
		p.processes = append(p.processes, steps)
	}
	return p
}

// performance is one run of a program.
type performance struct {
	w       sim.World
	slots   []*sim.Semaphore
	queues  []*sim.Queue[string]
	timers  []*sim.Timer
	latches []*sim.Latch
	all     []*sim.Process
	cancels []context.CancelCauseFunc
	log     []string // guarded by the monitor
}

func (p *performance) note(who, what string, err error) {
	p.w.Lock()
	defer p.w.Unlock()
	p.noteLocked(who, what, err)
}

func (p *performance) noteLocked(who, what string, err error) {
	if p.w.Now() < sim.Instant(programHorizon) { // after that, waits end because the world does
		p.log = append(p.log, fmt.Sprintf("%012d %s %s %v", p.w.Now(), who, what, err))
	}
}

// perform runs prog in w and returns its log, in the order of instants and names.
func (prog program) perform(w sim.World) ([]string, error) {
	p := &performance{w: w}
	err := w.Run(context.Background(), func(ctx context.Context) {
		for i, n := range prog.permits {
			p.slots = append(p.slots, sim.NewSemaphore(w, fmt.Sprint("s", i), n))
			p.queues = append(p.queues, sim.NewQueue[string](w, fmt.Sprint("q", i), prog.bounds[i]))
			p.latches = append(p.latches, sim.NewLatch(w, fmt.Sprint("l", i)))
			t := w.AfterFunc(time.Hour, func() {
				p.noteLocked("timer", fmt.Sprint(i), nil)
				p.queues[i].PutLocked("tick")
			})
			p.timers = append(p.timers, t)
		}
		start := sim.NewLatch(w, "")
		for i, steps := range prog.processes {
			ctx, cancel := w.WithCancel(ctx)
			p.cancels = append(p.cancels, cancel)
			p.all = append(p.all, w.Spawn(ctx, fmt.Sprint("p", i), func(ctx context.Context) {
				_ = start.Wait(ctx) // until all and cancels are complete
				p.play(ctx, steps)
			}))
		}
		start.Open()
		_ = w.Sleep(ctx, programHorizon)
	})
	slices.Sort(p.log)
	return p.log, err
}

// play makes one process's steps, until one fails for another reason than its limit.
func (p *performance) play(ctx context.Context, steps []step) {
	me := sim.ProcessOf(ctx).Name()
	held := make([][]sim.Lease, len(p.slots))
	for _, s := range steps {
		if err := p.w.Sleep(ctx, s.nap); err != nil {
			p.note(me, "sleep", err)
			break
		}
		limited, release := sim.WithTimeout(ctx, p.w, s.limit, errTooLate)
		err := p.do(limited, me, s, held)
		release()
		if err != nil && err != errTooLate && err != sim.ErrClosed {
			break
		}
	}
	for _, leases := range held {
		for _, l := range leases {
			_ = l.Release()
		}
	}
	p.note(me, "ends", nil)
}

func (p *performance) do(ctx context.Context, me string, s step, held [][]sim.Lease) (err error) {
	i := s.which % len(p.slots)
	what := fmt.Sprint(s.op, i)
	switch s.op {
	case "acquire":
		var l sim.Lease
		if l, err = p.slots[i].Acquire(ctx, sim.Party{}); err == nil {
			held[i] = append(held[i], l)
		}
	case "release":
		if n := len(held[i]); n > 0 {
			err = held[i][n-1].Release()
			held[i] = held[i][:n-1]
		}
	case "put":
		err = p.queues[i].Put(ctx, me)
	case "get":
		var item string
		item, err = p.queues[i].Get(ctx)
		what += item
	case "timer":
		p.timers[i].Reset(s.limit)
	case "stop":
		what += fmt.Sprint(p.timers[i].Stop())
	case "open":
		if s.which == 9 { // seldom, or else all are open all the time
			p.latches[i].Open()
		}
	case "wait":
		err = p.latches[i].Wait(ctx)
	case "cancel":
		if s.which > 4 {
			p.cancels[(s.which*len(me))%len(p.cancels)](errCancelled)
		}
	case "join":
		err = p.all[s.which%len(p.all)].Wait(ctx)
	case "close":
		if s.which == 9 {
			p.queues[i].Close()
		}
	case "spawn":
		child := p.w.Spawn(ctx, me+"'", func(ctx context.Context) {
			p.note(me+"'", "woke", p.w.Sleep(ctx, s.nap))
		})
		// Not under ctx, whose end would end both waits at one instant.
		err = child.Wait(context.WithoutCancel(ctx))
	}
	p.note(me, what, err)
	return err
}

// TestDifferential runs random programs in every world.
func TestDifferential(t *testing.T) {
	programs := 200
	if testing.Short() {
		programs = 30
	}
	outcomes := map[string]int{}
	for seed := range uint64(programs) {
		prog := randomProgram(seed)
		want, err := prog.perform(sim.NewVirtual(sim.VirtualOptions{}))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, line := range want {
			fields := strings.SplitN(line, " ", 4)
			op := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(fields[2], "true"), "false"), "0123456789")
			if strings.HasPrefix(op, "get") {
				op = "get"
			}
			outcomes[op+" "+fields[3]]++
		}
		check := func(world string, w sim.World) {
			got, err := prog.perform(w)
			if err != nil || !slices.Equal(got, want) {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				t.Errorf("seed %d: %s (%v) parts after %q:\n got %q\nwant %q", seed, world, err, want[max(i-3, 0):i], got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
			}
		}
		slow := sim.NewVirtual(sim.VirtualOptions{})
		slow.SleepSlowly()
		check("virtual without the fast path", slow)
		check("virtual shuffled", sim.NewVirtual(sim.VirtualOptions{Seed: seed, Shuffle: true}))
		synctest.Test(t, func(t *testing.T) { check("wall", sim.NewWall(sim.WallOptions{})) })
		if t.Failed() {
			break
		}
	}
	for _, op := range []string{"acquire", "get", "put", "join", "wait"} {
		for _, outcome := range []string{"<nil>", "limit", "cancelled"} {
			if outcomes[op+" "+outcome] == 0 && !testing.Short() {
				t.Errorf("in no program did %q end with %q: the test tests too little", op, outcome)
			}
		}
	}
}
