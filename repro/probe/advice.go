package probe

import (
	"strings"

	"example.com/wedge/repro/diagnose"
)

// adviceFor is what to do about a cause on a live system: the diagnosis's own advice is about the
// settings of runs of wedge, of which no line that begins with one is of use here.
func adviceFor(v *diagnose.Verdict) []string {
	var out []string
	switch v.Cause {
	case diagnose.CauseSilentStream, diagnose.CauseCommentStream:
		out = append(out,
			"end a stream that has brought no token for a minute, and try again: a limit on the time between tokens in the client (http.Client.Timeout limits the whole answer, which is another thing)",
			"look at what sits between client and router (proxy, NAT, load balancer) and drops quiet connections")
	case diagnose.CauseStarvation:
		out = append(out, "raise the client's own limit of calls at once, if the servers take that many: look at tokens a second before and after")
	case diagnose.CauseConnectionPool:
		out = append(out, "raise or drop the client's limit of connections to one host (in Go: http.Transport.MaxConnsPerHost): it should not be below the number of calls at once")
	case diagnose.CauseLongContextDecode, diagnose.CauseRouterLost, diagnose.CauseBadPairing, diagnose.CauseInflightPin, diagnose.CauseDecodeMemory:
		out = append(out, "give each call a limit on the time to its first token, so that what the servers hold for ever does not hold the client as well")
	}
	for _, line := range v.Next {
		if strings.HasPrefix(line, "--") || strings.Contains(line, "policy.") || strings.Contains(line, "pacer.") || strings.Contains(line, "watchdog.") {
			continue
		}
		out = append(out, line)
	}
	return out
}
