package pacer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// On the wall, the process of a call asks for its labels again at each stage, when the new stage is
// there to be read.
func TestRelabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{Seed: seed})
		var got []string
		err := w.Run(t.Context(), func(ctx context.Context) {
			b := &backend{w: w, play: func(a *pacer.Attempt) script {
				if a.Number == 1 {
					return script{connect: s, headers: s, refuse: busy()}
				}
				return script{chunks: []chunk{say(s, "x")}}
			}}
			config := slots(1, pacer.HoldStream)
			config.RequestsPerSecond = 0.1
			p, err := pacer.New(w, config, quick(), b, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			sim.ProcessOf(ctx).SetLabels(func() []string {
				stage := "think"
				for _, c := range p.Calls() {
					stage = c.Stage.String()
				}
				got = append(got, stage)
				return []string{"stage", stage}
			})
			_, _ = p.Chat(ctx, identity("agent", 1), request())
		})
		if err != nil {
			t.Error(err)
		}
		if want := "[think connect headers backoff rate connect headers first_token stream think]"; fmt.Sprint(got) != want {
			t.Errorf("labels %v, want %s", got, want)
		}
	})
}
