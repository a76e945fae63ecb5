package record_test

import (
	"fmt"
	"os"
	"time"

	"example.com/wedge/harness/record"
	"example.com/wedge/pacer"
)

// How long calls were in each stage, from a journal.
func Example() {
	var in [pacer.StageCount]time.Duration
	summary, err := record.ReadAll(os.DirFS("testdata"), "hedged.jsonl", record.Handler{
		Call: func(c *record.Call) {
			for _, s := range c.Spans {
				in[s.Stage] += s.To.Sub(s.From)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary.Run, "took", summary.To.Sub(summary.From).Round(time.Second))
	for stage, took := range in {
		if took > 0 {
			fmt.Println(pacer.Stage(stage), took.Round(time.Millisecond))
		}
	}
	// Output:
	// starvation-1 took 6m30s
	// headers 16.268s
	// stream 11m56.635s
}

// A reader that is fed while the run goes on.
func ExampleReader() {
	r := record.NewReader("events.jsonl", record.Handler{
		Task: func(t *record.Task) { fmt.Println(t.Agent, "worked for", t.To.Sub(t.From), "ended:", !t.Open) },
	})
	for _, line := range []string{
		`{"t_s":0.000000000,"event":"run_start","run":"tiny-1","agents":2,"workers":2}`,
		`{"t_s":1.000000000,"event":"task_start","agent":"agent-01","task":"task-01"}`,
		`{"t_s":2.000000000,"event":"task_start","agent":"agent-02","task":"task-02"}`,
		`{"t_s":4.500000000,"event":"agent_end","agent":"agent-01","task":"task-01","ok":true}`,
	} {
		if err := r.Feed([]byte(line)); err != nil {
			fmt.Println(err)
		}
	}
	r.Close()
	// Output:
	// agent-01 worked for 3.5s ended: true
	// agent-02 worked for 2.5s ended: false
}
