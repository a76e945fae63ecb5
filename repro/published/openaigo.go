package published

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// openAIGo is how often a real client tries, measured against a local server.
func openAIGo() Result {
	return Result{
		Name:   "openai-go",
		Source: "our test of openai-go 3.99.0 (2026-11-12) against a local server, attempts and cancels counted there",
		About:  "the client does not retry its own timeout, which covers waits and bodies too; only the transport's header limit is retried",
		seeds:  10,
		play:   playOpenAIGo,
	}
}

// OpenAIGo is the policy of openai-go 3.99.0: no limit but its transport's 600 s until the response
// headers, and two retries before they have come.
func OpenAIGo() pacer.Policy {
	p := pacer.DefaultPolicy()
	p.ResponseHeader = 600 * time.Second
	p.MaxAttempts, p.RetryPhases = 3, []pacer.RetryPhase{pacer.RetryBeforeHeaders}
	p.BackoffBase, p.BackoffMultiplier, p.BackoffMax, p.BackoffFloor, p.Jitter = 500*time.Millisecond, 2, 8*time.Second, 0, "minus25"
	p.RetryAfterJitter, p.RetryAfterOver = 0, pacer.RetryAfterStop
	return p
}

// clientCase is a row of the measured table.
type clientCase struct {
	name      string
	server    replyScript
	header    time.Duration // limit of the transport; 0: as it is
	request   time.Duration // WithRequestTimeout; 0: none
	attempts  int           // measured
	chunks    int           // measured; -1: not a stream
	took      time.Duration // measured; 0: not noted
	from, to  time.Duration // what backoff's jitter allows for it
	chance    bool          // a wait shorter than the limit lets one more attempt through
	succeeded bool
}

func clientCases() []clientCase {
	const ms = time.Millisecond
	silent, refuses := replyScript{silent: true}, replyScript{status: http.StatusServiceUnavailable}
	stream := replyScript{chunks: 20, gap: 50 * ms}
	return []clientCase{
		{name: "request timeout 200 ms, server silent", server: silent, request: 200 * ms, attempts: 1, chunks: -1},
		{name: "header limit 200 ms, server silent", server: silent, header: 200 * ms, attempts: 3, chunks: -1, took: 1970 * ms, from: 1725 * ms, to: 2100 * ms},
		{name: "503 at once, no timeout", server: refuses, attempts: 3, chunks: -1, took: 1400 * ms, from: 1125 * ms, to: 1500 * ms},
		{name: "503 at once, request timeout 400 ms", server: refuses, request: 400 * ms, attempts: 1, chunks: -1, chance: true},
		{name: "20 chunks at 50 ms, request timeout 300 ms", server: stream, request: 300 * ms, attempts: 1, chunks: 5},
		{name: "20 chunks at 50 ms, header limit 200 ms", server: stream, header: 200 * ms, attempts: 1, chunks: 20, succeeded: true},
	}
}

func playOpenAIGo(p *replay) {
	base := OpenAIGo()
	if p.OpenAIGo != nil {
		base = *p.OpenAIGo
	}
	cases := clientCases()
	for i, outs := range each(p, len(cases), func(i int, seed uint64) clientOutcome {
		policy := base
		if cases[i].header > 0 {
			policy.ResponseHeader = cases[i].header
		}
		if cases[i].request > 0 {
			policy.Total, policy.TotalCoversBackoff = cases[i].request, true
		}
		return play(policy, cases[i].server, seed)
	}) {
		p.clientRow(&cases[i], outs)
	}
	p.figure(clientFigure(cases, base))
}

func (p *replay) clientRow(c *clientCase, outs []clientOutcome) {
	want := clientOutcome{attempts: c.attempts, chunks: c.chunks, ok: c.succeeded}
	r := Row{What: c.name, Grade: GradeMeasured, Expected: want.text(c), Tolerance: "the same in every run"}
	same, other := 0, ""
	shortest, longest := outs[0].took, outs[0].took
	for i := range outs {
		if text := outs[i].text(c); text == r.Expected && outs[i].ok == c.succeeded {
			same++
		} else {
			other = text
		}
		shortest, longest = min(shortest, outs[i].took), max(longest, outs[i].took)
	}
	n := len(outs)
	r.Right = same == n
	r.Here = fmt.Sprintf("%s in %d of %d", r.Expected, same, n)
	if other != "" {
		r.Here += ", " + other + " in others"
	}
	if c.chance {
		r.Right, r.Tolerance = 2*same > n, "most runs: the first wait is 375 to 500 ms"
	}
	if c.took > 0 {
		r.Expected += fmt.Sprintf(", %.2f s", c.took.Seconds())
		r.Here += fmt.Sprintf(", %.2f to %.2f s", shortest.Seconds(), longest.Seconds())
		r.Tolerance += fmt.Sprintf(", %.2f to %.2f s by its jitter", c.from.Seconds(), c.to.Seconds())
		r.Right = r.Right && shortest >= c.from && longest <= c.to
	}
	p.row(r)
}

// text is what is counted of an outcome.
func (o *clientOutcome) text(c *clientCase) string {
	out := fmt.Sprintf("%d attempts", o.attempts)
	if o.attempts == 1 {
		out = "1 attempt"
	}
	if c.chunks >= 0 {
		out += fmt.Sprintf(", %d chunks", o.chunks)
	}
	return out
}

// clientOutcome is how a call ended.
type clientOutcome struct {
	attempts int // begun at the server
	chunks   int // received, by the last attempt
	took     time.Duration
	ok       bool
	begins   []time.Duration // of the attempts
}

// play sends one call through a pacer to a scripted server, in virtual time.
func play(policy pacer.Policy, script replyScript, seed uint64) clientOutcome {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	server := &scripted{w: w, script: script}
	pc, err := pacer.New(w, pacer.DefaultConfig(), policy, server, nil, nil)
	if err != nil {
		panic(fmt.Sprintf("published: the policy of openai-go: %v", err))
	}
	var out clientOutcome
	err = w.Run(context.Background(), func(ctx context.Context) {
		_, err := pc.Chat(ctx, pacer.Identity{Agent: "client", Call: 1}, openai.ChatCompletionRequest{Model: "any"})
		out.ok, out.took = err == nil, time.Duration(w.Now())
	})
	if err != nil {
		panic(fmt.Sprintf("published: seed %d: %v", seed, err))
	}
	out.attempts, out.chunks, out.begins = len(server.begins), server.sent, server.begins
	return out
}

// clientFigure shows when attempts begin.
func clientFigure(cases []clientCase, base pacer.Policy) Figure {
	f := Figure{
		Name: "openai-go", Title: "When openai-go tries",
		Note: "one call in virtual time, seed 1; a point is an attempt",
		X:    Axis{"time", "s"}, Y: Axis{"attempt", ""}, Markers: true, Steps: true,
	}
	for _, c := range cases {
		policy := base
		if c.header > 0 {
			policy.ResponseHeader = c.header
		}
		if c.request > 0 {
			policy.Total, policy.TotalCoversBackoff = c.request, true
		}
		curve := Curve{Name: c.name}
		for i, at := range play(policy, c.server, 1).begins {
			curve.Points = append(curve.Points, Point{at.Seconds(), float64(i + 1)})
		}
		f.Curves = append(f.Curves, curve)
	}
	return f
}
