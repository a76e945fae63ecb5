package agents_test

import (
	"context"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
)

// TestForgets: an agent that forgets leaves neither an article nor objects behind, the mailbox of its sub-agents included.
func TestForgets(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		wf := agents.DefaultWorkflow()
		wf.Rounds, wf.ToolOutputBytes = 2, 100
		wf.SubAgents.PerRound, wf.SubAgents.Results = 2, agents.ResultsMailbox
		ws := agents.NewMemory(agents.NewShared(w, &wf))
		for _, forgets := range []bool{false, true} {
			before := len(w.Objects())
			a := agents.New(w, "agent-1", &wf, ws, &player{w: w, latency: time.Second}, nil, nil)
			if forgets {
				a.Forgets()
			}
			if err := a.Run(ctx, agents.Task{ID: "task-1"}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if _, there := ws.Article("task-1/article.md"); there == forgets {
				t.Errorf("seed %d: the article is there: %v, although the agent forgets: %v", seed, there, forgets)
			}
			if left := len(w.Objects()) - before; left == 0 != forgets {
				t.Errorf("seed %d: %d objects are left, although the agent forgets: %v", seed, left, forgets)
			}
		}
	})
}
