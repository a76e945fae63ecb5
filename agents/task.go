package agents

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/sim"
)

// Task is the work of one agent from its first call to its last.
type Task struct {
	// ID is unique in the run. It keys the task's draws, names the folder of its articles and stands in
	// the user field of its requests.
	ID string
	// Calls, unless empty, are played as a trace has them: one call a step, in one round. The prompt of
	// a call has PrefixTokens + InputTokens tokens, unless the conversation was longer before it, and
	// WaitAfter is how long the tool after it runs.
	Calls []workload.Call
	// Arrival is when the trace has the task begin, counted from its start.
	Arrival time.Duration
}

// Purposes of the streams that are keyed by a task's id.
const (
	purposeThink   = "think"
	purposeTool    = "tool_time"
	purposeMessage = "message_tokens"
	purposeOutput  = "output_tokens"
	purposePause   = "pause"
	purposeCalls   = "task_calls"
)

// TraceTasks returns a task for each session of a trace, in the order of their arrival.
func TraceTasks(t workload.Trace) []Task {
	sessions := slices.Clone(t.Sessions)
	slices.SortStableFunc(sessions, func(a, b workload.Session) int { return cmp.Compare(a.Arrival, b.Arrival) })
	tasks := make([]Task, len(sessions))
	for i := range sessions {
		tasks[i] = Task{ID: sessions[i].ID, Calls: sessions[i].Calls, Arrival: sessions[i].Arrival}
	}
	return tasks
}

// OutputOf returns how many tokens the simulated model generates in a call of a task, at least 1, and
// how many of them are reasoning, always fewer. The call is the number of calls that the task has made
// before it, which is the number of assistant messages in the prompt. It is a function of the world's
// seed, the workflow, the task and the call alone.
func OutputOf(w sim.World, wf *Workflow, t *Task, call int) (tokens, reasoningTokens int) {
	if call < len(t.Calls) {
		tokens = t.Calls[call].OutputTokens
	} else {
		draw := w.Stream(t.ID, purposeOutput).At(call)
		tokens = wf.OutputTokens.Sample(&draw)
	}
	tokens = min(max(tokens, 1), MessageTokensLimit)
	return tokens, min(int(wf.ReasoningShare*float64(tokens)), tokens-1)
}

// Outputs returns OutputOf as the simulated model asks for it: by the user field of the request. A
// user that is no trace's task is a task of its own, since sub-agents send theirs.
func Outputs(w sim.World, wf *Workflow, tasks []Task) func(user string, call, promptTokens int) (tokens, reasoningTokens int) {
	traced := map[string]*Task{}
	for i := range tasks {
		if len(tasks[i].Calls) > 0 {
			traced[tasks[i].ID] = &tasks[i]
		}
	}
	return func(user string, call, _ int) (int, int) {
		if t := traced[user]; t != nil {
			return OutputOf(w, wf, t, call)
		}
		return OutputOf(w, wf, &Task{ID: user}, call)
	}
}
