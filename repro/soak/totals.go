package soak

import "example.com/wedge/repro/series"

// Totals counts what happened in all windows of a soak, those of the warm-up included. On the wall that is also what
// happened before it was resumed.
type Totals struct {
	Windows     int `json:"windows"`
	TasksBegun  int `json:"tasks_begun"`
	TasksDone   int `json:"tasks_done"`
	TasksFailed int `json:"tasks_failed"`
	CallsBegun  int `json:"calls_begun"`
	CallsOK     int `json:"calls_ok"`
	CallsFailed int `json:"calls_failed"`
	Attempts    int `json:"attempts"`
	// Again are those of Attempts that were not the first of their call.
	Again          int     `json:"attempts_again"`
	AttemptsOK     int     `json:"attempts_ok"`
	Steps          int     `json:"steps"`
	Tools          int     `json:"tools"`
	TokensReceived int     `json:"tokens_received"`
	TokensWasted   int     `json:"tokens_wasted"`
	TokensPrompt   int     `json:"tokens_prompt"`
	StalledS       float64 `json:"stalled_s"` // for how long no step had finished, in stalls
	LastS          float64 `json:"last_s"`    // end of the last window, on the run's clock
}

func (t *Totals) add(w *series.Window) {
	t.Windows++
	t.TasksBegun += w.Tasks.Begun
	t.TasksDone += w.Tasks.Done
	t.TasksFailed += w.Tasks.Failed
	t.CallsBegun += w.Calls.Begun
	t.CallsOK += w.Calls.OK
	t.CallsFailed += w.Calls.Failed
	t.Attempts += w.Attempts.Begun
	t.Again += w.Attempts.Again
	t.AttemptsOK += w.Attempts.OK
	t.Steps += w.Steps
	t.Tools += w.Tools
	t.TokensReceived += w.Tokens.Received
	t.TokensWasted += w.Tokens.Wasted
	t.TokensPrompt += w.Tokens.Prompt
	t.StalledS += w.Stalls.S
	t.LastS = w.ToS
}
