package harness

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	flag.Parse()
	if err := goroutine.EnableLabels(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(m.Run())
}

// tinyServers answer every request after the same time, and never those that are stuck. They keep a
// router's log and gauges.
type tinyServers struct {
	w      sim.World
	first  time.Duration // to the response headers
	rest   time.Duration // from there to the end
	tokens int           // of an answer
	stuck  func(a *pacer.Attempt) bool
	router io.Writer

	running int // guarded by the monitor
}

var (
	_ pacer.Backend = (*tinyServers)(nil)
	_ Servers       = (*tinyServers)(nil)
)

func (s *tinyServers) Gauges(context.Context) ([]Gauge, error) {
	s.w.Lock()
	defer s.w.Unlock()
	return []Gauge{{GaugeRouterInFlight, float64(s.running)}, {GaugeDecodeRunning, float64(s.running)}, {GaugeDecodeKV, float64(s.running) / 16}}, nil
}

func (s *tinyServers) Open(ctx context.Context, a *pacer.Attempt, req openai.ChatCompletionRequest) (pacer.Stream, error) {
	a.Connected()
	s.log("INFO", a.ID, "", "smg::request: src/middleware.rs:291: started processing request")
	s.count(1)
	if err := s.w.Sleep(ctx, s.first); err != nil {
		s.count(-1)
		return nil, err
	}
	return &tinyStream{s: s, ctx: ctx, a: a, tool: tinyTool(req), began: s.w.Now()}, nil
}

func (s *tinyServers) count(n int) {
	s.w.Lock()
	defer s.w.Unlock()
	s.running += n
}

func (s *tinyServers) log(level, id, more, message string) {
	s.w.Lock()
	defer s.w.Unlock()
	fmt.Fprintf(s.router, "%s %5s http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module=\"smg\" request_id=%q%s}: %s\n",
		s.w.Now().Time().Format("2006-01-02 15:04:05"), level, id, more, message)
}

// tinyTool says what the model calls next, from the conversation: see the comment of package agents.
func tinyTool(req openai.ChatCompletionRequest) openai.ToolCall {
	steps, done := []string{}, 0
	for _, m := range req.Messages {
		switch m.Role {
		case openai.ChatMessageRoleUser:
			_, list, _ := strings.Cut(m.Content, "Steps: ")
			list, _, _ = strings.Cut(list, ".")
			steps, done = strings.Split(list, ", "), 0
		case openai.ChatMessageRoleTool:
			done++
		}
	}
	name, arguments := steps[done%len(steps)], `{}`
	switch name {
	case agents.ToolReadMessage:
		arguments = `{"message":0}`
	case agents.ToolWrite, agents.ToolAppend:
		arguments = `{"text":"word"}`
	}
	return openai.ToolCall{Index: new(int), ID: "t", Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: name, Arguments: arguments}}
}

type tinyStream struct {
	s     *tinyServers
	ctx   context.Context
	a     *pacer.Attempt
	tool  openai.ToolCall
	began sim.Instant
	chunk int
}

func (t *tinyStream) Recv() (r openai.ChatCompletionStreamResponse, err error) {
	t.chunk++
	switch t.chunk {
	case 1: // the answer begins
		r.Choices = []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "So."}}}
		return r, t.s.w.Sleep(t.ctx, time.Second)
	case 2:
		if t.s.stuck != nil && t.s.stuck(t.a) {
			return r, sim.NewLatch(t.s.w, "").Wait(t.ctx)
		}
		if err := t.s.w.Sleep(t.ctx, t.s.rest-time.Second); err != nil {
			return r, err
		}
		took := t.s.w.Now().Sub(t.began) + t.s.first
		t.s.log("INFO", t.a.ID, fmt.Sprintf(" status_code=200 latency=%d", took.Microseconds()), "smg::response: src/middleware.rs:377: finished processing request")
		r.Choices = []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{ToolCalls: []openai.ToolCall{t.tool}}, FinishReason: openai.FinishReasonToolCalls}}
		r.Usage = &openai.Usage{PromptTokens: 100, CompletionTokens: t.s.tokens, TotalTokens: 100 + t.s.tokens}
		return r, nil
	}
	return r, io.EOF
}

func (t *tinyStream) Progress() pacer.Progress {
	now := t.s.w.Now()
	if t.chunk == 0 || now == t.began {
		return pacer.Progress{}
	}
	part := min(1, float64(now.Sub(t.began))/float64(t.s.rest))
	if t.s.stuck != nil && t.s.stuck(t.a) {
		part, now = min(part, float64(time.Second)/float64(t.s.rest)), t.began.Add(time.Second)
	}
	n := int(part * float64(t.s.tokens))
	return pacer.Progress{Bytes: int64(200 * n), Events: n, Tokens: n, LastByte: now, LastEvent: now, LastToken: now}
}

func (t *tinyStream) Close() error {
	t.s.count(-1)
	return nil
}

// tiny is a small run of everything: agents, pacer and servers with a slot fewer than agents.
type tiny struct {
	agents  int
	slots   int
	rounds  int
	rest    time.Duration
	stuck   func(a *pacer.Attempt) bool
	policy  pacer.Policy
	options Options
	dir     string // of the bundle; "": none
	secrets []string
}

func newTiny() tiny {
	policy := pacer.DefaultPolicy()
	policy.MaxAttempts = 1
	o := Options{Watchdog: DefaultWatchdog(), Horizon: 2 * time.Hour, Dumps: true}
	o.Watchdog.SampleEvery = 30 * time.Second
	return tiny{agents: 3, slots: 2, rounds: 1, rest: 90 * time.Second, policy: policy, options: o}
}

func (c tiny) run(t testing.TB, w sim.World, ctx context.Context) *Report {
	t.Helper()
	var b *bundle.Bundle
	if c.dir != "" {
		var err error
		b, err = bundle.Create(c.dir, bundle.Run{Name: "tiny", Seed: 1, Clock: "virtual", Version: "test", Config: map[string]int{"slots": c.slots}},
			bundle.Options{Replace: true, Inline: w.Virtual(), Secrets: c.secrets})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
	}
	return c.runWith(t, w, ctx, b)
}

func (c tiny) runWith(t testing.TB, w sim.World, ctx context.Context, b *bundle.Bundle) *Report {
	t.Helper()
	router := NewRouterLog(w, b.Log(bundle.RouterLogFile), time.Time{})
	servers := &tinyServers{w: w, first: 2 * time.Second, rest: c.rest, tokens: 3000, stuck: c.stuck, router: router}
	l := NewLedger(w, NewJournal(w, b.Log(bundle.EventsLog)))
	cfg := pacer.DefaultConfig()
	cfg.Slots = c.slots
	p, err := pacer.New(w, cfg, c.policy, servers, l.CallObserver(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wf := agents.DefaultWorkflow()
	wf.Rounds, wf.Steps, wf.Tools, wf.SystemTokens = c.rounds, 2, []string{agents.ToolWrite, agents.ToolSave}, 0
	wf.Think = workload.Must(workload.Constant(time.Second))
	tool := workload.Must(workload.Constant(100 * time.Millisecond))
	wf.ToolTime = agents.ToolTimes{ReadMessage: tool, Write: tool, Append: tool, Save: tool}
	ws := agents.NewMemory(agents.NewShared(w, &wf))
	o := c.options
	o.Name, o.Fleet.Agents, o.Calls, o.Servers, o.Router, o.Bundle = "tiny-1", c.agents, p.Calls, servers, router, b
	o.Setup.Slots = c.slots
	o.Run = func(ctx context.Context, name string, task agents.Task) error {
		return agents.New(w, name, &wf, ws, p, l.AgentObserver(), nil).Run(ctx, task)
	}
	f, err := New(w, l, o)
	if err != nil {
		t.Fatal(err)
	}
	var report *Report
	err = w.Run(ctx, func(ctx context.Context) {
		var err error
		if report, err = f.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return report
}

// read returns the content of a file.
func read(t testing.TB, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
