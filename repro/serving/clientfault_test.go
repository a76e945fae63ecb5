package serving_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// sections is a stack whose answers have 40 tokens of reasoning, 54 of content and 6 of a tool call, the
// first of them after 100 ms, and the others 20 ms apart: the last after 2.08 s.
func sections(f fault.Fault) setup {
	f.ID = "f"
	return setup{
		cfg:    even,
		model:  serving.Model{Output: func(string, int, int) (int, int) { return 100, 40 }},
		faults: []fault.Fault{f},
	}
}

// watch opens a stream and returns what it shows: each thing with the instant that it came at, and its
// progress at the given instants.
func (p *play) watch(id string, patience time.Duration, looks ...time.Duration) (lines []string) {
	p.t.Helper()
	start := p.w.Now()
	note := func(format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%v ", p.w.Now().Sub(start))+fmt.Sprintf(format, args...))
	}
	ctx, stop := sim.WithTimeout(p.ctx, p.w, patience, context.DeadlineExceeded)
	defer stop()
	req := toolChat("save")
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	st, err := p.client.Open(ctx, &pacer.Attempt{ID: id, Of: pacer.Identity{Agent: id}}, req)
	if err != nil {
		note("no headers: %v", err)
		return lines
	}
	note("headers")
	watcher := p.w.Spawn(ctx, "watcher", func(ctx context.Context) {
		for _, at := range looks {
			if p.w.Sleep(ctx, start.Add(at).Sub(p.w.Now())) != nil {
				return
			}
			p.w.Lock()
			g := st.Progress()
			p.w.Unlock()
			note("%d tokens, last %v, byte %v, event %v", g.Tokens, g.LastToken.Sub(start), g.LastByte.Sub(start), g.LastEvent.Sub(start))
		}
	})
	for err == nil {
		var chunk openai.ChatCompletionStreamResponse
		if chunk, err = st.Recv(); err == nil {
			note("%s", contents(&chunk))
		}
	}
	note("%v", err)
	p.must(st.Close())
	note("closed")
	stop()
	_ = watcher.Wait(p.ctx) // it may have been stopped
	return lines
}

// contents returns what is in a chunk.
func contents(chunk *openai.ChatCompletionStreamResponse) (text string) {
	var a answer
	a.add(chunk)
	for _, n := range []struct {
		name string
		text string
	}{{"reasoning", a.reasoning}, {"content", a.content}, {"tool", a.tool}, {"arguments", a.arguments}} {
		if n.text != "" {
			text += fmt.Sprintf("%s %d, ", n.name, len(n.text))
		}
	}
	if a.finish != "" {
		text += fmt.Sprintf("finish %s, ", a.finish)
	}
	if a.usage != nil {
		text += fmt.Sprintf("usage %d, ", a.usage.CompletionTokens)
	}
	return text[:max(0, len(text)-2)]
}

// TestClientFaults shows what a stream in memory makes of each fault of streams and connections, with its
// sections: reasoning to 0.88 s, content to 1.96 s, the tool call to 2.08 s.
func TestClientFaults(t *testing.T) {
	faults := []fault.Fault{
		{Where: fault.Metrics, What: fault.Freeze}, // nothing that a client sees
		{Where: fault.Stream, What: fault.Comments, AfterTokens: 10, Every: time.Second},
		{Where: fault.Stream, What: fault.Comments, AfterTokens: 10, In: fault.InContent},
		{Where: fault.Stream, What: fault.Silence, In: fault.InToolCall},
		{Where: fault.Stream, What: fault.Reasoning, Delay: time.Second},
		{Where: fault.Stream, What: fault.Error, AfterTokens: 10, StatusCode: 503},
		{Where: fault.Stream, What: fault.Error, AfterTokens: 10, In: fault.InContent, StatusCode: 500},
		{Where: fault.Stream, What: fault.Error, StatusCode: 429},
		{Where: fault.Stream, What: fault.Reset, AfterTokens: 10, In: fault.InReasoning},
		{Where: fault.Stream, What: fault.Cut, AfterTokens: 3, In: fault.InToolCall},
		{Where: fault.Stream, What: fault.Cut},
		{Where: fault.Stream, What: fault.Cut, AfterTokens: 100}, // beyond the end: it does not fire
		{Where: fault.Stream, What: fault.Malformed, AfterTokens: 10},
		{Where: fault.Stream, What: fault.Malformed, AfterTokens: 3, In: fault.InToolCall},
		{Where: fault.Stream, What: fault.Malformed},
		{Where: fault.Stream, What: fault.TruncateCall},
		{Where: fault.Stream, What: fault.TruncateCall, In: fault.InToolCall, AfterTokens: 2},
		{Where: fault.Stream, What: fault.NoDone},
		{Where: fault.Stream, What: fault.OpenAfterDone},
		{Where: fault.Stream, What: fault.NoUsage},
		{Where: fault.Connection, What: fault.Buffer},
		{Where: fault.Connection, What: fault.Buffer, Delay: time.Second},
		{Where: fault.Connection, What: fault.Hang},
		{Where: fault.Connection, What: fault.Blackhole},
		{Where: fault.Connection, What: fault.KeepAliveRace},
	}
	for _, world := range []string{"virtual", "wall"} {
		t.Run(world, func(t *testing.T) {
			var b strings.Builder
			for _, f := range faults {
				fmt.Fprintf(&b, "%s %s in %q after %d, delay %v\n", f.Where, f.What, f.In, f.AfterTokens, f.Delay)
				watch := func(p *play) {
					for _, line := range p.watch("r", time.Minute, 200*time.Millisecond, 1500*time.Millisecond, 4*time.Second, 32*time.Second) {
						fmt.Fprintf(&b, "  %s\n", line)
					}
					p.atRest()
				}
				if world == "virtual" {
					sections(f).run(t, 1, watch)
				} else {
					synctest.Test(t, func(t *testing.T) { sections(f).in(t, sim.NewWall(sim.WallOptions{Seed: 1}), watch) })
				}
			}
			golden(t, "client-faults.txt", b.String())
		})
	}
}

// TestTruncatedCall checks that a tool call which ends early is no JSON, although all else is well.
func TestTruncatedCall(t *testing.T) {
	sections(fault.Fault{Where: fault.Stream, What: fault.TruncateCall}).run(t, 1, func(p *play) {
		a := p.chat(p.ctx, "r", toolChat("save"))
		if a.err != nil || a.finish != openai.FinishReasonToolCalls || a.tool != "save" || a.arguments == "" || json.Valid([]byte(a.arguments)) {
			t.Errorf("arguments %q, finish %q, error %v", a.arguments, a.finish, a.err)
		}
		a = p.chat(p.ctx, "s", prompt(100, 50)) // without a call there is nothing to end
		if a.err != nil || a.finish != openai.FinishReasonLength {
			t.Errorf("finish %q, error %v", a.finish, a.err)
		}
	})
}

// TestBlackhole checks that a dead connection takes all streams of its client with it, those under way
// and those to come, and no other client's, and that the servers serve on.
func TestBlackhole(t *testing.T) {
	su := sections(fault.Fault{Where: fault.Connection, What: fault.Blackhole, Only: 3})
	inBothWorlds(t, su, 1, func(p *play) {
		var lines [4][]string
		var all []*sim.Process
		visit := func(i int, client *serving.Client, after time.Duration) {
			all = append(all, p.w.Spawn(p.ctx, fmt.Sprint("visitor-", i), func(ctx context.Context) {
				p.must(p.w.Sleep(ctx, after))
				q := *p
				q.client = client
				lines[i] = q.watch(fmt.Sprint("r", i), 10*time.Second, 3*time.Second)
			}))
		}
		other := serving.NewClient(p.s, serving.ClientConfig{})
		visit(0, p.client, 0)
		visit(1, other, 500*time.Millisecond)
		visit(2, p.client, time.Second)
		visit(3, p.client, 5*time.Second)
		for _, v := range all {
			p.must(v.Wait(p.ctx))
		}
		for i, want := range []string{
			"100ms headers; 100ms reasoning 160; 3s 46 tokens, last 1s, byte 1s, event 1s; 10s context deadline exceeded; 10s closed",
			"100ms headers; 100ms reasoning 160; 2.08s content 216, tool 4, arguments 21; 2.08s finish tool_calls; 2.08s usage 100; 2.08s EOF; 2.08s closed",
			"10s no headers: context deadline exceeded",
			"10s no headers: context deadline exceeded",
		} {
			if got := strings.Join(lines[i], "; "); got != want {
				t.Errorf("client %d: got\n%s\nwant\n%s", i, got, want)
			}
		}
		p.atRest()
	})
}

// TestConnectionsHeld checks how long a connection of a pool is held by a stream that goes wrong: who
// waits for it gets his headers 100 ms later.
func TestConnectionsHeld(t *testing.T) {
	for _, row := range []struct {
		fault fault.Fault
		held  time.Duration
	}{
		{fault.Fault{Where: fault.Stream, What: fault.NoDone}, 2080 * time.Millisecond},
		{fault.Fault{Where: fault.Stream, What: fault.OpenAfterDone}, 3080 * time.Millisecond},
		{fault.Fault{Where: fault.Stream, What: fault.Cut}, 100 * time.Millisecond},
		{fault.Fault{Where: fault.Connection, What: fault.KeepAliveRace}, 0},
		{fault.Fault{Where: fault.Connection, What: fault.Hang}, 10 * time.Second},
	} {
		t.Run(string(row.fault.What), func(t *testing.T) {
			row.fault.Only = 1
			inBothWorlds(t, sections(row.fault), 1, func(p *play) {
				p.client = serving.NewClient(p.s, serving.ClientConfig{ConnectionsMax: 1})
				first := p.w.Spawn(p.ctx, "first", func(context.Context) { p.watch("first", 10*time.Second) })
				p.sleep(1)
				a := p.chat(p.ctx, "second", toolChat("save"))
				p.must(a.err)
				if held := time.Duration(a.headers) - 100*time.Millisecond; held != max(row.held, 1) {
					t.Errorf("held for %v, want %v", held, row.held)
				}
				p.must(first.Wait(p.ctx))
			})
		})
	}
}
