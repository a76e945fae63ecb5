package agents

import (
	"context"

	"example.com/wedge/harness/sim"
)

// print lets a tool write what it prints into the pipe of the agent's tools. What it prints is more than
// the pipe holds only if nobody reads: then it waits, and with it the agent.
func (a *Agent) print(ctx context.Context, tool string) error {
	if a.wf.ToolOutputBytes == 0 {
		return nil
	}
	name := "output of the tools of " + a.state.Name
	if a.job.output == nil {
		var err error
		if a.job.output, err = sim.NewPipe(a.w, name); err != nil {
			return err
		}
	}
	a.waitFor([]string{name})
	defer a.waitFor(nil)
	for left := a.wf.ToolOutputBytes; left > 0; left -= sim.PipeBytes {
		if err := a.job.output.Write(ctx, min(left, sim.PipeBytes), sim.Party{Name: a.state.Name, What: tool}); err != nil {
			return err
		}
		if a.job.unread {
			continue
		}
		if err := a.job.output.Drain(); err != nil {
			return err
		}
	}
	return nil
}
