package compare

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// Options say how a plan is run. They change nothing of what comes out. The zero value runs on all
// cores and leaves nothing on disk.
type Options struct {
	Workers int    // runs at once; 0: as many as GOMAXPROCS
	Dir     string // where finished runs are kept; "" keeps none
	Resume  bool   // Dir has the runs of an earlier try, which are taken from there
	Version string // of wedge, which is kept with the plan
	// Progress is called after each run, from any goroutine, one at a time; nil: nobody looks.
	Progress func(Progress)
}

// Progress is how far a plan has come.
type Progress struct {
	Stage      string // "search" while parameters are looked for; "" for the comparison itself
	Done, Runs int
	Kept       int           // of Done: taken from an earlier try
	Elapsed    time.Duration // on the machine's clock
	Left       time.Duration // an estimate
}

// Runs are the finished runs of a plan.
type Runs struct {
	Plan *Plan
	runs []*metrics.Run // by job; nil: not finished
}

// Of is a run by where policy, scenario and seed stand in the plan, or nil if it is not finished.
func (r *Runs) Of(policy, scenario, seed int) *metrics.Run {
	return r.runs[r.Plan.job(key{policy, scenario, seed})]
}

// Whole is how many seeds, from the first, are finished under all policies in all scenarios.
func (r *Runs) Whole() int {
	perSeed := len(r.Plan.Policies) * len(r.Plan.Scenarios)
	for job, run := range r.runs {
		if run == nil {
			return job / perSeed
		}
	}
	return r.Plan.Seeds.N()
}

// Execute runs the plan. If ctx is cancelled, it keeps what is finished, and returns that with the
// cause of ctx. Bad input is an *[repro.InputError], before anything is written.
func Execute(ctx context.Context, p *Plan, o Options) (*Runs, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	cells, err := p.cells()
	if err != nil {
		return nil, err
	}
	e := &execution{plan: p, cells: cells, o: o, runs: &Runs{Plan: p, runs: make([]*metrics.Run, p.Runs())}, began: time.Now()}
	if err := e.open(); err != nil {
		return nil, err
	}
	for job := range e.runs.runs {
		if e.runs.runs[job] == nil {
			e.todo = append(e.todo, job)
		}
	}
	e.kept = p.Runs() - len(e.todo)
	e.done = e.kept
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var group sync.WaitGroup
	for range min(workers, len(e.todo)) {
		group.Go(func() { e.work(ctx) })
	}
	group.Wait()
	if err := e.log.close(); err != nil {
		e.failed = errors.Join(e.failed, err)
	}
	if e.failed != nil {
		return nil, e.failed
	}
	if e.done < p.Runs() {
		return e.runs, context.Cause(ctx)
	}
	return e.runs, nil
}

// execution is a plan under way.
type execution struct {
	plan  *Plan
	cells []*repro.Scenario // only read
	o     Options
	began time.Time
	log   *runLog // nil: none is kept
	kept  int

	mu     sync.Mutex
	todo   []int // jobs not yet taken, in order
	runs   *Runs
	done   int
	failed error // the first failure; nobody begins another run
}

// open makes or reads the directory.
func (e *execution) open() error {
	if e.o.Dir == "" {
		return nil
	}
	log, err := openLog(e.plan, e.o, e.runs.runs)
	e.log = log
	return err
}

// work takes one job after another.
func (e *execution) work(ctx context.Context) {
	for {
		job, ok := e.take(ctx)
		if !ok {
			return
		}
		run, err := e.measure(ctx, e.plan.at(job))
		e.mu.Lock()
		switch {
		case err != nil:
			e.failed = errors.Join(e.failed, err)
		case run != nil:
			e.finish(job, run)
		}
		e.mu.Unlock()
	}
}

func (e *execution) take(ctx context.Context) (job int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.todo) == 0 || e.failed != nil || ctx.Err() != nil {
		return 0, false
	}
	job, e.todo = e.todo[0], e.todo[1:]
	return job, true
}

// finish books a run that is over. The lock is held.
func (e *execution) finish(job int, run *metrics.Run) {
	e.runs.runs[job] = run
	e.done++
	if err := e.log.append(e.plan, job, run); err != nil {
		e.failed = errors.Join(e.failed, err)
	}
	if e.o.Progress == nil {
		return
	}
	elapsed := time.Since(e.began)
	each := elapsed / time.Duration(e.done-e.kept)
	e.o.Progress(Progress{
		Done: e.done, Runs: len(e.runs.runs), Kept: e.kept, Elapsed: elapsed,
		Left: each * time.Duration(len(e.runs.runs)-e.done),
	})
}

// measure runs one run. It returns nil if ctx was cancelled meanwhile.
func (e *execution) measure(ctx context.Context, k key) (*metrics.Run, error) {
	s := *e.cells[k.scenario*len(e.plan.Policies)+k.policy]
	s.Seed = e.plan.Seeds.From + uint64(k.seed)
	run, err := measure(ctx, &s, e.plan.Policies[k.policy].Oracle)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare: policy %s, scenario %s, seed %d: %w", e.plan.Policies[k.policy].Name, s.Name, s.Seed, err)
	}
	return run, nil
}

// measure runs a scenario in virtual time and returns what was measured. Nothing is judged or written.
func measure(ctx context.Context, s *repro.Scenario, oracle bool) (*metrics.Run, error) {
	r, err := repro.Run(ctx, s, repro.Options{Measure: &metrics.Options{}, NoVerdict: true, Oracle: oracle})
	if err != nil {
		return nil, err
	}
	return r.Measured, nil
}
