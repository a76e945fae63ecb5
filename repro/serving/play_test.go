package serving_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// setup is what a test needs of a run; the zero value is the default stack without faults.
type setup struct {
	cfg    func(c *serving.Config) // changes the default; nil: no change
	model  serving.Model
	faults []fault.Fault
}

// play is a run under way.
type play struct {
	t      testing.TB
	ctx    context.Context
	w      sim.World
	s      *serving.Stack
	client *serving.Client
	log    bytes.Buffer
}

// run plays body in a virtual world.
func (su setup) run(t testing.TB, seed uint64, body func(p *play)) *play {
	t.Helper()
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	return su.in(t, w, body)
}

// in plays body in the given world.
func (su setup) in(t testing.TB, w sim.World, body func(p *play)) *play {
	t.Helper()
	cfg := serving.Default()
	// Most tests are about what happens, not about when an engine notices or shows it.
	cfg.Gauges.Exact, cfg.Abort = true, engine.AbortConfig{}
	if su.cfg != nil {
		su.cfg(&cfg)
	}
	faults, err := fault.NewSet(w, su.faults)
	if err != nil {
		t.Fatal(err)
	}
	p := &play{t: t, w: w}
	if p.s, err = serving.New(w, cfg, su.model, faults, serving.Logs{Router: &p.log}); err != nil {
		t.Fatal(err)
	}
	p.client = serving.NewClient(p.s, serving.ClientConfig{})
	err = w.Run(context.Background(), func(ctx context.Context) {
		p.ctx = ctx
		body(p)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// prompt returns a streamed request without tools, of so many prompt tokens and at most so many
// output tokens (0: no limit).
func prompt(promptTokens, outputTokensMax int) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:               "simulated",
		Messages:            []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: strings.Repeat("text", promptTokens)}},
		MaxCompletionTokens: outputTokensMax,
	}
}

// answer is what a client got.
type answer struct {
	start, headers, first, end sim.Instant
	reasoning, content         string
	tool, arguments            string
	finish                     openai.FinishReason
	usage                      *openai.Usage
	err                        error // nil for a complete answer
}

// chat sends a request and reads the answer to its end.
func (p *play) chat(ctx context.Context, id string, req openai.ChatCompletionRequest) (a answer) {
	a.start = p.w.Now()
	defer func() { a.end = p.w.Now() }()
	st, err := p.client.Open(ctx, &pacer.Attempt{ID: id, Of: pacer.Identity{Agent: "agent-" + id}}, req)
	if err != nil {
		a.err = err
		return a
	}
	defer st.Close()
	a.headers = p.w.Now()
	for {
		chunk, err := st.Recv()
		if err == io.EOF {
			return a
		}
		if err != nil {
			a.err = err
			return a
		}
		if a.first == 0 {
			a.first = p.w.Now()
		}
		a.add(&chunk)
	}
}

func (a *answer) add(chunk *openai.ChatCompletionStreamResponse) {
	if chunk.Usage != nil {
		a.usage = chunk.Usage
	}
	for _, c := range chunk.Choices {
		a.reasoning += c.Delta.ReasoningContent
		a.content += c.Delta.Content
		for _, tc := range c.Delta.ToolCalls {
			a.tool += tc.Function.Name
			a.arguments += tc.Function.Arguments
		}
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
	}
}

// took returns the time from the request to the end of the answer.
func (a *answer) took() time.Duration { return a.end.Sub(a.start) }

// together sends n requests at once and waits for all.
func (p *play) together(n int, req func(i int) openai.ChatCompletionRequest) []answer {
	answers := make([]answer, n)
	all := make([]*sim.Process, n)
	for i := range all {
		all[i] = p.w.Spawn(p.ctx, fmt.Sprintf("client-%d", i), func(ctx context.Context) {
			answers[i] = p.chat(ctx, fmt.Sprintf("r%03d", i), req(i))
		})
	}
	for _, c := range all {
		p.must(c.Wait(p.ctx))
	}
	return answers
}

func (p *play) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Error(err)
	}
}

func (p *play) sleep(d time.Duration) { p.must(p.w.Sleep(p.ctx, d)) }

// gauge returns the present value of a gauge.
func (p *play) gauge(name string) float64 {
	for _, g := range p.s.Gauges() {
		if g.Name == name {
			return g.Value
		}
	}
	p.t.Errorf("no gauge %q", name)
	return 0
}

// atRest checks that nothing is left of any request.
func (p *play) atRest() {
	p.t.Helper()
	p.sleep(time.Second) // a step under way is finished without those who have left
	for _, g := range p.s.Gauges() {
		if !strings.HasSuffix(g.Name, "_total") && g.Value != 0 {
			p.t.Errorf("at %v: %s is %v, want 0 at rest", p.w.Now(), g.Name, g.Value)
		}
	}
	v := p.s.Snapshot()
	if n := v.Prefill.Requests + v.Prefill.KVTokens + v.Decode.Requests + v.Decode.KVTokens; n != 0 {
		p.t.Errorf("at %v: slots or memory are taken at rest: %+v %+v", p.w.Now(), v.Prefill, v.Decode)
	}
	if truth := p.s.Truth(); len(truth) != 0 {
		p.t.Errorf("at %v: requests at rest: %+v", p.w.Now(), truth)
	}
}

// status returns the HTTP status of an error, or 0.
func status(err error) int {
	var e *pacer.StatusError
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
