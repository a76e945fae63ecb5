package repro

import (
	"math"
	"reflect"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness"
	"example.com/wedge/harness/demand"
)

// demandOf returns the demand of a run: what it says itself, or if it says nothing and tasks of the scenario
// arrive at a rate, an open loop of those, with the triggers' load as spikes.
func (s *Scenario) demandOf(d demand.Config) demand.Config {
	perSecond := s.Fleet.Arrivals.PerSecond()
	if perSecond == 0 || !reflect.ValueOf(d).IsZero() {
		return d
	}
	d.Loop, d.TasksPerH = demand.Open, perSecond*3600
	for _, x := range s.spikes() {
		more := float64(x.Tasks) / (perSecond * (x.To - x.From).Seconds())
		if times := max(x.Load, 1) + more; times > 1 {
			d.Spikes = append(d.Spikes, demand.Spike{At: x.From, Lasts: x.To - x.From, Times: times})
		}
	}
	return d
}

// meet has the fleet do what the run's demand asks for.
func (a *assembly) meet(o *harness.Options) {
	if a.o.Demand != nil {
		o.Demand, o.TasksMax, o.Fleet.Arrivals = a.o.Demand, a.o.TasksMax, harness.Arrivals{}
		o.TasksBefore = a.o.TasksBefore
	}
}

// agentsAtOnce returns how many agents may be at work at one time. Of an open loop without a bound nobody
// knows: then it is 0.
func (a *assembly) agentsAtOnce() int {
	f := &a.s.Fleet
	workers := f.Workers
	if workers == 0 {
		workers = f.Agents
	}
	switch d := a.o.Demand; {
	case d == nil:
		return f.Agents + len(a.arrivals)
	case d.OpenLoop():
		return f.Workers
	default:
		most := d.WithAgents(workers)
		return int(math.Ceil(most.Peak()))
	}
}

// outputs returns how much the simulated model writes. Of a trace that is gone through again and again,
// each task writes what it wrote the first time.
func (a *assembly) outputs() func(user string, call, promptTokens int) (tokens, reasoningTokens int) {
	outputs := agents.Outputs(a.w, &a.s.Workflow, a.tasks)
	if a.o.Demand == nil || a.tasks == nil {
		return outputs
	}
	return func(user string, call, promptTokens int) (int, int) {
		return outputs(harness.FirstID(user), call, promptTokens)
	}
}

// loadFor is load for a run: with a demand nothing arrives but what that asks for, and a trace's tasks are all
// there to be gone through.
func (s *Scenario) loadFor(o *Options) ([]harness.Arrival, []agents.Task, error) {
	if o.Demand == nil {
		return s.load()
	}
	if s.Workflow.Trace == "" {
		return nil, nil, nil
	}
	trace, err := workload.ReadFile(s.Workflow.Trace)
	if err != nil {
		return nil, nil, &InputError{Source: "workflow.trace", Msg: err.Error()}
	}
	return nil, agents.TraceTasks(trace), nil
}
