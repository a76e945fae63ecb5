package guest

import (
	"fmt"
	"path/filepath"

	"example.com/wedge/repro/diagnose"
)

// noRequest is for a harness that has not found the servers, by the looks of it.
const noRequest = "see whether the harness asks these servers at all: its client must take the base URL from OPENAI_BASE_URL; --url-env NAME sets another variable"

// next says what to try, to somebody whose own harness it is: what the diagnosis advises is about the
// fields of a scenario's pacer and policy.
func (j *judge) next(v *diagnose.Verdict) []string {
	advice := map[diagnose.Cause][]string{
		diagnose.CauseSilentStream: {
			"end a stream in the harness when nothing has come for a while (60 s, say), and try again: a limit on the whole call, if there is one, is longer than this",
			"see that the limit is on the gap between events, and that its end gives the slot back",
		},
		diagnose.CauseCommentStream: {
			"count tokens and not bytes: comments keep a limit on silence from firing; limit the time without a token",
		},
		diagnose.CauseRouterQueue: {
			"have fewer requests out at once than the router takes, or raise its limit (max-queued-requests)",
			"after a 503 wait longer each time, with jitter; the official clients' own retries come within a second or two",
		},
		diagnose.CauseRetryStorm: {
			"after a 429 or 503 wait longer each time, with full jitter, and heed Retry-After",
			"give retries a budget: a share of what succeeds, for the whole harness",
		},
		diagnose.CauseTimeoutCascade: {
			"raise the harness's time limit above the time that an answer takes, or limit the time without a token instead of the whole",
			"see whether the servers stop working on what was left",
		},
		diagnose.CauseConnectionDead: {
			"have the harness's HTTP client notice dead connections: TCP keepalive, HTTP/2 pings, a limit on the wait for response headers",
		},
		diagnose.CauseSlowServer: {
			"wait: the servers work on it. --stall-after above the length of a call, if calls may be this long",
		},
	}
	if v.Layer == diagnose.LayerHarness {
		out := j.aboutDumps()
		if n := j.g.table.counts(); n.Requests == 0 && len(n.Elsewhere) == 0 {
			out = append([]string{noRequest}, out...)
		}
		return out
	}
	if own := advice[v.Cause]; own != nil {
		return own
	}
	out := v.Next
	if v.Outcome.Hang() && v.Cause == diagnose.CauseUnknown {
		out = append(out, j.aboutDumps()...)
	}
	return out
}

// aboutDumps says how to see what the harness waits for.
func (j *judge) aboutDumps() []string {
	if d := j.dumps.last(); d != nil && d.Err == "" {
		out := []string{"go through what the harness's own goroutines wait for, above: what they wait for is in the harness, and no server can end it"}
		if dir := j.g.bundle.Dir(); dir != "" && d.File != "" {
			out = append(out, fmt.Sprintf("wedge dump %s shows who waits for whom, and where in the source", filepath.Join(dir, d.File)))
		}
		return out
	}
	return []string{
		"look at what the harness itself waits for: --pprof URL if it is a Go program that serves net/http/pprof, --quit if it is one that does not",
		"other languages: py-spy dump --pid PID, or kill -USR1 of a Node that runs with --inspect",
	}
}
