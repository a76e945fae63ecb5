package workload

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const csvHeader = "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"

func TestReadFileOfPublishedTraces(t *testing.T) {
	var out strings.Builder
	for _, name := range []string{
		"mooncake_conversation_first40.jsonl", "mooncake_synthetic_first40.jsonl",
		"tracelab_session_workload_example.csv", "tracelab_multi_session_large_first60.csv",
	} {
		trace, err := ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if trace.Source != name {
			t.Errorf("source %q, want %q", trace.Source, name)
		}
		fmt.Fprintf(&out, "%s\n%v\n", trace.Source, trace.Summary())
		for _, s := range trace.Sessions {
			fmt.Fprintf(&out, "  %s arrives %v\n", s.ID, s.Arrival)
			for _, c := range s.Calls {
				fmt.Fprintf(&out, "    %d+%d -> %d, wait %v\n", c.PrefixTokens, c.InputTokens, c.OutputTokens, c.WaitAfter)
			}
		}
	}
	golden(t, "testdata/traces.golden", out.String())
}

func TestMooncakeSessions(t *testing.T) {
	const text = `{"session_id":"a","timestamp":1000,"input_length":2048,"output_length":128,"hash_ids":[1,2,3,4]}
{"timestamp":1500.5,"input_length":10,"output_length":1}
{"session_id":"b","timestamp":1010,"input_tokens":1024,"output_tokens":64,"hash_ids":[9,10]}

{"session_id":"a","delay_ms":50,"input_length":2560,"output_length":129,"hash_ids":[1,2,3,4,5]}
{"session_id":"b","created_time":1060,"input_length":1500,"output_length":65,"hash_ids":[9,11,12], "delay": null}
{"session_id":"a","timestamp":9000,"delay":0.25,"input_length":700,"output_length":130,"hash_ids":[1,2]}
{"session_id":"a","input_length":700,"output_length":131}
{"session_id":"c","delay":7,"input_length":100,"output_length":0,"hash_ids":[]}
`
	ms := time.Millisecond
	want := Trace{Source: "t.jsonl", Sessions: []Session{
		{ID: "a", Arrival: 1000 * ms, Calls: []Call{
			{InputTokens: 2048, OutputTokens: 128, WaitAfter: 50 * ms},
			{PrefixTokens: 2048, InputTokens: 512, OutputTokens: 129, WaitAfter: 250 * time.Microsecond},
			{PrefixTokens: 700, OutputTokens: 130},
			{InputTokens: 700, OutputTokens: 131},
		}},
		{ID: "line:2", Arrival: 1500*ms + 500*time.Microsecond, Calls: []Call{{InputTokens: 10, OutputTokens: 1}}},
		{ID: "b", Arrival: 1010 * ms, Calls: []Call{
			{InputTokens: 1024, OutputTokens: 64, WaitAfter: 50 * ms},
			{PrefixTokens: 512, InputTokens: 988, OutputTokens: 65},
		}},
		{ID: "c", Arrival: 7 * ms, Calls: []Call{{InputTokens: 100}}},
	}}
	for _, text := range []string{text, "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimSpace(text)} {
		got, err := ReadMooncake("dir/t.jsonl", strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func TestSharedTokens(t *testing.T) {
	ids := func(n int) []uint64 {
		list := make([]uint64, n)
		for i := range list {
			list[i] = uint64(i)
		}
		return list
	}
	for _, tt := range []struct{ before, blocks, input, want int }{
		{0, 4, 2048, 0}, {4, 0, 2048, 0}, {4, 4, 2048, 2048}, {4, 4, 1900, 1900}, {2, 4, 1900, 1024}, {9, 4, 2048, 2048},
		{2, 32, 2048, 128}, // blocks of 64
		{1, 3, 4000, 1334}, // size unknown: the smallest that fits
	} {
		if got := sharedTokens(ids(tt.before), ids(tt.blocks), tt.input); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

func TestTraceLabInterleaved(t *testing.T) {
	const text = csvHeader + `b,30,4,0,100,10,1.5
"a, or b",20,0,5,200,20,0

b,,7,110,300,30,2
"a, or b",20,1,225,400,40,0
`
	want := Trace{Source: "t.csv", Sessions: []Session{
		{ID: "b", Arrival: 30 * time.Millisecond, Calls: []Call{
			{InputTokens: 100, OutputTokens: 10, WaitAfter: 1500 * time.Microsecond},
			{PrefixTokens: 110, InputTokens: 300, OutputTokens: 30, WaitAfter: 2 * time.Millisecond},
		}},
		{ID: "a, or b", Arrival: 20 * time.Millisecond, Calls: []Call{
			{PrefixTokens: 5, InputTokens: 200, OutputTokens: 20},
			{PrefixTokens: 225, InputTokens: 400, OutputTokens: 40},
		}},
	}}
	for _, text := range []string{text, "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimSpace(text)} {
		got, err := ReadTraceLab("t.csv", strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	reordered := "id,input_len,output_len,round_idx,tool_wait_after_ms,prefix_len\nx,1,2,3,4,5\n"
	got, err := ReadTraceLab("t.csv", strings.NewReader(reordered))
	if err != nil || !reflect.DeepEqual(got.Sessions, []Session{{ID: "x", Calls: []Call{{5, 1, 2, 4 * time.Millisecond}}}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTraceErrors(t *testing.T) {
	const good = `{"timestamp":0,"input_length":1,"output_length":1}` + "\n"
	const session = `{"session_id":"s","timestamp":5000,"input_length":1,"output_length":1}` + "\n"
	mooncake := []string{
		"", "\n\r\n", "\ufeff", good + `{"timestamp":0,"input_length":"six","output_length":1}`, good + `{"timestamp":0,"input_length":-5,"output_length":1}`,
		`{"timestamp":0,"input_length":1.5,"output_length":1}`, `{"timestamp":0,"input_length":1000000001,"output_length":1}`,
		`{"timestamp":0,"input_length":99999999999999999999999,"output_length":1}`, `{"timestamp":0,"input_length":null,"output_length":1}`,
		`{"timestamp":0,"input_length":1}`, `{"input_length":1,"output_length":1}`, `{"timestamp":null,"input_length":1,"output_length":1}`,
		`{"timestamp":NaN,"input_length":1,"output_length":1}`, `{"timestamp":-1,"input_length":1,"output_length":1}`, `{"timestamp":1e999,"input_length":1,"output_length":1}`,
		`{"timestamp":3600000001,"input_length":1,"output_length":1}`, `{"timestamp":"0","input_length":1,"output_length":1}`,
		`{"timestamp":0,"input_length":1,"output_length":1,"priority":3}`, `{"timestamp":0,"input_length":1,"output_length":1,"timestamp":3}`,
		`{"timestamp":0,"input_length":1,"output_length":1,"created_time":3}`,
		`{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[1,"x"]}`, `{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":7}`,
		`{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[1,[2],3]}`, `{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[18446744073709551616]}`,
		good + `{"timestamp":0,"input_length":1,"output_length":1`, good + `[1,2]`, good + `timestamp,input_length`, `{"timestamp":0} {"timestamp":1}`, `{}`,
		`{"session_id":7,"input_length":1,"output_length":1}`, `{"session_id":"","input_length":1,"output_length":1}`, `{"session_id":"a\u001b[31m","input_length":1,"output_length":1}`,
		`{"session_id":"` + strings.Repeat("x", 201) + `","input_length":1,"output_length":1}`, `{"session_id":"line:3","input_length":1,"output_length":1}`,
		session + `{"session_id":"s","timestamp":4999.5,"input_length":1,"output_length":1}`, session + `{"session_id":"s","delay":-1,"input_length":1,"output_length":1}`,
		good + strings.Repeat(" ", LineBytesLimit+1),
	}
	row := csvHeader + "0,117,3,0,2318,200,300\n"
	traceLab := []string{
		"", "\ufeff\n", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023,1,2\n", strings.Replace(csvHeader, "input_len,", "", 1) + "1,1,1,1,1,1\n",
		strings.Replace(csvHeader, "output_len", "input_len", 1), strings.Replace(csvHeader, "arrival_time", "id", 1), csvHeader,
		row + "0,117,4,0,many,200,300\n", row + "0,117,4,0,-1,200,300\n", row + "0,117,4,0,1.5,200,300\n", row + "0,117,4,0,1e3,200,300\n", row + "0,117,4,,1,200,300\n",
		row + "0,117,4,0,1,99999999999999999999,300\n", row + "0,117,4,0,1,1000000001,300\n", row + "0,117,4,0,1,200,NaN\n", row + "0,117,4,0,1,200,Inf\n",
		row + "0,117,4,0,1,200,0x10\n", row + "0,117,4,0,1,200,-3\n", row + "0,117,4,0,1,200,1e300\n", row + "0,117,4,0,1,200,\n",
		row + "0,117,3,0,1,200,300\n", row + "0,117,2,0,1,200,300\n", row + "0,117,x,0,1,200,300\n", row + "0,117,-1,0,1,200,300\n", row + "0,117,2147483648,0,1,200,300\n",
		row + "0,118,4,0,1,200,300\n", row + "0,117,4,0,1,200\n", row + "0,117,4,0,1,200,300,\n", row + ",117,4,0,1,200,300\n", row + "\"0,117,4,0,1,200,300\n", row + "\x1b[31m,117,4,0,1,200,300\n",
		row + "0,117,4,0,\x1b[31m,200,300\n", row + "0,117,4,0," + strings.Repeat("9", 100) + ",200,300\n", row + strings.Repeat("9", LineBytesLimit+1),
	}
	var out strings.Builder
	check := func(text string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("accepted %q", shorten(text))
		} else if strings.Contains(err.Error(), "\n") || !printable(err.Error()) {
			t.Errorf("%q: error is not one safe line: %q", text, err)
		}
		if text = strings.TrimPrefix(text, row); len(text) > 1000 {
			text = shorten(text)
		}
		fmt.Fprintf(&out, "%q\n    %v\n", text, err)
	}
	for _, text := range mooncake {
		_, err := ReadMooncake("dir/bad.jsonl", strings.NewReader(text))
		check(text, err)
	}
	for _, text := range traceLab {
		_, err := ReadTraceLab("dir/bad.csv", strings.NewReader(text))
		check(text, err)
	}
	golden(t, "testdata/trace_errors.golden", out.String())
}

func TestLineOfExactlyTheLimit(t *testing.T) {
	line := `{"timestamp":0,"input_length":1,"output_length":1}`
	line = line[:1] + strings.Repeat(" ", LineBytesLimit-len(line)) + line[1:]
	for _, end := range []string{"", "\n", "\r\n"} {
		if _, err := ReadMooncake("t", strings.NewReader(line+end)); err != nil {
			t.Errorf("end %q: %v", end, err)
		}
	}
}

func TestTooManyCalls(t *testing.T) {
	r := newTraceReader("t.csv", strings.NewReader(""))
	r.trace.Sessions, r.calls, r.line = []Session{{ID: "a"}}, CallsLimit, 9
	if err := r.add(0, Call{}); fmt.Sprint(err) != "t.csv:9: calls: found more than 10000000, want at most 10000000" {
		t.Errorf("got %v", err)
	}
}

func TestReadErrorKeepsItsCauseAndLine(t *testing.T) {
	broken := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("{}")))
	if _, err := ReadMooncake("t", broken); err == nil || err.Error() != "t:1: timeout" {
		t.Errorf("got %v", err)
	}
}

func TestReadFileSniffs(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"bom.csv", "\ufeff \r\n" + `{"timestamp":0,"input_length":1,"output_length":1}`, ""},
		{"t.jsonl", csvHeader + "a,0,0,0,1,2,3\n", ""},
		{"azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "azure.csv:1: header: found column TIMESTAMP, want a TraceLab CSV with the columns session_id,"},
		{"empty.csv", "", "empty.csv:1: file: found nothing, want a TraceLab CSV"},
	} {
		path := filepath.Join(t.TempDir(), tt.name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		trace, err := ReadFile(path)
		switch {
		case tt.want == "" && (err != nil || trace.Calls() != 1):
			t.Errorf("%s: %d calls, %v", tt.name, trace.Calls(), err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), filepath.Dir(path)+"/"+tt.want)):
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "absent")); !os.IsNotExist(err) {
		t.Errorf("absent file: %v", err)
	}
}

func TestSummary(t *testing.T) {
	var trace Trace
	if got := trace.Summary(); got != (Summary{}) {
		t.Errorf("empty trace: %v", got)
	}
	for i := range 20 {
		trace.Sessions = append(trace.Sessions, Session{Calls: []Call{{InputTokens: 20 - i, OutputTokens: i, PrefixTokens: 1000}}})
	}
	want := Summary{Sessions: 20, Calls: 20, InputTokensP50: 10, InputTokensP95: 19, OutputTokensP50: 9, OutputTokensP95: 18}
	if got := trace.Summary(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for n := 1; n < 50; n++ {
		sorted := make([]int, n)
		for i := range sorted {
			sorted[i] = i + 1
		}
		for _, p := range []int{1, 50, 95, 100} {
			if got, want := percentile(sorted, p), int(math.Ceil(float64(p*n)/100)); got != want {
				t.Errorf("p%d of 1..%d: %d, want %d", p, n, got, want)
			}
		}
	}
}
