package repro

import (
	"fmt"
	"slices"
	"strings"

	"example.com/wedge/agents"
	"example.com/wedge/harness/fault"
)

func (s *Scenario) validateFaults() error {
	for i, f := range s.Faults {
		block := fmt.Sprintf("faults[%d]", i)
		if err := f.Validate(); err != nil {
			return s.bad(block, err)
		}
		if err := s.canHappen(&f); err != nil {
			return s.bad(block, err)
		}
		if slices.IndexFunc(s.Faults, func(o fault.Fault) bool { return o.ID == f.ID }) != i {
			return s.bad(block, fmt.Errorf("id: found %q twice, want ids that differ", f.ID))
		}
	}
	return nil
}

// canHappen refuses a fault that the rest of the scenario leaves no place for.
func (s *Scenario) canHappen(f *fault.Fault) error {
	wf := &s.Workflow
	switch {
	case f.Tool != "" && !slices.Contains(wf.Tools, f.Tool):
		return fmt.Errorf("tool: found %q, want one of the workflow's: %s", f.Tool, strings.Join(wf.Tools, ", "))
	case f.Worker != "" && !slices.Contains(s.Servers.WorkerNames(), f.Worker):
		return fmt.Errorf("worker: found %q, want one of %s", f.Worker, strings.Join(s.Servers.WorkerNames(), ", "))
	case f.What == fault.LockOrder && !wf.Locks:
		return fmt.Errorf("what: found %q while workflow.locks is false, want it true: without locks there is no order", f.What)
	case f.What == fault.LockOrder && wf.LockScope != agents.LockTool:
		return fmt.Errorf("what: found %q while workflow.lock_scope is %s, want it %s: a tool takes no lock of its own there", f.What, wf.LockScope, agents.LockTool)
	case f.What == fault.Unread && wf.ToolOutputBytes == 0:
		return fmt.Errorf("what: found %q while workflow.tool_output_bytes is 0, want it at least 1: tools that print nothing need no reader", f.What)
	case f.Where == fault.Harness && (wf.SubAgents.PerRound == 0 || wf.SubAgents.Results != agents.ResultsMailbox):
		return fmt.Errorf("where: found %s, want workflow.sub_agents.per_round at least 1 and workflow.sub_agents.results %s: it happens where sub-agents leave their results", f.Where, agents.ResultsMailbox)
	}
	return nil
}
