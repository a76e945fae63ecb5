package agents_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// scripted is a Chatter that costs little: the k-th call of a round gets the k-th answer. It stands
// for servers that share the text of their answers. After park calls it opens no more: the callers
// wait at a latch.
type scripted struct {
	w       sim.World
	answers [4]openai.ToolCall
	park    int // 0: never
	parked  int
	closed  *sim.Latch
}

func newScripted(w sim.World, park int) *scripted {
	text := `{"text":"` + filler(3_700) + `"}`
	return &scripted{w: w, park: park, closed: sim.NewLatch(w, ""), answers: [4]openai.ToolCall{
		call(agents.ToolReadMessage, `{"message":1}`), call(agents.ToolWrite, text), call(agents.ToolAppend, text), call(agents.ToolSave, `{}`),
	}}
}

func filler(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}

func (s *scripted) Chat(ctx context.Context, id pacer.Identity, _ openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error) {
	if id.Call == s.park+1 && s.park > 0 {
		s.parked++
		return openai.ChatCompletionResponse{}, s.closed.Wait(ctx)
	}
	m := openai.ChatCompletionMessage{ToolCalls: []openai.ToolCall{s.answers[(id.Call-1)%4]}}
	return openai.ChatCompletionResponse{Choices: []openai.ChatCompletionChoice{{Message: m}}}, s.w.Sleep(ctx, time.Minute)
}

func (s *scripted) Hold(ctx context.Context, _ pacer.Identity) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

func startFleet(ctx context.Context, w sim.World, chat agents.Chatter, n int) []*sim.Process {
	wf := agents.DefaultWorkflow()
	ws := agents.NewMemory(agents.NewShared(w, &wf))
	procs := make([]*sim.Process, n)
	for i := range procs {
		a := agents.New(w, fmt.Sprintf("agent-%05d", i), &wf, ws, chat, nil, nil)
		task := fmt.Sprintf("task-%05d", i)
		procs[i] = w.Spawn(ctx, a.State().Name, func(ctx context.Context) { _ = a.Run(ctx, agents.Task{ID: task}) })
	}
	return procs
}

// BenchmarkAgent is what the agents' side of a run costs: 30 agents, 600 calls, no pacer and no
// servers.
func BenchmarkAgent(b *testing.B) {
	b.ReportAllocs()
	calls := 0
	for b.Loop() {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		err := w.Run(context.Background(), func(ctx context.Context) {
			for _, p := range startFleet(ctx, w, newScripted(w, 0), 30) {
				_ = p.Wait(ctx)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		calls += 600
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
}

// BenchmarkMemory is the memory of an agent that waits in a call after so many others, its
// coroutine's stack included. After 18 calls the conversation has some 30,000 tokens in 38 messages.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct{ agents, calls int }{{10_000, 1}, {10_000, 18}, {100_000, 1}} {
		b.Run(fmt.Sprintf("agents=%d/calls=%d", c.agents, c.calls), func(b *testing.B) {
			for b.Loop() {
				measureMemory(b, c.agents, c.calls)
			}
		})
	}
}

func measureMemory(b *testing.B, n, park int) {
	before := inUse()
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	s := newScripted(w, park)
	err := w.Run(context.Background(), func(ctx context.Context) {
		startFleet(ctx, w, s, n)
		for s.parked < n {
			_ = w.Sleep(ctx, time.Minute)
		}
		heap, stack := inUse().since(before)
		b.ReportMetric(float64(heap)/float64(n), "heap-B/agent")
		b.ReportMetric(float64(stack)/float64(n), "stack-B/agent")
	})
	if err != nil {
		b.Fatal(err)
	}
}

type memory struct{ heap, stack uint64 }

func inUse() memory {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{m.HeapAlloc, m.StackInuse}
}

func (m memory) since(before memory) (heap, stack int64) {
	return int64(m.heap - before.heap), int64(m.stack - before.stack)
}
