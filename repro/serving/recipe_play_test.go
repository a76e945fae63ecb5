package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// recipe is a play of a hang as its operator and its clients see it: gauges as they are published, the
// logs of router and engines, and what arrives.
type recipe struct {
	*play
	engines map[string]*bytes.Buffer // logs, by worker
}

// cook plays body with the defaults and logs, but for what change says.
func cook(t *testing.T, change func(c *serving.Config), faults []fault.Fault, body func(p *recipe)) {
	t.Helper()
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	cfg := serving.Default()
	cfg.Router.QueuedMax = 0
	cfg.Model.OutputTokens, cfg.Model.ReasoningTokens = 100_000, 0 // requests say how much they want
	if change != nil {
		change(&cfg)
	}
	set, err := fault.NewSet(w, faults)
	if err != nil {
		t.Fatal(err)
	}
	p := &recipe{&play{t: t, w: w}, map[string]*bytes.Buffer{}}
	p.s, err = serving.New(w, cfg, serving.Model{}, set, serving.Logs{Router: &p.log, Engine: func(worker string) io.Writer {
		p.engines[worker] = new(bytes.Buffer)
		return p.engines[worker]
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		p.ctx = ctx
		body(p)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// guest is a client and what it sees.
type guest struct {
	id           string
	h            *serving.Handle
	sent         sim.Instant
	headers, end sim.Instant // 0: not yet
	err          error       // refusal, or that it has lost patience
	part         serving.Part
	tokens       int
}

// ask sends a streamed request of a client that stays as long as it takes.
func (p *recipe) ask(id string, promptTokens, outputTokens int) *guest {
	return p.send(id, promptTokens, outputTokens, true, 24*time.Hour)
}

// send sends a request of a client with some patience.
func (p *recipe) send(id string, promptTokens, outputTokens int, stream bool, patience time.Duration) *guest {
	g := &guest{id: id, sent: p.w.Now()}
	g.h = p.s.Submit(serving.Request{ID: id, Agent: id, Prompt: serving.Prompt{Tokens: promptTokens}, OutputTokensMax: outputTokens, Stream: stream})
	p.w.Spawn(p.ctx, id, func(ctx context.Context) {
		ctx, cancel := sim.WithTimeout(ctx, p.w, patience, context.DeadlineExceeded)
		defer cancel()
		defer g.h.Cancel()
		defer func() { g.end = p.w.Now() }()
		if g.err = g.h.WaitHeaders(ctx); g.err != nil {
			return
		}
		g.headers = p.w.Now()
		for g.err == nil {
			var more sim.Instant
			if g.part, more, g.err = g.h.Take(); g.err != nil {
				return
			}
			g.tokens += g.part.Tokens
			if g.part.Finish != "" || g.part.Error != nil || g.part.Cut {
				return
			}
			if more > p.w.Now() {
				g.err = g.h.Wait(ctx, more)
			}
		}
	})
	return g
}

// silence returns how long the client has seen nothing before the headers, or before the end.
func (g *guest) silence(now sim.Instant) time.Duration {
	for _, at := range [...]sim.Instant{g.headers, g.end} {
		if at != 0 {
			return at.Sub(g.sent)
		}
	}
	return now.Sub(g.sent)
}

// sees says in a word what a client has.
func (g *guest) sees() string {
	switch {
	case g.end == 0 && g.headers == 0:
		return "nothing"
	case g.end == 0:
		return "a stream"
	case g.err == context.DeadlineExceeded:
		return "its own timeout"
	case g.err != nil:
		return strings.TrimPrefix(g.err.Error(), "serving: ")
	case g.part.Error != nil:
		return fmt.Sprintf("200, then an error event: %d %s", g.part.Error.Status, g.part.Error.Type)
	case g.part.Finish != "":
		return "finish reason " + string(g.part.Finish)
	}
	return "a cut"
}

// each counts clients by what they see.
func each(guests []*guest) string {
	n := map[string]int{}
	var order []string
	for _, g := range guests {
		what := g.sees()
		if n[what] == 0 {
			order = append(order, what)
		}
		n[what]++
	}
	var b strings.Builder
	for i, what := range order {
		fmt.Fprintf(&b, "%s%dx %s", strings.Repeat("; ", min(i, 1)), n[what], what)
	}
	return b.String()
}

// at sleeps until an instant of the run.
func (p *recipe) at(t time.Duration) { p.sleep(t - time.Duration(p.w.Now())) }

// is compares what is seen with what should be.
func (p *recipe) is(what string, got, want any) {
	p.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Errorf("at %v: %s is %v, want %v", p.w.Now(), what, got, want)
	}
}

// within checks a length of time.
func (p *recipe) within(what string, got, least, most time.Duration) {
	p.t.Helper()
	if got < least || got > most {
		p.t.Errorf("at %v: %s is %v, want %v to %v", p.w.Now(), what, got, least, most)
	}
}

// shows reads some gauges as they are published.
func (p *recipe) shows(names ...string) []float64 {
	values := make([]float64, len(names))
	for i, name := range names {
		values[i] = p.gauge(name)
	}
	return values
}

// lines counts the lines of a worker's log that match.
func (p *recipe) lines(worker, pattern string) int {
	return len(regexp.MustCompile("(?m)"+pattern).FindAllString(p.engines[worker].String(), -1))
}

// routed counts the lines of the router's log: of requests that have started, and of those that have
// headers, by status.
func (p *recipe) routed() string {
	started := strings.Count(p.log.String(), "started processing")
	text := fmt.Sprintf("%d started", started)
	for _, status := range []int{200, 400, 500, 502, 503} {
		if n := strings.Count(p.log.String(), fmt.Sprintf("status_code=%d ", status)); n > 0 {
			text += fmt.Sprintf(", %d with %d", n, status)
		}
	}
	return text
}

// finishReason is that of an answer that is complete.
const finishReason = string(openai.FinishReasonLength)
