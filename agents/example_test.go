package agents_test

import (
	"context"
	"fmt"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
)

// An agent works on a task in virtual time. The Chatter would be a pacer; here it plays the model
// itself and answers at once.
func Example() {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	wf := agents.DefaultWorkflow()
	wf.Rounds = 1
	ws := agents.NewMemory(agents.NewShared(w, &wf))
	err := w.Run(context.Background(), func(ctx context.Context) {
		a := agents.New(w, "agent-01", &wf, ws, &player{w: w}, nil, nil)
		if err := a.Run(ctx, agents.Task{ID: "task-01"}); err != nil {
			fmt.Println(err)
		}
	})
	text, saved := ws.Article("task-01/article.md")
	fmt.Printf("%v, saved %v, by instant %.1f s: %q\n", err, saved, w.Now().Seconds(), text)
	// Output:
	// <nil>, saved true, by instant 9.8 s: "write 2\nappend 3\n"
}
