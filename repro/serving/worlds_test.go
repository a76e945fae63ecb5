package serving_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// inBothWorlds plays body in a virtual world, and in a wall world within a synctest bubble.
func inBothWorlds(t *testing.T, su setup, seed uint64, body func(p *play)) {
	t.Helper()
	t.Run("virtual", func(t *testing.T) { su.run(t, seed, body) })
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { su.in(t, sim.NewWall(sim.WallOptions{Seed: seed}), body) })
	})
}

// golden compares text with a file in testdata, or rewrites it.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, text, want)
	}
}

// TestFaults shows each fault at its place: what three clients see whose requests come a second
// apart, and what the servers show meanwhile. The transcripts are the same in both worlds.
func TestFaults(t *testing.T) {
	const leaveAfter = 20 * time.Second
	for _, row := range []struct {
		name  string // of the golden file
		fault fault.Fault
	}{
		{"none", fault.Fault{}},
		{"connection-latency", fault.Fault{Where: fault.Connection, What: fault.Latency, Delay: 3 * time.Second}},
		{"connection-reset", fault.Fault{Where: fault.Connection, What: fault.Reset}},
		{"router-status", fault.Fault{Where: fault.Router, What: fault.Status, StatusCode: 429, RetryAfter: "7"}},
		{"router-latency", fault.Fault{Where: fault.Router, What: fault.Latency, Delay: 3 * time.Second}},
		{"router-drop", fault.Fault{Where: fault.Router, What: fault.Drop}},
		{"prefill-latency", fault.Fault{Where: fault.Prefill, What: fault.Latency, Delay: 3 * time.Second}},
		{"prefill-hang", fault.Fault{Where: fault.Prefill, What: fault.Hang}},
		{"inflight-hang", fault.Fault{Where: fault.Inflight, What: fault.Hang}},
		{"transfer-latency", fault.Fault{Where: fault.Transfer, What: fault.Latency, Delay: 3 * time.Second}},
		{"transfer-hang", fault.Fault{Where: fault.Transfer, What: fault.Hang}},
		{"decode-hang", fault.Fault{Where: fault.Decode, What: fault.Hang}},
		{"stream-silence", fault.Fault{Where: fault.Stream, What: fault.Silence, AfterTokens: 40}},
		{"stream-silence-0", fault.Fault{Where: fault.Stream, What: fault.Silence}},
		{"stream-reset", fault.Fault{Where: fault.Stream, What: fault.Reset, AfterTokens: 40}},
		{"stream-reset-0", fault.Fault{Where: fault.Stream, What: fault.Reset}},
		{"stream-reset-1", fault.Fault{Where: fault.Stream, What: fault.Reset, AfterTokens: 1}},
		{"stream-reasoning", fault.Fault{Where: fault.Stream, What: fault.Reasoning, Delay: 2 * time.Second}},
		{"connection-keepalive-race", fault.Fault{Where: fault.Connection, What: fault.KeepAliveRace}},
		{"connection-hang", fault.Fault{Where: fault.Connection, What: fault.Hang}},
		{"connection-blackhole", fault.Fault{Where: fault.Connection, What: fault.Blackhole}},
		{"connection-buffer", fault.Fault{Where: fault.Connection, What: fault.Buffer}},
		{"connection-buffer-for", fault.Fault{Where: fault.Connection, What: fault.Buffer, Delay: 2 * time.Second}},
		{"router-lose-reply", fault.Fault{Where: fault.Router, What: fault.LoseReply}},
		{"router-mispair", fault.Fault{Where: fault.Router, What: fault.Mispair}},
		{"bootstrap-hang", fault.Fault{Where: fault.Bootstrap, What: fault.Hang}},
		{"prefill-status", fault.Fault{Where: fault.Prefill, What: fault.Status, StatusCode: 500}},
		{"transfer-status", fault.Fault{Where: fault.Transfer, What: fault.Status, StatusCode: 500}},
		{"decode-drop", fault.Fault{Where: fault.Decode, What: fault.Drop}},
		{"decode-slow", fault.Fault{Where: fault.Decode, What: fault.Slow, Factor: 3}},
		{"decode-ignore-abort", fault.Fault{Where: fault.Decode, What: fault.IgnoreAbort}},
		{"stream-silence-in-content", fault.Fault{Where: fault.Stream, What: fault.Silence, In: fault.InContent, AfterTokens: 10}},
		{"stream-comments", fault.Fault{Where: fault.Stream, What: fault.Comments, AfterTokens: 40, Every: time.Second}},
		{"stream-comments-0", fault.Fault{Where: fault.Stream, What: fault.Comments}},
		{"stream-error", fault.Fault{Where: fault.Stream, What: fault.Error, AfterTokens: 40, StatusCode: 503}},
		{"stream-error-0", fault.Fault{Where: fault.Stream, What: fault.Error, StatusCode: 500}},
		{"stream-cut", fault.Fault{Where: fault.Stream, What: fault.Cut, AfterTokens: 40}},
		{"stream-cut-0", fault.Fault{Where: fault.Stream, What: fault.Cut}},
		{"stream-malformed", fault.Fault{Where: fault.Stream, What: fault.Malformed, AfterTokens: 40}},
		{"stream-malformed-0", fault.Fault{Where: fault.Stream, What: fault.Malformed}},
		{"stream-no-done", fault.Fault{Where: fault.Stream, What: fault.NoDone}},
		{"stream-open-after-done", fault.Fault{Where: fault.Stream, What: fault.OpenAfterDone}},
		{"stream-no-usage", fault.Fault{Where: fault.Stream, What: fault.NoUsage}},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{}
			if row.fault.What != "" {
				row.fault.ID, row.fault.Only = "f", 2 // the second of the three
				su.faults = []fault.Fault{row.fault}
			}
			inBothWorlds(t, su, 1, func(p *play) {
				text := p.transcript(3, leaveAfter)
				p.atRest()
				golden(t, row.name+".txt", text+"\n"+p.log.String())
			})
		})
	}
}

// transcript has n clients send a request each, a second apart, of which each leaves after some time.
// It tells what they see and what the servers show.
func (p *play) transcript(n int, leaveAfter time.Duration) string {
	var b strings.Builder
	answers := make([]answer, n)
	all := make([]*sim.Process, n)
	for i := range all {
		all[i] = p.w.Spawn(p.ctx, fmt.Sprintf("client-%d", i), p.visitor(i, leaveAfter, &answers[i]))
	}
	for _, at := range []time.Duration{1500 * time.Millisecond, 4500 * time.Millisecond, 12500 * time.Millisecond, 30 * time.Second} {
		p.sleep(at - time.Duration(p.w.Now()))
		fmt.Fprintf(&b, "at %v:", at)
		for _, g := range p.s.Gauges() {
			if g.Value != 0 {
				fmt.Fprintf(&b, " %s=%.4g", g.Name, g.Value)
			}
		}
		for _, r := range p.s.Truth() {
			fmt.Fprintf(&b, "; %s in %s since %v, %d tokens", r.ID, r.Stage, r.Since, r.Tokens)
		}
		b.WriteString("\n")
	}
	for i, c := range all {
		p.must(c.Wait(p.ctx))
		b.WriteString(answers[i].String(i))
	}
	return b.String()
}

func (a *answer) String(i int) string {
	return fmt.Sprintf("client %d: start %v headers %v first %v end %v, %d+%d bytes, finish %q, usage %v, error %v\n",
		i, a.start, a.headers, a.first, a.end, len(a.reasoning), len(a.content), a.finish, a.usage != nil, a.err)
}

// visitor is a client that comes i seconds after the start, sends one request, and leaves after some
// time if it has no answer by then.
func (p *play) visitor(i int, leaveAfter time.Duration, a *answer) func(ctx context.Context) {
	return func(ctx context.Context) {
		p.must(p.w.Sleep(ctx, time.Duration(i)*time.Second))
		limited, stop := sim.WithTimeout(ctx, p.w, leaveAfter, context.DeadlineExceeded)
		defer stop()
		req := prompt(100, 200)
		req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		*a = p.chat(limited, fmt.Sprintf("r%d", i), req)
	}
}

// TestPinOnAbort checks that a request that leaves during its transfer leaves its entry behind, with
// slot and memory on the prefill engine's side only, until it is released.
func TestPinOnAbort(t *testing.T) {
	for _, row := range []struct {
		name         string
		releaseAfter time.Duration
		left         float64 // entries after a minute
	}{
		{"released", 30 * time.Second, 0},
		{"for ever", 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{faults: []fault.Fault{
				{ID: "slow", Where: fault.Transfer, What: fault.Latency, Delay: time.Hour},
				{ID: "pin", Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: row.releaseAfter},
			}}
			inBothWorlds(t, su, 1, func(p *play) {
				p.transcript(1, 10*time.Second)
				if n := p.s.Snapshot().Prefill; row.left > 0 && (n.Requests != 1 || n.KVTokens != 100) {
					t.Errorf("prefill holds %d slots and %d tokens, want 1 and 100", n.Requests, n.KVTokens)
				}
				if n := p.s.Snapshot().Decode; n.Requests+n.KVTokens+n.Transfer != 0 {
					t.Errorf("decode holds %+v, want nothing", n)
				}
				p.sleep(30 * time.Second)
				if n := p.gauge(serving.GaugePrefillInflight); n != row.left {
					t.Errorf("%v entries are in flight, want %v", n, row.left)
				}
				if row.left == 0 {
					p.atRest()
				}
			})
		})
	}
}
