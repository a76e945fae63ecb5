package harness

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/demand"
)

// tasksLimit is the most tasks that a run with a demand ends after.
const tasksLimit = 1_000_000_000

// failurePause is how long after the start of a task that has failed an agent of a closed loop begins the
// next one at the earliest: servers that refuse everything would otherwise be asked as fast as they can
// refuse, and in virtual time for ever at one instant.
const failurePause = time.Second

// endless is the work of a fleet with a demand: tasks that come into being when somebody begins them, so
// that a run of any length takes the same memory. The counts are guarded by the monitor.
type endless struct {
	demand     demand.Config
	most       int // tasks that are begun in all
	workersMax int // of an open loop

	arrived int // tasks of an open loop; of a closed one, those begun
	begun   int // tasks that have been given to an agent
	ended   int
	wanted  int // agents at work, in a closed loop
}

func newEndless(o *Options) *endless {
	e := &endless{demand: o.Demand.WithAgents(o.Fleet.workers()), most: o.TasksMax, workersMax: o.Fleet.Workers}
	if e.most == 0 {
		e.most = math.MaxInt
	}
	if e.workersMax == 0 {
		e.workersMax = AgentsLimit
	}
	return e
}

// meetDemand is the process that has agents hired as the demand goes up, and tasks arrive.
func (f *Fleet) meetDemand(ctx context.Context) {
	if f.endless.demand.OpenLoop() {
		f.admitEndless(ctx)
		return
	}
	e := f.endless
	for first := true; ; first = false {
		now := time.Duration(f.w.Now())
		f.w.Lock()
		e.wanted = int(math.Round(e.demand.Level(now)))
		hires := max(0, min(e.wanted-f.working, e.most-e.begun))
		f.working += hires
		e.begun += hires
		next := e.begun - hires
		f.w.Unlock()
		for i := range hires {
			f.beginTask(next+i, first)
		}
		at := e.demand.NextChange(now)
		if at == demand.Never || f.w.Sleep(ctx, at-time.Duration(f.w.Now())) != nil {
			return
		}
	}
}

// admitEndless brings in the tasks of an open loop. They arrive when they arrive, however late this
// process may be on the wall.
func (f *Fleet) admitEndless(ctx context.Context) {
	e := f.endless
	draw := f.w.Stream("fleet", "demand")
	at := time.Duration(f.w.Now())
	for range e.most {
		if at = e.demand.NextArrival(at, &draw); at == demand.Never {
			return
		}
		if f.w.Sleep(ctx, at-time.Duration(f.w.Now())) != nil {
			return
		}
		f.w.Lock()
		e.arrived++
		if f.o.Arrived != nil {
			f.o.Arrived(longName("agent", f.o.TasksBefore+e.arrived-1))
		}
		hires := f.why == Running && f.working < e.workersMax
		if hires {
			f.working++
			e.begun++
		}
		i := e.begun - 1
		f.w.Unlock()
		if hires {
			f.beginTask(i, false)
		}
	}
}

// beginTask lets an agent work on a task, on a process that has the agent's name. Thereafter its process
// starts that of the next one, if there is to be one, as [Fleet.hire] does.
func (f *Fleet) beginTask(i int, first bool) {
	number := f.o.TasksBefore + i
	name := longName("agent", number)
	f.w.Spawn(f.crew, name, func(ctx context.Context) {
		if first && f.o.Fleet.StartSpread > 0 && f.w.Sleep(ctx, f.startOf(name)) != nil {
			return
		}
		start := f.w.Now()
		failed := f.work(ctx, name, f.taskNumber(number))
		if failed && !f.endless.demand.OpenLoop() && f.w.Sleep(ctx, failurePause-f.w.Now().Sub(start)) != nil {
			return
		}
		if next, ok := f.nextTask(); ok {
			f.beginTask(next, false)
		}
	})
}

// nextTask says which task the agent that follows one that has ended is to work on, and whether there is
// to be one.
func (f *Fleet) nextTask() (i int, ok bool) {
	e := f.endless
	f.w.Lock()
	defer f.w.Unlock()
	e.ended++
	switch {
	case f.why != Running:
	case e.ended == e.most:
		f.end(Completed)
	case e.demand.OpenLoop():
		ok = e.begun < e.arrived
	default:
		ok = e.begun < e.most && f.working <= e.wanted
	}
	if !ok {
		f.working--
		return 0, false
	}
	e.begun++
	return e.begun - 1, true
}

// taskNumber returns the i-th task.
func (f *Fleet) taskNumber(i int) agents.Task {
	if n := len(f.o.Tasks); n > 0 {
		t := f.o.Tasks[i%n]
		t.ID = AgainID(t.ID, i)
		return t
	}
	return agents.Task{ID: longName("task", i)}
}

// AgainID returns the ID of a task of [Options.Tasks] when it is the i-th of a run whose tasks are gone through
// again and again, counted from 0.
func AgainID(id string, i int) string { return longName(id, i) }

// FirstID returns the ID that [AgainID] was given to make this one; an ID that it did not make is returned as
// it is.
func FirstID(id string) string {
	stem := strings.TrimRight(id, "0123456789")
	if len(id)-len(stem) < len(zeros) || !strings.HasSuffix(stem, "-") {
		return id
	}
	return stem[:len(stem)-1]
}

// zeros fill up the numbers of tasks.
const zeros = "000000"

// longName returns such names as agent-000001.
func longName(what string, i int) string {
	number := strconv.Itoa(i + 1)
	return what + "-" + zeros[:max(0, len(zeros)-len(number))] + number
}
