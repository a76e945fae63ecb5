package harness_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// slowModel is a backend that takes its time over every answer, and then ends the round.
type slowModel struct {
	w    sim.World
	each time.Duration
}

func (m slowModel) Open(ctx context.Context, a *pacer.Attempt, _ openai.ChatCompletionRequest) (pacer.Stream, error) {
	a.Connected()
	return &slowAnswer{m: m, ctx: ctx}, nil
}

type slowAnswer struct {
	m    slowModel
	ctx  context.Context
	done bool
}

func (s *slowAnswer) Recv() (r openai.ChatCompletionStreamResponse, err error) {
	if s.done {
		return r, io.EOF
	}
	s.done = true
	r.Choices = []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "Done."}}}
	return r, s.m.w.Sleep(s.ctx, s.m.each)
}

func (s *slowAnswer) Progress() pacer.Progress { return pacer.Progress{} }
func (s *slowAnswer) Close() error             { return nil }

// A fleet of four agents shares two slots, and each answer takes 100 s: nothing finishes for a minute,
// which the watchdog raises as a stall, but it ends by itself.
func Example() {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	ledger := harness.NewLedger(w, nil)
	config := pacer.DefaultConfig()
	config.Slots = 2
	p, err := pacer.New(w, config, pacer.DefaultPolicy(), slowModel{w, 100 * time.Second}, ledger.CallObserver(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	workflow := agents.DefaultWorkflow()
	workflow.Rounds = 1
	workspace := agents.NewMemory(agents.NewShared(w, &workflow))
	fleet, err := harness.New(w, ledger, harness.Options{
		Name:     "example-1",
		Fleet:    harness.Config{Agents: 4},
		Watchdog: harness.DefaultWatchdog(),
		Calls:    p.Calls,
		Run: func(ctx context.Context, name string, task agents.Task) error {
			return agents.New(w, name, &workflow, workspace, p, ledger.AgentObserver(), nil).Run(ctx, task)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		report, err := fleet.Run(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		stall := report.Episodes[0]
		fmt.Printf("%v: %d agents done, %d stalls\n", report.Why, report.Totals.AgentsDone, report.Stalls)
		fmt.Printf("the first one found after %v:\n", stall.First.StalledFor)
		for _, c := range stall.First.Calls {
			fmt.Printf("  %s in stage %v, slot %v\n", c.ID, c.Stage, c.HoldsSlot)
		}
		fmt.Printf("it ended by itself: %v\n", !stall.Open())
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// completed: 4 agents done, 2 stalls
	// the first one found after 1m0s:
	//   agent-02-c001 in stage first_token, slot true
	//   agent-01-c001 in stage first_token, slot true
	//   agent-03-c001 in stage slot, slot false
	//   agent-04-c001 in stage slot, slot false
	// it ended by itself: true
}
