package harness

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
)

// TestTasksOutOfTime checks that tasks which a limit of theirs has ended are counted, and that the journal
// names the limit.
func TestTasksOutOfTime(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	var log bytes.Buffer
	l := NewLedger(w, NewJournal(w, &log))
	w.Lock()
	defer w.Unlock()
	for i, limit := range []string{agents.LimitTask, agents.LimitRound, agents.LimitTask} {
		agent := fmt.Sprint("agent-0", i+1)
		l.TaskStarted(agent, "task")
		l.TaskEnded(agent, "task", fmt.Errorf("agents: %s: %w", agent, &agents.LimitError{Limit: limit, After: time.Minute}))
	}
	if n := l.total; n.AgentsFailed != 3 || n.TaskLimits != 2 || n.RoundLimits != 1 {
		t.Errorf("counted %d failed, %d by the task's limit, %d by a round's; want 3, 2, 1", n.AgentsFailed, n.TaskLimits, n.RoundLimits)
	}
	const want = `"event":"agent_end","agent":"agent-02","task":"task","ok":false,"limit":"round","error":"agents: agent-02: round limit (1m0s) exceeded"`
	if !strings.Contains(log.String(), want) {
		t.Errorf("the journal lacks %s:\n%s", want, log.String())
	}
}
