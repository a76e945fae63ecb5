package agents

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/agents/workload"
)

// profiles are the workflows that have a name.
var profiles = [...]struct {
	name, about string
	make        func() Workflow
}{
	{"incident", "articles about messages of long conversations, 3,000 to 4,500 output tokens a call: the default", DefaultWorkflow},
	{"tracelab", "interactive coding agents (TraceLab): many short answers, shell tools, pauses of their users", traceLabProfile},
	{"swe", "one bug of a repository a task (SWE-rebench): some 43 short calls in a growing context, no user", sweProfile},
}

// Profiles returns the profiles, each as its name, a tab, and what it is like in one line.
func Profiles() []string {
	lines := make([]string, 0, len(profiles))
	for i := range profiles {
		lines = append(lines, profiles[i].name+"\t"+profiles[i].about)
	}
	return lines
}

// ProfileNames returns the names of the profiles.
func ProfileNames() []string {
	names := make([]string, 0, len(profiles))
	for i := range profiles {
		names = append(names, profiles[i].name)
	}
	return names
}

// Profile returns the workflow of that name. The error lists the names.
func Profile(name string) (Workflow, error) {
	for i := range profiles {
		if profiles[i].name == name {
			wf := profiles[i].make()
			wf.Profile = name
			return wf, nil
		}
	}
	return Workflow{}, fmt.Errorf("profile: found %q, want one of %s", name, strings.Join(ProfileNames(), ", "))
}

// traceLabProfile is what 43 developers did with two coding agents: 4,265 sessions with 357,161 calls, of
// which TraceLab (uw-syfi/TraceLab at commit 0b8a262, arXiv 2606.30560; data CC BY 4.0) publishes the
// figures that the distributions here are fitted to:
//
//	calls of a request      about 8
//	output tokens of a call p50 252 and 184 (two harnesses), p90 below 1,700
//	appended input tokens   p50 some 870; 90 % below 1,000, and most of the sum from appends of 10,000 and more
//	tool time               61 % below 1 s, 27 % 1 to 10 s, 8 % 10 to 60 s, 4 % above, with a mean of 16.8 s
//	pause of the user       p50 86 s, p90 1,236 s
//
// A task is a session of three requests. Conversations begin at 20,000 tokens; those of the study, with a
// median of 126,000, were mostly older than a task here. 96 % of the input was cached, which is the servers'
// affair: servers.prefill.cache_hit. Not in the data: how much of the output is reasoning, which is
// therefore 0.
func traceLabProfile() Workflow {
	wf := DefaultWorkflow()
	wf.Rounds, wf.Steps = 3, 8
	wf.Tools = []string{ToolReadMessage}
	wf.Think, wf.FreshMessages = workload.Duration{}, true
	wf.ToolTime = ToolTimes{ReadMessage: workload.Must(workload.Mixture(
		workload.Part[time.Duration]{Weight: 61, Dist: clampedSigma(150*time.Millisecond, 1.5, 10*time.Millisecond, time.Second)},
		workload.Part[time.Duration]{Weight: 27, Dist: clampedSigma(3*time.Second, 0.7, time.Second, 10*time.Second)},
		workload.Part[time.Duration]{Weight: 8, Dist: clampedSigma(22*time.Second, 0.5, 10*time.Second, time.Minute)},
		workload.Part[time.Duration]{Weight: 4, Dist: clampedSigma(200*time.Second, 1, time.Minute, 30*time.Minute)},
	))}
	wf.Pause = clampedSigma(86*time.Second, 2.08, time.Second, 2*time.Hour)
	wf.SystemTokens = 20_000
	wf.MessageTokens = workload.Must(workload.Mixture(
		workload.Part[int]{Weight: 90, Dist: workload.Must(workload.Must(workload.LogNormal(800, 990)).Clamp(50, 1_000))},
		workload.Part[int]{Weight: 10, Dist: workload.Must(workload.Must(workload.LogNormal(14_000, 30_000)).Clamp(10_000, 60_000))},
	))
	wf.OutputTokens = workload.Must(workload.Must(workload.LogNormal(220, 1_600)).Clamp(16, 16_000))
	wf.ReasoningShare = 0
	return wf
}

// sweProfile is a harness that works on one issue of a repository without anybody who is asked: SWE-rebench
// with a coding agent and a local model, as eunomia-bpf/agentcgroup (commit 5af9e7b) recorded it. The
// figures are statistics over up to 113 tasks, p50 and p95, to which log-normals are fitted:
//
//	calls of a task           43, 112
//	output tokens of a call   136, 752
//	growth of the context     409, 2,394 tokens a call; less the output: 273, 1,642
//	tool time                 30 ms, 10.9 s
//	context of a call         39,700, 76,500 tokens
//
// Conversations begin at 24,000 tokens, so that the median call has the context that it should.
func sweProfile() Workflow {
	wf := DefaultWorkflow()
	wf.TaskCalls = workload.Must(workload.Must(workload.LogNormalSigma(43, 0.582)).Clamp(4, 400))
	wf.Steps = 20
	wf.Tools = []string{ToolReadMessage}
	wf.Think, wf.FreshMessages = workload.Duration{}, true
	wf.ToolTime = ToolTimes{ReadMessage: clampedSigma(30*time.Millisecond, 3.584, time.Millisecond, 10*time.Minute)}
	wf.SystemTokens = 24_000
	wf.MessageTokens = workload.Must(workload.Must(workload.LogNormalSigma(273, 1.09)).Clamp(10, 30_000))
	wf.OutputTokens = workload.Must(workload.Must(workload.LogNormalSigma(136, 1.04)).Clamp(8, 16_000))
	wf.ReasoningShare = 0
	return wf
}

// clampedSigma is a log-normal within bounds.
func clampedSigma(median time.Duration, sigma float64, least, most time.Duration) workload.Duration {
	return workload.Must(workload.Must(workload.LogNormalSigma(median, sigma)).Clamp(least, most))
}
