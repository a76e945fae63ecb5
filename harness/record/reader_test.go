package record

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/wedge/harness/bundle"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// transcript tells what a handler was told, a line each.
func transcript(to *strings.Builder) Handler {
	return Handler{
		Start:    func(s *Start) { fmt.Fprintf(to, "start    %+v\n", *s) },
		Began:    func(t *Task) { fmt.Fprintf(to, "began    %s %s at %v\n", t.Agent, t.Task, t.From) },
		Task:     func(t *Task) { fmt.Fprintf(to, "task     %+v\n", *t) },
		Call:     func(c *Call) { writeCall(to, c) },
		Tool:     func(t *Tool) { fmt.Fprintf(to, "tool     %+v\n", *t) },
		Step:     func(s *Step) { fmt.Fprintf(to, "step     %+v\n", *s) },
		Detected: func(s *Stall) { fmt.Fprintf(to, "detected %+v\n", *s) },
		Stall:    func(s *Stall) { fmt.Fprintf(to, "stall    %+v\n", *s) },
		End:      func(e *End) { fmt.Fprintf(to, "end      %+v\n", *e) },
	}
}

func writeCall(to *strings.Builder, c *Call) {
	head := *c
	head.Spans, head.Attempts = nil, nil
	fmt.Fprintf(to, "call     %+v\n", head)
	for _, s := range c.Spans {
		fmt.Fprintf(to, "           %v-%v %v, attempt %d\n", s.From, s.To, s.Stage, s.Attempt)
	}
	for _, a := range c.Attempts {
		fmt.Fprintf(to, "           %+v\n", a)
	}
}

// journals are those in testdata: of virtual runs with hedges, with sub-agents and with streams that
// stay silent, and of one on the wall.
var journals = []string{"hedged", "subagents", "silent", "wall"}

func TestTranscripts(t *testing.T) {
	for _, name := range journals {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			sum, err := ReadAll(os.DirFS("testdata"), name+".jsonl", transcript(&got))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "summary  %+v\n", sum)
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("%s reads otherwise; -update rewrites it:\n%s", name, got.String())
			}
		})
	}
}

// TestCallsHaveNoGaps checks what the types promise: stages one after the other from the start of a
// call to its end, and attempts within it.
func TestCallsHaveNoGaps(t *testing.T) {
	calls := 0
	check := func(c *Call) {
		calls++
		at := c.From
		for _, s := range c.Spans {
			if s.From != at || s.To < s.From {
				t.Errorf("%s: stage %v runs from %v to %v, want it to begin at %v", c.ID, s.Stage, s.From, s.To, at)
			}
			at = s.To
		}
		if at != c.To {
			t.Errorf("%s: the stages end at %v, the call at %v", c.ID, at, c.To)
		}
		for _, a := range c.Attempts {
			if a.From < c.From || a.To > c.To || a.From > a.To {
				t.Errorf("%s: attempt %d runs from %v to %v, the call from %v to %v", c.ID, a.N, a.From, a.To, c.From, c.To)
			}
		}
	}
	for _, name := range journals {
		if _, err := ReadAll(os.DirFS("testdata"), name+".jsonl", Handler{Call: check}); err != nil {
			t.Fatal(err)
		}
	}
	if calls < 30 {
		t.Errorf("only %d calls were looked at", calls)
	}
}

// TestFromAnyLine reads each journal from each of its lines on, as rotation leaves it: what is not cut
// must be what the whole journal says.
func TestFromAnyLine(t *testing.T) {
	for _, name := range journals {
		text, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		whole := map[string]string{}
		read(t, text, 0, Handler{Call: func(c *Call) { whole[c.ID] = callText(c) }, Tool: func(x *Tool) { whole[fmt.Sprintf("%+v", *x)] = "" }})
		lines := bytes.SplitAfter(text, []byte("\n"))
		same, cut := 0, 0
		for skip := 1; skip < len(lines)-1; skip++ {
			sum := read(t, bytes.Join(lines[skip:], nil), skip, Handler{
				Call: func(c *Call) {
					switch {
					case c.Cut:
						cut++
						if c.Agent == "" || c.To < c.From {
							t.Errorf("%s from line %d: %s", name, skip, callText(c))
						}
					case callText(c) != whole[c.ID]:
						t.Errorf("%s from line %d: %s\nwant %s", name, skip, callText(c), whole[c.ID])
					default:
						same++
					}
				},
				Tool: func(x *Tool) {
					if _, ok := whole[fmt.Sprintf("%+v", *x)]; !ok {
						t.Errorf("%s from line %d: tool %+v", name, skip, *x)
					}
				},
			})
			if !sum.Cut || !sum.Ended {
				t.Errorf("%s from line %d: %+v", name, skip, sum)
			}
		}
		if same == 0 || cut == 0 {
			t.Errorf("%s: %d calls were the same, %d cut", name, same, cut)
		}
	}
}

func callText(c *Call) string {
	var b strings.Builder
	writeCall(&b, c)
	return b.String()
}

func read(t *testing.T, text []byte, skipped int, h Handler) Summary {
	t.Helper()
	name := "part.jsonl"
	if skipped > 0 {
		name = "part-000002.jsonl"
	}
	sum, err := ReadAll(fstest.MapFS{name: {Data: text}}, "part.jsonl", h)
	if err != nil {
		t.Fatalf("without the first %d lines: %v", skipped, err)
	}
	return sum
}

// TestUpToAnyByte reads a journal as a run that was killed leaves it.
func TestUpToAnyByte(t *testing.T) {
	text, err := os.ReadFile("testdata/silent.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(text); n += 1 + len(text)/2000 {
		began, ended, open := 0, 0, 0
		sum := read(t, text[:n], 0, Handler{
			Began: func(*Task) { began++ },
			Task: func(x *Task) {
				ended++
				if x.Open {
					open++
				}
			},
		})
		if began != ended {
			t.Fatalf("up to byte %d: %d tasks began, %d came to an end", n, began, ended)
		}
		if whole := bytes.HasSuffix(text[:n], []byte("\n")) || n == 0; sum.Broken == whole || sum.Lines != bytes.Count(text[:n], []byte("\n")) {
			t.Fatalf("up to byte %d: %+v", n, sum)
		}
		if sum.Ended != (n == len(text)) && n < len(text)-1 {
			t.Fatalf("up to byte %d: %+v", n, sum)
		}
	}
}

func TestRotated(t *testing.T) {
	text, err := os.ReadFile("testdata/subagents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	files := fstest.MapFS{}
	for i := 0; i < len(lines); i += 20 {
		files[fmt.Sprintf("events-%06d.jsonl", i/20+1)] = &fstest.MapFile{Data: bytes.Join(lines[i:min(i+20, len(lines))], nil)}
	}
	var whole, parts strings.Builder
	if _, err := ReadAll(os.DirFS("testdata"), "subagents.jsonl", transcript(&whole)); err != nil {
		t.Fatal(err)
	}
	sum, err := ReadAll(files, bundle.EventsLog, transcript(&parts))
	if err != nil || sum.Cut || whole.String() != parts.String() {
		t.Errorf("in %d files it reads otherwise: %+v, %v\n%s", len(files), sum, err, parts.String())
	}
	delete(files, "events-000001.jsonl")
	sum, err = ReadAll(files, bundle.EventsLog, Handler{})
	if err != nil || !sum.Cut || !sum.Ended {
		t.Errorf("without the oldest: %+v, %v", sum, err)
	}
	files["events-000003.jsonl"].Data = []byte("{}\n")
	_, err = ReadAll(files, bundle.EventsLog, Handler{})
	if at := new(LineError); !errors.As(err, &at) || at.File != "events-000003.jsonl" || at.Line != 1 {
		t.Errorf("error %v, want it to name file and line", err)
	}
	if _, err := ReadAll(fstest.MapFS{}, bundle.EventsLog, Handler{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a journal: %v", err)
	}
}

// TestLatest reads so many of the latest bytes, of one file and of several.
func TestLatest(t *testing.T) {
	text, err := os.ReadFile("testdata/wall.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	half := len(text) / 2
	half += bytes.IndexByte(text[half:], '\n') + 1
	one := fstest.MapFS{"e.jsonl": {Data: text}}
	two := fstest.MapFS{"e-000001.jsonl": {Data: text[:half]}, "e-000002.jsonl": {Data: text[half:]}}
	for bytesMax := 1; bytesMax < len(text)+10; bytesMax += 97 {
		var a, b strings.Builder
		sum, err := ReadLatest(one, "e.jsonl", int64(bytesMax), transcript(&a))
		if err != nil {
			t.Fatalf("%d bytes: %v", bytesMax, err)
		}
		if _, err := ReadLatest(two, "e.jsonl", int64(bytesMax), transcript(&b)); err != nil || a.String() != b.String() {
			t.Fatalf("%d bytes of two files: %v\n%s\nwant\n%s", bytesMax, err, b.String(), a.String())
		}
		rest := text[max(0, len(text)-bytesMax):]
		if want := bytes.Count(rest, []byte("\n")); sum.Lines != want && sum.Lines != want-1 {
			t.Fatalf("%d bytes: %d lines, want %d or one less", bytesMax, sum.Lines, want)
		}
	}
}

const head = `{"t_s":0.000000000,"event":"run_start","run":"x-1","agents":1,"workers":1}` + "\n"

func TestLostLines(t *testing.T) {
	const text = head + `{"t_s":1.000000000,"event":"task_start","agent":"a","task":"t"}
{"t_s":2.000000000,"event":"stage","call":"a-c001","agent":"a","task":"t","round":1,"step":1,"stage":"connect","from":"think","attempt":1}
{"lost_lines":7}
{"t_s":9.000000000,"event":"attempt_end","call":"b-c001","attempt":1,"id":"b-c001-a1","outcome":"ok","took_s":4.000000000,"tokens":3}
{"t_s":9.000000000,"event":"call_end","call":"b-c001","ok":true,"attempts":1,"took_s":5.000000000,"tokens":3}
`
	var got strings.Builder
	sum := read(t, []byte(text), 0, transcript(&got))
	const want = "call     {ID:b-c001 Agent:b Task: Round:0 Step:0 From:4s To:9s Spans:[] Attempts:[] OK:true Tokens:3 Err: Open:false Cut:true}"
	if sum.Lost != 7 || sum.Cut || !strings.Contains(got.String(), want) {
		t.Errorf("%+v\n%s", sum, got.String())
	}
}

// TestMomentsBack is of lines that tell of a moment before the line above, as those on the wall may.
func TestMomentsBack(t *testing.T) {
	const text = head + `{"t_s":5.000000000,"event":"task_start","agent":"a","task":"t"}
{"t_s":4.900000000,"event":"stage","call":"a-c001","agent":"a","task":"t","round":1,"step":1,"stage":"connect","from":"think","attempt":1}
{"t_s":6.000000000,"event":"stage","call":"a-c001","stage":"headers","from":"connect","attempt":1}
{"t_s":5.900000000,"event":"stage","call":"a-c001","stage":"stream","from":"headers","attempt":1}
{"t_s":5.800000000,"event":"call_end","call":"a-c001","ok":true,"attempts":1,"took_s":0.900000000,"tokens":3}
{"t_s":4.000000000,"event":"agent_end","agent":"a","task":"t","ok":true}
`
	var got strings.Builder
	sum := read(t, []byte(text), 0, Handler{Task: transcript(&got).Task, Call: transcript(&got).Call})
	const want = `call     {ID:a-c001 Agent:a Task:t Round:1 Step:1 From:4.9s To:6s Spans:[] Attempts:[] OK:true Tokens:3 Err: Open:false Cut:false}
           4.9s-6s connect, attempt 1
           6s-6s headers, attempt 1
           6s-6s stream, attempt 1
           {N:1 ID: From:4.9s To:6s Outcome: Limit: Status:0 Tokens:0 Err: Again:false Delay:0s Stop: Kept:0 Hedge:false Beside:false Open:true}
task     {Agent:a Task:t Parent: From:5s To:5s OK:true Limit: Err: Open:false Cut:false}
`
	if got.String() != want || sum.To != 6e9 {
		t.Errorf("%+v\n%s\nwant\n%s", sum, got.String(), want)
	}
}

// TestAnotherRun is of a journal that a resumed run has gone on with.
func TestAnotherRun(t *testing.T) {
	const text = head + `{"t_s":1.000000000,"event":"task_start","agent":"a","task":"t"}
{"t_s":0.500000000,"event":"run_start","run":"x-1","agents":1,"workers":1}
{"t_s":0.600000000,"event":"task_start","agent":"a","task":"t"}
{"t_s":0.700000000,"event":"agent_end","agent":"a","task":"t","ok":true}
`
	var got strings.Builder
	read(t, []byte(text), 0, Handler{Task: transcript(&got).Task})
	const want = `task     {Agent:a Task:t Parent: From:1s To:1s OK:false Limit: Err: Open:true Cut:false}
task     {Agent:a Task:t Parent: From:600ms To:700ms OK:true Limit: Err: Open:false Cut:false}
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestErrors(t *testing.T) {
	const task = `{"t_s":1.0,"event":"task_start","agent":"a","task":"t"}` + "\n"
	const call = `{"t_s":2.0,"event":"stage","call":"a-c1","agent":"a","task":"t","round":1,"step":1,"stage":"slot","from":"think","attempt":0}` + "\n"
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{head, ""},
		{"\n" + head, `part.jsonl:1: found the end, want an object of JSON`},
		{task, `part.jsonl:1: event: found task_start at the start of a journal, want run_start`},
		{head + "[1]\n", `part.jsonl:2: found "[1]", want an object of JSON`},
		{head + "{\"t_s\":1} x\n", `part.jsonl:2: found "x" after the object, want the end of the line`},
		{head + "{\"t_s\":1\n" + task, `part.jsonl:2: found the end, want a comma or the end of the object`},
		{head + "{\"t_s\":\"1\"}\n", `part.jsonl:2: t_s: found "\"1\"}", want a number of seconds with at most nine decimals`},
		{head + "{\"t_s\":1.0000000001}\n", `part.jsonl:2: t_s: found "1.0000000001}", want a number of seconds with at most nine decimals`},
		{head + "{\"event\":\"step_end\"}\n", `part.jsonl:2: t_s: found a line without it, want it in every line`},
		{head + "{\"t_s\":1,\"t_s\":1}\n", `part.jsonl:2: t_s: found "1}", want it once`},
		{head + "{\"t_s\":1,\"mood\":1}\n", `part.jsonl:2: mood: found "1}", want a field that a journal has`},
		{head + "{\"t_s\":1,\"event\":\"lunch\"}\n", `part.jsonl:2: event: found "lunch", want one of run_start, task_start, stage, attempt_end,`},
		{head + "{\"t_s\":1,\"event\":\"task_start\",\"agent\":\"a\"}\n", `part.jsonl:2: event: found task_start without task, want it with agent, task`},
		{head + "{\"t_s\":1,\"event\":\"task_start\",\"agent\":\"a\",\"task\":\"t\",\"ok\":true}\n", `part.jsonl:2: event: found task_start with ok, want it with agent, task at most`},
		{head + "{\"t_s\":1,\"event\":\"task_start\",\"agent\":7}\n", `part.jsonl:2: agent: found "7}", want a text`},
		{head + "{\"t_s\":1,\"event\":\"agent_end\",\"agent\":\"a\",\"task\":\"t\",\"ok\":1}\n", `part.jsonl:2: ok: found "1}", want true or false`},
		{head + call, ""},
		{head + call + task, ""}, // a moment before the line above
		{head + call + call, `part.jsonl:3: call: found the start of "a-c1", which is under way, want one that is not`},
		{head + strings.Replace(call, "slot", "sleep", 1), `part.jsonl:2: stage: found "sleep", want the name of a stage`},
		{head + strings.Replace(call, "think", "tool", 1), `part.jsonl:2: call: found "a-c1", which has not begun, want a call that has`},
		{head + strings.Replace(call, `"agent":"a",`, "", 1), `part.jsonl:2: from: found the start of a call without agent and task, want it with both`},
		{head + `{"t_s":3,"event":"call_end","call":"z-c1","ok":true,"attempts":1,"took_s":1,"tokens":1}` + "\n", `part.jsonl:2: call: found "z-c1", which has not begun, want a call that has`},
		{head + `{"t_s":3,"event":"tool_end","agent":"a","tool":"x","took_s":-1,"in_range":true}` + "\n", `part.jsonl:2: took_s: found a length below 0, want one of at least 0`},
		{head + `{"t_s":3,"event":"agent_end","agent":"a","task":"t","ok":true}` + "\n", `part.jsonl:2: agent: found the end of "a", which has not begun, want one that has`},
	} {
		files := fstest.MapFS{"part.jsonl": {Data: []byte(c.text)}}
		_, err := ReadAll(files, "part.jsonl", Handler{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%q: error\n%v\nwant\n%s", c.text, err, c.want)
		}
	}
	_, err := ReadAll(fstest.MapFS{"x": {Data: bytes.Repeat([]byte("a"), 3<<20)}}, "x", Handler{})
	if err == nil || !strings.Contains(err.Error(), "x:1: found a line of more than") {
		t.Errorf("a line without end: %v", err)
	}
}
