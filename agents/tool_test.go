package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// useTools has an agent's model ask for the given tool calls, one answer a step, and returns the
// tool messages that came back, the reports to the observer, and the workspace.
func useTools(t *testing.T, ctx context.Context, w sim.World, calls ...openai.ToolCall) (results, reports []string, ws *agents.Memory) {
	t.Helper()
	wf := short(1)
	wf.Steps = len(calls) + 1
	ws = agents.NewMemory(agents.NewShared(w, &wf))
	p, j := &player{w: w}, newJournal(w)
	p.answer = func(id pacer.Identity, _ openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
		if id.Call > len(calls) {
			return openai.ChatCompletionMessage{Content: "Done."}, nil
		}
		return calling("", calls[id.Call-1]), nil
	}
	if err := agents.New(w, "a", &wf, ws, p, j, nil).Run(ctx, agents.Task{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	for _, m := range p.reqs[len(p.reqs)-1].Messages {
		if m.Role == openai.ChatMessageRoleTool {
			results = append(results, m.Content)
		}
	}
	return results, took(j), ws
}

func TestTools(t *testing.T) {
	const (
		done = `{"in_range":true}`
		path = `want a file name of letters, digits, blanks and . _ -, without folders, at most 100 bytes`
	)
	problem := func(text string) string {
		b, _ := json.Marshal(map[string]string{"error": text})
		return string(b)
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"read_message", `{"message":200}`, `{"in_range":false,"messages":200}`},
		{"read_message", `{"message":-1}`, `{"in_range":false,"messages":200}`},
		{"read_message", `{"message":99999999999999999999}`, problem("read_message: argument message: found number 99999999999999999999, want a whole number")},
		{"read_message", `{"message":"3"}`, problem("read_message: argument message: found string, want a whole number")},
		{"read_message", `{"message":1.5}`, problem("read_message: argument message: found number 1.5, want a whole number")},
		{"read_message", `{}`, problem("read_message: argument message is missing")},
		{"read_message", `{"message":null}`, problem("read_message: argument message is missing")},
		{"read_message", `{"message":1`, problem("read_message: arguments: not valid JSON (unexpected end of JSON input)")},
		{"write", `[]`, problem("write: arguments: found array, want a JSON object")},
		{"write", `{"text":1}`, problem("write: argument text: found number, want a string")},
		{"write", `{"text":"cut off in the mid`, problem("write: arguments: not valid JSON (unexpected end of JSON input)")},
		{"write", ``, problem("write: argument text is missing")},
		{"append", `{"path":"article.md"}`, problem("append: argument text is missing")},
		{"save", `{"path":"/etc/passwd"}`, problem(`save: path "/etc/passwd": ` + path)},
		{"save", `{"path":"../t2/article.md"}`, problem(`save: path "../t2/article.md": ` + path)},
		{"save", `{"path":".."}`, problem(`save: path "..": ` + path)},
		{"save", `{"path":".hidden"}`, problem(`save: path ".hidden": ` + path)},
		{"save", `{"path":"a\u0000b"}`, problem(`save: path "a\x00b": ` + path)},
		{"save", `{"path":""}`, problem(`save: path "": ` + path)},
		{"save", `{"path":"never written.md"}`, problem("save: nothing was written yet")},
		{"save", `{}`, problem("save: nothing was written yet")},
		{"rm -rf\x1b[2J", `{}`, problem(`there is no tool "rm -rf\x1b[2J"`)},
		{"", `{}`, problem(`there is no tool ""`)},
		{"write", `{"text":"one ","message":0,"why":["because"]}`, done},
		{"append", `{"text":"\u00fcber"}`, done},
		{"append", `{"text":"two","path":"notes 2.md"}`, done},
		{"save", ` { "path" : "other.md" } `, `{"in_range":true,"saved":true}`},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
				results, _, _ := useTools(t, ctx, w, call("write", `{"text":"before","path":"other.md"}`), call(c.tool, c.arguments))
				if got := results[1]; got != c.want {
					t.Errorf("result %s, want %s", got, c.want)
				}
			})
		})
	}
}

// What a model got wrong must not go back to the server as it was: servers parse it again.
func TestBrokenCallsAreMended(t *testing.T) {
	for _, c := range []struct{ name, arguments, backName, back string }{
		{"write", `{"text":"cut off in the mid`, "write", "{}"},
		{"write", `[1]`, "write", "{}"},
		{"save", "", "save", "{}"},
		{"write", `{"text":1}`, "write", `{"text":1}`},
		{"rm -rf", `{"a":`, "unknown", "{}"},
		{"unlink", `{"a":1}`, "unlink", `{"a":1}`},
	} {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		err := w.Run(context.Background(), func(ctx context.Context) {
			wf := short(2)
			wf.Steps = 1
			p := &player{w: w, answer: func(pacer.Identity, openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
				return calling("", call(c.name, c.arguments)), nil
			}}
			if err := agents.New(w, "a", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, nil, nil).Run(ctx, agents.Task{ID: "t"}); err != nil {
				t.Fatal(err)
			}
			if f := p.reqs[1].Messages[2].ToolCalls[0].Function; f.Name != c.backName || f.Arguments != c.back {
				t.Errorf("%s(%s) goes back as %s(%s), want %s(%s)", c.name, c.arguments, f.Name, f.Arguments, c.backName, c.back)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestArticle(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		results, _, ws := useTools(t, ctx, w,
			call("write", `{"text":"gone"}`), call("write", `{"text":"one "}`), call("append", `{"text":"\u00fcber"}`), call("save", `{}`),
			call("append", `{"text":"two","path":"notes 2.md"}`), call("save", ` { "path" : "notes 2.md" } `), call("append", `{"text":" unsaved"}`))
		if results[3] != `{"in_range":true,"saved":true}` || results[5] != results[3] {
			t.Errorf("results %q", results)
		}
		for path, want := range map[string]string{"t/article.md": "one über", "t/notes 2.md": "two", "t/other.md": ""} {
			if text, saved := ws.Article(path); text != want || saved != (want != "") {
				t.Errorf("%s: %q, saved %v, want %q", path, text, saved, want)
			}
		}
	})
}

// A message has one size, however often it is read, and the text that it says.
func TestReadMessage(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	err := w.Run(context.Background(), func(ctx context.Context) {
		wf := agents.DefaultWorkflow()
		wf.Rounds, wf.Messages = 30, 20
		wf.MessageTokens = workload.Must(workload.LogNormal(1_000, 3_000))
		p := &player{w: w}
		if err := agents.New(w, "a", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, nil, nil).Run(ctx, agents.Task{ID: "t"}); err != nil {
			t.Fatal(err)
		}
		sizes := map[int]bool{}
		for _, m := range p.reqs[len(p.reqs)-1].Messages {
			if !strings.Contains(m.ToolCallID, "read_message") || !strings.Contains(m.Content, "text") {
				continue
			}
			var result struct {
				InRange *bool  `json:"in_range"`
				Text    string `json:"text"`
			}
			if err := json.Unmarshal([]byte(m.Content), &result); err != nil || result.InRange == nil || !*result.InRange || result.Text == "" {
				t.Errorf("result %.80q: %v", m.Content, err)
			}
			sizes[len(m.Content)] = true
		}
		if len(sizes) < 10 || len(sizes) > 19 { // messages 1 to 19 are in range
			t.Errorf("%d sizes of messages, want 10 to 19: %v", len(sizes), sizes)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestToolsAsOffered(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{})
	err := w.Run(context.Background(), func(ctx context.Context) {
		wf := short(1)
		wf.Tools = []string{"save", "read_message", "save", "write"}
		wf.MaxTokens, wf.Model = 9000, "m-1"
		p := &player{w: w}
		if err := agents.New(w, "a", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, nil, nil).Run(ctx, agents.Task{ID: "t"}); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(p.reqs[0])
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Model     string
			User      string
			MaxTokens int `json:"max_tokens"`
			Stream    bool
			Tools     []struct {
				Function struct {
					Name       string
					Parameters struct {
						Type       string
						Properties map[string]struct{ Type string }
						Required   []string
					}
				}
			}
		}
		if err := json.Unmarshal(b, &sent); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%+v", sent)
		want := "{Model:m-1 User:t MaxTokens:9000 Stream:true Tools:[" +
			"{Function:{Name:save Parameters:{Type:object Properties:map[path:{Type:string}] Required:[]}}} " +
			"{Function:{Name:read_message Parameters:{Type:object Properties:map[message:{Type:integer}] Required:[message]}}} " +
			"{Function:{Name:write Parameters:{Type:object Properties:map[path:{Type:string} text:{Type:string}] Required:[text]}}}]}"
		if got != want {
			t.Errorf("request\n%s, want\n%s", got, want)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTooManyToolCalls(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	err := w.Run(context.Background(), func(ctx context.Context) {
		wf := short(1)
		wf.Steps = 2
		p, j := &player{w: w}, newJournal(w)
		p.answer = func(pacer.Identity, openai.ChatCompletionRequest) (openai.ChatCompletionMessage, error) {
			return calling("", slices.Repeat([]openai.ToolCall{call("write", `{"text":"x"}`)}, 70)...), nil
		}
		if err := agents.New(w, "a", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, j, nil).Run(ctx, agents.Task{ID: "t"}); err != nil {
			t.Fatal(err)
		}
		if n := len(p.reqs[1].Messages); n != 2+1+70 {
			t.Errorf("%d messages, want an answer to each of 70 calls", n)
		}
		if last := p.reqs[1].Messages[72].Content; last != `{"error":"write: at most 64 tool calls are run of one answer"}` {
			t.Errorf("the last answer is %s", last)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzToolCall lets a model ask for anything: the agent neither fails nor leaves its folder, and what
// goes back to the model is JSON.
func FuzzToolCall(f *testing.F) {
	for _, tool := range []string{"read_message", "write", "append", "save", "", "unlink"} {
		for _, arguments := range []string{"", "{}", `{"message":3}`, `{"text":"a","path":"b"}`, `{"text":"\ud800"}`, `{"path":"../x"}`, `{"text":`, "null", `{"a":{"b":[1,2]}}`} {
			f.Add(tool, arguments)
		}
	}
	f.Fuzz(func(t *testing.T, tool, arguments string) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		err := w.Run(context.Background(), func(ctx context.Context) {
			results, reports, _ := useTools(t, ctx, w, call("write", `{"text":"x"}`), call(tool, arguments))
			if len(results) != 2 || len(reports) != 2 {
				t.Fatalf("%d results, %d reports, want 2", len(results), len(reports))
			}
			var result map[string]any
			if err := json.Unmarshal([]byte(results[1]), &result); err != nil {
				t.Errorf("result %q: %v", results[1], err)
			}
			if result["error"] == nil && result["in_range"] == nil {
				t.Errorf("result %q has neither in_range nor error", results[1])
			}
			if !utf8.ValidString(reports[1]) && utf8.ValidString(arguments) && utf8.ValidString(tool) {
				t.Errorf("report %q is not UTF-8", reports[1])
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}
