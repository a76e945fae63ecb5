package diagnose_test

import (
	"encoding/json"
	"fmt"
	"os"

	"example.com/wedge/harness"
	"example.com/wedge/repro/diagnose"
)

// Evidence as it was captured when two agents had waited for each other's lock for a minute.
func ExampleDiagnose() {
	text, err := os.ReadFile("testdata/lock-order.evidence.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	var ev harness.Evidence
	if err := json.Unmarshal(text, &ev); err != nil {
		fmt.Println(err)
		return
	}
	v := diagnose.Diagnose(&ev, nil)
	fmt.Printf("%s, layer %s, cause %s\n", v.Outcome, v.Layer, v.Cause)
	best := v.Hypotheses[0]
	for _, observation := range best.For {
		fmt.Println("+", observation)
	}
	fmt.Println("next:", v.Next[0])
	// Output:
	// deadlocked, layer harness, cause lock-order
	// + a cycle of waits: agent-01 waits for semaphore journal.lock, held by agent-02, who waits for semaphore workspace.lock, held by agent-01
	// + each of these waits has stood for at least 70.0 s
	// + 28 agents wait behind the cycle
	// next: take the locks in one order everywhere, or hold one at a time
}

// A run that was stopped at its horizon while a stall was open has the outcome of that stall.
func ExampleFinal() {
	end := &harness.Evidence{At: 7_200_000_000_000, Setup: harness.Setup{Agents: 30}, Totals: harness.Totals{AgentsDone: 4}}
	open := diagnose.Verdict{Outcome: diagnose.Wedged, Layer: diagnose.LayerStream, Cause: diagnose.CauseSilentStream}
	c := diagnose.Final(end, []diagnose.Verdict{open}, diagnose.EndedAtHorizon)
	fmt.Println(c.Outcome)
	fmt.Println(c.Summary)
	// Output:
	// wedged
	// The run reached its horizon in a stall (wedged, cause silent-stream): 4 of 30 tasks done, 0 failed, after 7200.0 s.
}
