package pacer_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a policy and some calls, each against a scripted server.
type story struct {
	name   string
	policy string // YAML over quick
	slots  int    // 0: no limit
	// tokensMax is how many output tokens the requests allow. 0: any number.
	tokensMax int
	starts    []time.Duration // of the calls
	// scripts has what the server does, by call and attempt as in 2.1, or for all other attempts of a
	// call as in 2, or for all others.
	scripts map[string]script
	// tie says that attempts end at one instant, and that what is told of them depends on which is first.
	tie bool
}

func (st *story) play(a *pacer.Attempt) script {
	for _, key := range []string{fmt.Sprintf("%d.%d", a.Of.Call, a.Number), fmt.Sprint(a.Of.Call), ""} {
		if s, ok := st.scripts[key]; ok {
			return s
		}
	}
	return good
}

// transcript runs the story and returns what an observer was told.
func (st *story) transcript(t *testing.T, w sim.World, ctx context.Context) string {
	t.Helper()
	rec, errs, texts := st.run(t, w, ctx)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n%s", st.name, indented(strings.Split(strings.TrimSpace(st.policy), "\n"), "  "))
	b.WriteString(indented(rec.lines, ""))
	for i, err := range errs {
		if err != nil {
			fmt.Fprintf(&b, "= %d: %v\n", i+1, err)
		} else {
			fmt.Fprintf(&b, "= %d: %s\n", i+1, texts[i])
		}
	}
	return b.String()
}

// hear writes down what a request says beyond the conversation.
func (r *recorder) hear(a *pacer.Attempt, req *openai.ChatCompletionRequest) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role == openai.ChatMessageRoleAssistant {
		r.printf("%d: asks to continue %q with at most %d tokens", a.Of.Call, last.Content, req.MaxCompletionTokens)
	}
	if a.Remaining > 0 {
		r.printf("%d: says that %v remain", a.Of.Call, a.Remaining)
	}
}

// run makes the calls of the story, and returns what was told of them, their errors and their answers.
func (st *story) run(t *testing.T, w sim.World, ctx context.Context) (rec *recorder, errs []error, texts []string) {
	t.Helper()
	policy := quick()
	if err := yaml.UnmarshalWithOptions([]byte(st.policy), &policy, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", st.name, err)
	}
	rec = &recorder{w: w, calls: true}
	p, err := pacer.New(w, slots(st.slots, pacer.HoldStream), policy, &backend{w: w, play: st.play, hear: rec.hear}, rec, nil)
	if err != nil {
		t.Fatalf("%s: %v", st.name, err)
	}
	starts := st.starts
	if starts == nil {
		starts = []time.Duration{0}
	}
	var all []*sim.Process
	errs, texts = make([]error, len(starts)), make([]string, len(starts))
	for i, at := range starts {
		all = append(all, w.Spawn(ctx, "agent", func(ctx context.Context) {
			_ = w.Sleep(ctx, at)
			req := request()
			req.MaxCompletionTokens = st.tokensMax
			resp, err := p.Chat(ctx, identity("agent", i+1), req)
			if errs[i] = err; err == nil {
				texts[i] = fmt.Sprintf("%q, %d tokens", resp.Choices[0].Message.Content, resp.Usage.CompletionTokens)
			}
		}))
	}
	for _, a := range all {
		if a.Wait(ctx) != nil {
			_ = a.Wait(context.WithoutCancel(ctx))
		}
	}
	settled(t, w, p)
	return rec, errs, texts
}

func indented(lines []string, by string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(by + line + "\n")
	}
	return b.String()
}

// sameInstants puts what happens at one instant into an order of its own: on the wall, nothing says
// which of several goroutines comes first.
func sameInstants(transcript string) string {
	lines := strings.Split(transcript, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

type chapter struct {
	file    string
	stories []story
}

func chapters() []chapter {
	return []chapter{
		{"deadlines.txt", deadlineStories}, {"retries.txt", retryStories}, {"controls.txt", controlStories},
		{"hedges.txt", hedgeStories}, {"partial.txt", partialStories},
	}
}

// TestStories plays each story in both worlds and holds the transcripts against a golden file.
func TestStories(t *testing.T) {
	for _, chapter := range chapters() {
		t.Run(chapter.file, func(t *testing.T) {
			var got bytes.Buffer
			for _, st := range chapter.stories {
				var first string
				inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
					text := st.transcript(t, w, ctx)
					if first == "" {
						first = text
					} else if sameInstants(text) != sameInstants(first) && !st.tie {
						t.Errorf("seed %d: the worlds differ:\n%s\n%s", seed, first, text)
					}
				})
				got.WriteString(first + "\n")
			}
			golden(t, filepath.Join("testdata", chapter.file), got.Bytes())
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("seed %d: %s differs (go test ./pacer -update writes it anew):\n%s", seed, path, got)
	}
}

// TestCallTotalInSlot waits for a slot that an agent keeps: the call ends without an attempt.
func TestCallTotalInSlot(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		policy := quick()
		policy.CallTotal = 5 * s
		rec := &recorder{w: w}
		p, err := pacer.New(w, slots(1, pacer.HoldAgent), policy, &backend{w: w, play: func(*pacer.Attempt) script { return dripped }}, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		keeper, release, err := p.Hold(ctx, identity("keeper", 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Chat(keeper, identity("keeper", 1), request()); err != nil {
			t.Fatal(err)
		}
		rec.lines = nil
		_, err = p.Chat(ctx, identity("agent", 1), request())
		release()
		var call *pacer.CallError
		var limit *pacer.LimitError
		if !errors.As(err, &call) || call.Attempts != 0 || !errors.As(err, &limit) || limit.Limit != pacer.LimitCallTotal {
			t.Errorf("got %v", err)
		}
		if want := []string{"3s slot", "8s done", "8s ended tokens=0 err=true"}; !slices.Equal(rec.lines, want) {
			t.Errorf("got %q, want %q", rec.lines, want)
		}
		settled(t, w, p)
	})
}

// TestCancelStories cancels each story at many instants: every call ends at that instant with the
// cause, and leaves no slot, no process and no timer that would do anything.
func TestCancelStories(t *testing.T) {
	why := errors.New("why")
	for _, chapter := range chapters() {
		for _, st := range chapter.stories {
			for at := 250 * ms; at < 12*s; at += s {
				inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
					inner, cancel := w.WithCancel(ctx)
					w.AfterFunc(at, func() { cancel(why) })
					rec, errs, _ := st.run(t, w, inner)
					for i, err := range errs {
						if now := w.Now().Sub(0); err == why && now != at || err != nil && now > at && err != why {
							t.Errorf("seed %d: %s, cancelled at %v: call %d ended at %v with %v", seed, st.name, at, i+1, now, err)
						}
					}
					told := len(rec.lines)
					_ = w.Sleep(ctx, time.Hour)
					if len(rec.lines) != told {
						t.Errorf("seed %d: %s, cancelled at %v: told later: %q", seed, st.name, at, rec.lines[told:])
					}
					if n := len(w.Processes()); n != 1 {
						t.Errorf("seed %d: %s, cancelled at %v: %d processes are left, want this one", seed, st.name, at, n)
					}
				})
			}
		}
	}
}
