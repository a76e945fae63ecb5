package probe

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/repro/diagnose"
)

// judgement is what a finding makes of the verdict.
type judgement struct {
	finding  Finding
	headline string
	outcome  diagnose.Outcome // empty: the diagnosis's own
	layer    diagnose.Layer
	cause    diagnose.Cause
	why      string
	next     []string
	// grounds are the counts by which the probe itself decided for the cause, which the diagnosis is not
	// told of. Nil: the diagnosis found it.
	grounds []string
}

// judge weighs what was seen. The diagnosis explains calls that do not move; before it stand what it
// is not told of (servers that do not answer, refusals by the router's count), and behind it what a
// system without stuck calls shows.
func (p *prober) judge(v *diagnose.Verdict, s *Sides, facts []TargetFact) judgement {
	for _, look := range []func(*diagnose.Verdict, *Sides, []TargetFact) (judgement, bool){
		p.dead, p.cutShort, p.refusing, p.held, p.silent, p.inside, p.stuck, p.failing, p.unanswered, p.idle,
	} {
		if j, ok := look(v, s, facts); ok {
			return j
		}
	}
	return p.healthy(s)
}

// dead finds servers that do not answer, or say that they are not well.
func (p *prober) dead(_ *diagnose.Verdict, s *Sides, facts []TargetFact) (judgement, bool) {
	var lines []string
	layer := diagnose.LayerNone
	for _, f := range facts {
		if f.Role == RoleClient {
			continue
		}
		line := ""
		switch {
		case !f.Alive:
			line = fmt.Sprintf("%s does not answer: %s (%d of %d readings came)", f.name(), f.Error, f.Read, f.Asked)
		case f.Health.Asked && f.Health.Status >= 500:
			line = fmt.Sprintf("%s says that it is not healthy: GET %s gives HTTP status %d", f.name(), pathHealth, f.Health.Status)
		default:
			continue
		}
		lines = append(lines, line)
		if layer == diagnose.LayerNone {
			layer = layerOf(f.Role)
		}
	}
	last := p.readings[len(p.readings)-1]
	if n, _ := last.value(harness.GaugeUnhealthyWorkers); n >= 1 {
		lines = append(lines, "the router counts "+plural(int(min(n, math.MaxInt32)), "unhealthy worker"))
		layer = cmp.Or(nameless(layer), diagnose.LayerRouter)
	}
	if n, _ := last.value(harness.GaugeOpenBreakers); n >= 1 && len(lines) > 0 {
		lines = append(lines, "the router has given up on "+plural(int(min(n, math.MaxInt32)), "worker")+" for now (open circuit breaker)")
	}
	if len(lines) == 0 {
		return judgement{}, false
	}
	j := judgement{finding: FoundDead, outcome: diagnose.Failed, layer: layer, cause: diagnose.CauseUnknown}
	j.headline = "a server is dead or not reachable from here: " + lines[0]
	if len(lines) > 1 {
		j.why = upper(strings.Join(lines[1:], "; ")) + "."
	}
	j.next = []string{
		"look at the process and the end of its log at that address; if it runs, is the URL right, and reachable from this machine?",
		"start it anew, then probe once more: requests that it had are lost, and whoever waits for them without a time limit waits for ever",
	}
	if p.reply.Answered() {
		j.why = strings.TrimSpace(j.why + " Other servers still answer: " + p.reply.Text() + ".")
	}
	return j, true
}

// nameless is no layer instead of the one called none.
func nameless(l diagnose.Layer) diagnose.Layer {
	if l == diagnose.LayerNone {
		return ""
	}
	return l
}

func layerOf(r Role) diagnose.Layer {
	switch r {
	case RoleRouter:
		return diagnose.LayerRouter
	case RolePrefill:
		return diagnose.LayerPrefill
	case RoleDecode, RoleEngine:
		return diagnose.LayerDecode
	}
	return diagnose.LayerNone
}

// refusedMin is the least number of refusals in a window that are more than an accident.
const refusedMin = 3

// refusing finds a router that refuses at least as many requests as it takes.
func (p *prober) refusing(_ *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	d := p.moved()
	n := max(d.refused.busy429, 0) + max(d.refused.busy503, 0)
	if n < refusedMin || d.arrived > 0 && 2*n < d.arrived {
		return judgement{}, false
	}
	from, to := p.window()
	j := judgement{finding: FoundRefused, outcome: diagnose.Storming, layer: diagnose.LayerRouter, cause: diagnose.CauseRouterQueue}
	status := "503 (queue full, or no worker)"
	if d.refused.busy429 > d.refused.busy503 {
		j.cause, j.layer, status = diagnose.CauseRetryStorm, diagnose.LayerPacer, "429 (too many requests)"
	}
	of := ""
	if d.arrived > 0 {
		of = fmt.Sprintf(" of %s that arrived", plural(int(d.arrived), "request"))
	}
	j.headline = fmt.Sprintf("the router refused %d%s in %s, most with status %s", int(n), of, span(time.Duration(to-from)), status)
	j.grounds = []string{j.headline}
	if text := s.hasText(); text != "" {
		j.why = upper(text) + "."
	}
	if s.Finished != nil {
		j.why += fmt.Sprintf(" The engines finished %s meanwhile.", plural(*s.Finished, "request"))
	}
	if p.reply != nil && p.reply.Status >= 400 {
		j.why += " " + upper(p.reply.Text()) + "."
	}
	j.next = []string{
		"compare the clients' concurrency with the router's limit (--max-queued-requests, or its concurrency and rate limits): ask for less at once, or raise the limit",
		"let clients wait before they try again (backoff with jitter, Retry-After), or retries keep the router full",
	}
	return j, true
}

// held finds calls that wait before the router: out for their client, and unknown to the servers.
func (p *prober) held(v *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	out := s.ByStage["connect"] + s.ByStage["headers"] + s.ByStage["stream"] + s.ByStage["first_token"]
	if s.Router == nil || s.Clients == 0 || s.Held < 2 || 2*s.Held < out {
		return judgement{}, false
	}
	from, to := p.window()
	window := time.Duration(to - from)
	j := judgement{finding: FoundHeld, outcome: v.Outcome, layer: v.Layer, cause: v.Cause, why: v.Why}
	j.headline = fmt.Sprintf("held before the router: %s, %s", s.waitText(), s.hasText())
	if v.Layer != diagnose.LayerConnection || !v.Outcome.Hang() {
		j.layer, j.outcome, j.cause = diagnose.LayerConnection, diagnose.Wedged, diagnose.CauseUnknown
	}
	if j.cause != diagnose.CauseConnectionPool {
		j.why = fmt.Sprintf("%s for %s or more, and the servers do not have %s: what holds %s is the client's connection pool, a connection that is dead and that nobody has noticed, or something between client and router (proxy, load balancer, NAT).",
			upper(does(s.Held, "request", "has waited", "have waited")), span(window), verb(s.Held, "it", "them"), verb(s.Held, "it", "them"))
	}
	switch {
	case p.reply.Answered():
		j.why += " " + upper(p.reply.Text()) + ", on a new connection: the way to the servers is open for whoever takes a new one."
	case p.reply != nil:
		j.why += " " + upper(p.reply.Text()) + ": new connections fare no better."
	}
	const elsewhere = "do not look at the engines for this: they do not have these requests"
	if j.cause == diagnose.CauseConnectionPool {
		j.next = append([]string{elsewhere}, adviceFor(&diagnose.Verdict{Cause: j.cause})...)
		return j, true
	}
	j.next = []string{
		elsewhere,
		"on the client's machine, list its connections to the router (ss -tnpi): few of them for many calls means a pool limit (in Go: http.Transport.MaxConnsPerHost), ESTAB with unacknowledged bytes means a dead way",
		"look at what sits between client and router (proxy, NAT, load balancer): its own connections and its log; then probe once more with the router's own address as the client sees it",
		"give the client a limit on the time to response headers (in Go: http.Transport.ResponseHeaderTimeout), and have HTTP/2 connections checked (ReadIdleTimeout, PingTimeout)",
	}
	return j, true
}

// silent finds streams that the client still reads and the router does not have any more.
func (p *prober) silent(_ *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	n := s.Lost
	if n < 2 || 2*n < s.StillStreams {
		return judgement{}, false
	}
	from, to := p.window()
	j := judgement{finding: FoundSilent, outcome: diagnose.Wedged, layer: diagnose.LayerStream, cause: diagnose.CauseSilentStream}
	j.headline = fmt.Sprintf("silent streams: %s an answer for %s or more, and %s now", plural(n, "call")+" of the client "+verb(n, "has read", "have read"), span(time.Duration(to-from)), s.hasNow())
	j.grounds = []string{fmt.Sprintf("%s one answer at both ends of the window, and %s", does(s.StillStreams, "call", "reads", "read"), s.hasNow())}
	j.why = fmt.Sprintf("The servers are done with %s of these streams, or have forgotten them, and the client has not had their end: nothing more will come on them. Without a limit on the time between tokens the client waits for ever, and so does whoever waits for the slots or workers that these calls hold.", countOf(n, s.StillStreams))
	if p.reply.Answered() {
		j.why += " " + upper(p.reply.Text()) + ": the servers are well, only these streams are lost."
	}
	j.next = adviceFor(&diagnose.Verdict{Cause: j.cause})
	return j, true
}

// countOf writes how many of a set.
func countOf(n, all int) string {
	if n == all {
		return fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%d of %d", n, all)
}

// waitText says what the held calls do.
func (s *Sides) waitText() string {
	var parts []string
	for _, stage := range [...]string{"connect", "headers"} {
		if n := s.ByStage[stage]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", plural(n, "call")+" of the client", doing(stage, n)))
		}
	}
	return list(parts)
}

// stuck takes what the diagnosis makes of calls that were there all the time.
func (p *prober) stuck(v *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	if p.stillCalls() == 0 {
		return judgement{}, false
	}
	j := judgement{outcome: v.Outcome, layer: v.Layer, cause: v.Cause, why: v.Why}
	if s.Clients == 0 && v.Cause == diagnose.CauseSlowServer {
		j.why = "The engines have what the router has, and make tokens."
	}
	switch {
	case v.Cause == diagnose.CauseUnknown && v.Outcome == diagnose.Slow:
		j.finding = FoundUnclear
		j.headline = "not clear from this: calls are out, and whether the servers work on them is not seen"
		if text := p.missingSide(s); text != "" {
			j.next = append(j.next, text)
		}
	case v.Outcome == diagnose.Slow:
		j.finding = FoundSlow
		j.headline = "slow, not stuck: " + p.workText(s)
		j.next = []string{"wait for the oldest answers; if they may not take so long, ask for fewer tokens or fewer requests at once, and look at tokens a second before and after"}
	case v.Cause == diagnose.CauseSilentStream || v.Cause == diagnose.CauseCommentStream:
		j.finding = FoundSilent
		j.headline = fmt.Sprintf("silent streams: %s an answer, and no engine works on %s", does(s.ByStage["stream"]+s.ByStage["first_token"], "call", "reads", "read"), verb(s.ByStage["stream"]+s.ByStage["first_token"], "it", "them"))
	default:
		j.finding = FoundStalled
		j.headline = fmt.Sprintf("%s, layer %s: %s", v.Outcome, v.Layer, p.workText(s))
	}
	j.next = append(j.next, adviceFor(v)...)
	switch {
	case p.reply != nil && p.reply.TimedOut && v.Outcome == diagnose.Slow:
		j.why += " But " + p.reply.Text() + ": those that are under way are served, new ones wait or get nothing."
		j.next = append([]string{"probe once more with a longer --limit: are new requests slow, or do they get nothing at all?"}, j.next...)
	case p.reply != nil:
		j.why += " " + upper(p.reply.Text()) + "."
	}
	return j, true
}

// missingSide says which URLs would have told more.
func (p *prober) missingSide(s *Sides) string {
	switch {
	case s.Router == nil:
		return "give the servers' URLs too (the router's, or those of the engines), while it hangs: whether they work on these calls is then seen"
	case !p.enginesSeen():
		return "give the engines' URLs too (prefill=URL, decode=URL), while it hangs: whether they work on these calls is then seen"
	case s.Clients == 0:
		return "give the client's URL too (client=URL of a Go program with net/http/pprof): what it waits for is then seen"
	}
	return "watch for longer (--for 5m)"
}

// workText says what the servers were seen to do, in numbers.
func (p *prober) workText(s *Sides) string {
	var parts []string
	if text := s.hasText(); text != "" {
		parts = append(parts, text)
	}
	first, last := p.readings[0], p.readings[len(p.readings)-1]
	if from, to := p.window(); to > from {
		a, okA := first.value(harness.GaugeDecodeTokens)
		b, okB := last.value(harness.GaugeDecodeTokens)
		if okA && okB && b >= a {
			parts = append(parts, fmt.Sprintf("decode made %.0f tokens (%.1f a second)", b-a, (b-a)/last.at.Sub(first.at).Seconds()))
		}
	}
	if s.Finished != nil {
		parts = append(parts, fmt.Sprintf("the engines finished %s", plural(*s.Finished, "request")))
	}
	if len(parts) == 0 {
		return "nothing is known of the servers"
	}
	from, to := p.window()
	return "in " + span(time.Duration(to-from)) + " " + list(parts)
}

// unanswered finds that the one request did not get through though nothing else shows.
func (p *prober) unanswered(_ *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	if p.reply == nil || p.reply.Answered() || p.reply.Error == "interrupted" {
		return judgement{}, false
	}
	j := judgement{finding: FoundUnanswered, headline: p.reply.Text(), cause: diagnose.CauseUnknown, layer: diagnose.LayerRouter, outcome: diagnose.Failed}
	switch {
	case p.reply.TimedOut:
		j.outcome = diagnose.Wedged
		j.why = "Nothing else was seen to hold it up: " + p.workText(s) + "."
		j.next = []string{
			"probe once more with a longer --limit: is it slow, or does no answer come at all?",
			"send the same request to an engine itself, past the router: if it is answered there, the router holds it",
		}
	case p.reply.Status == 401 || p.reply.Status == 403:
		j.next = []string{"put the server's key in WEDGE_API_KEY or OPENAI_API_KEY"}
	case p.reply.Status >= 400 && p.reply.Status < 500:
		j.next = []string{"is the model right? --model NAME names one, GET " + pathModels + " lists them"}
	default:
		j.next = []string{"look at the end of the router's log for the request with the id wedge-probe"}
	}
	return j, true
}

// idle finds that nothing is asked of the servers.
func (p *prober) idle(_ *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	most := 0
	for i := range p.readings {
		n, _, calls := p.loadAt(i)
		most = max(most, n, calls)
	}
	arrived := s.Arrived != nil && *s.Arrived > 0
	if most > 0 || s.RouterMost > 0 || s.Ended+s.Begun > 0 || arrived || s.Finished != nil && *s.Finished > 0 {
		return judgement{}, false
	}
	from, to := p.window()
	j := judgement{finding: FoundIdle, outcome: diagnose.Completed, layer: diagnose.LayerNone, cause: diagnose.CauseNone}
	j.headline = fmt.Sprintf("idle: no request was out in %s; idle engines prove nothing without load", span(time.Duration(to-from)))
	j.why = "Nothing was asked of the servers while they were watched, so that their zeros say nothing of how they do under load."
	if text := p.frozenDecode(); text != "" {
		j.why += " " + upper(text) + "."
		j.next = append(j.next, "look into the decode engine's log, and what it says after the next request: if decode_running stays above 0 with nothing asked, requests are left over in it")
	}
	if p.reply != nil {
		j.why += " " + upper(p.reply.Text()) + "."
	}
	j.next = append([]string{
		"probe while it hangs: the finding is in what clients and servers have at the same time",
		"if it hangs now: the requests do not come here. Give the client too (client=URL of a Go program with net/http/pprof): its goroutines show where its calls are",
	}, j.next...)
	if s.Clients > 0 {
		j.next[1] = "if it hangs now, it does so without a request: look at what the client's goroutines wait for (wedge dump, or go tool pprof on " + pathDump + ")"
	}
	return j, true
}

func (p *prober) healthy(s *Sides) judgement {
	from, to := p.window()
	j := judgement{finding: FoundHealthy, outcome: diagnose.Completed, layer: diagnose.LayerNone, cause: diagnose.CauseNone}
	j.headline = "nothing wrong found: calls come and go; " + p.workText(s)
	j.why = fmt.Sprintf("No call was out at both ends of the %s watched.", span(time.Duration(to-from)))
	if s.Clients == 0 {
		j.why = "The servers finish what they are asked."
	}
	if p.reply != nil {
		j.why += " " + upper(p.reply.Text()) + "."
	}
	j.next = []string{"if it hangs now and then, probe while it does; --for 5m watches for longer"}
	return j
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// does writes a number with its noun and verb.
func does(n int, noun, one, many string) string { return plural(n, noun) + " " + verb(n, one, many) }
