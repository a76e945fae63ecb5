package harness

import (
	"context"
	"strconv"
	"time"

	"example.com/wedge/agents"
)

// hire lets an agent work on the next task, on a process that has the agent's name, so that a dump, a
// table of processes and a list of waiters call it the same. When the agent has done its task, its
// process hires the next one and ends: this is all there is to a worker. first is for the first ones,
// which start over a while. The monitor must not be held.
func (f *Fleet) hire(first bool) {
	i, ok := f.tasks.TryGet()
	f.w.Lock()
	for !ok && f.tasks.Len() > 0 { // one has arrived in between, and relies on this worker
		f.w.Unlock()
		i, ok = f.tasks.TryGet()
		f.w.Lock()
	}
	if !ok || f.why != Running {
		f.working--
		if f.working == 0 && f.due == 0 {
			f.end(Completed)
		}
		f.w.Unlock()
		return
	}
	f.w.Unlock()
	name := f.nameOf("agent", i)
	f.w.Spawn(f.crew, name, func(ctx context.Context) {
		if first && f.o.Fleet.StartSpread > 0 && f.w.Sleep(ctx, f.startOf(name)) != nil {
			return
		}
		f.work(ctx, name, f.taskOf(i))
		f.hire(false)
	})
}

// work runs an agent on a task, and says whether that has failed.
func (f *Fleet) work(ctx context.Context, name string, task agents.Task) (failed bool) {
	f.w.Lock()
	f.ledger.TaskStarted(name, task.ID)
	f.w.Unlock()
	err := f.o.Run(ctx, name, task)
	f.w.Lock()
	defer f.w.Unlock()
	if f.ledger.closed { // it was cancelled because the run is over
		return true
	}
	f.ledger.TaskEnded(name, task.ID, err)
	if err != nil && len(f.failures) < failuresMax {
		f.failures = append(f.failures, Failure{Agent: name, Task: task.ID, At: f.w.Now(), Err: err})
	}
	return err != nil
}

// startOf draws when one of the first agents starts.
func (f *Fleet) startOf(agent string) time.Duration {
	s := f.w.Stream(agent, "start")
	return time.Duration(s.Float64() * float64(f.o.Fleet.StartSpread))
}

func (f *Fleet) taskOf(i int) agents.Task {
	if f.o.Tasks != nil {
		return f.o.Tasks[i]
	}
	return agents.Task{ID: f.nameOf("task", i)}
}

// nameOf returns such names as agent-01, with as many digits as the largest number has, at least two.
func (f *Fleet) nameOf(what string, i int) string {
	width := 2
	for n := f.total(); n >= 100; n /= 10 {
		width++
	}
	const zeros = "000000" // enough for AgentsLimit
	number := strconv.Itoa(i + 1)
	return what + "-" + zeros[:width-len(number)] + number
}
