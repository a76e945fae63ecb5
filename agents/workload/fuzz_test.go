package workload

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
)

func FuzzDurationYAML(f *testing.F) {
	for _, text := range []string{
		"2s", "0", "-1s", "{uniform: [1s, 3s]}", "{uniform: [3s, 1s], min: 2s}", "{lognormal: {median: 300ms, p90: 13.6s}, max: 10m}",
		"{lognormal: {median: 300ms, sigma: 2.98}}", "{mixture: [{weight: 61, uniform: [0s, 1s]}, {weight: .5, constant: 3s}], max: 5s}",
		"mixture:\n- weight: 1e3\n  lognormal: {median: 1us, sigma: 0.0}\n", "&a {constant: *a}", "1h2m3.5s", "!!str 4s",
	} {
		f.Add(text)
	}
	f.Fuzz(checkYAML[time.Duration])
}

func FuzzTokensYAML(f *testing.F) {
	for _, text := range []string{
		"3500", "0x10", "-1", "3.5", "{uniform: [3000, 4500]}", "{uniform: [3000, 4500], max: 4000, min: 10}", "{lognormal: {median: 350, p90: 698}}",
		"{mixture: [{weight: 1, lognormal: {median: 350, sigma: 1e-9}, min: 3}, {weight: 0, constant: 3}]}", "[1, 2]", "{\"constant\": 1_000}",
	} {
		f.Add(text)
	}
	f.Fuzz(checkYAML[int])
}

// checkYAML reads text as a distribution. If it is one, it must come back equal from
// its own forms and sample within its bounds.
func checkYAML[T Quantity](t *testing.T, text string) {
	var d Dist[T]
	if yaml.Unmarshal([]byte(text), &d) != nil {
		return
	}
	roundTrip(t, d)
	inBounds(t, d, rand.NewPCG(1, uint64(len(text))))
}

func FuzzReadMooncake(f *testing.F) {
	addFiles(f, "*.jsonl")
	f.Add(`{"session_id":"a","timestamp":1000,"input_length":2048,"output_length":128,"hash_ids":[1,2]}
{"session_id":"a","delay_ms":50.5,"input_tokens":2560,"output_tokens":1,"hash_ids":[1, 3 , 4],"timestamp":null}`)
	f.Add(`{"\u0074imestamp":1e2,"input_length":1,"output_length":0,"hash_ids":[ ]}`)
	f.Add("\ufeff{}\r\n[]")
	f.Add(`{"timestamp":0,"input_length":1,"output_length":1,"session_id":"\",}]{\\"}`)
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadMooncake("f", strings.NewReader(text))
		checkTrace(t, trace, err)
	})
}

func FuzzReadTraceLab(f *testing.F) {
	addFiles(f, "*.csv")
	f.Add(csvHeader + "a,1.5,0,0,1,1,1\n\"b,\"\"c\",,7,0,1,1,1e2\na,1.5,1,0,1,1,1\n")
	f.Add("id,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\r\n\"\",0,0,0,0,0")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadTraceLab("f", strings.NewReader(text))
		checkTrace(t, trace, err)
	})
}

func addFiles(f *testing.F, pattern string) {
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds %s: %v", pattern, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		// The head will do: the fuzzer spends its time on making big seeds small.
		lines := strings.SplitAfterN(string(text), "\n", 4)
		f.Add(strings.Join(lines[:3], ""))
	}
}

// checkTrace fails if an error is not one safe line with its place, or if a trace
// breaks its promises or does not come back from a CSV of it.
func checkTrace(t *testing.T, trace Trace, err error) {
	t.Helper()
	if err != nil {
		if !strings.HasPrefix(err.Error(), "f:") || strings.ContainsFunc(err.Error(), unprintable) {
			t.Errorf("error %q", err)
		}
		return
	}
	if trace.Calls() == 0 {
		t.Error("a trace without calls and without error")
	}
	seen := map[string]bool{}
	for _, s := range trace.Sessions {
		if seen[s.ID] || s.ID == "" || s.Arrival < 0 || len(s.Calls) == 0 {
			t.Errorf("session %+v, seen before: %v", s, seen[s.ID])
		}
		seen[s.ID] = true
		for _, c := range s.Calls {
			if c.InputTokens < 0 || c.PrefixTokens < 0 || c.OutputTokens < 0 || c.WaitAfter < 0 {
				t.Errorf("session %s: call %+v", s.ID, c)
			}
		}
	}
	text := asCSV(trace)
	again, err := ReadTraceLab("f", bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got, want := fmt.Sprintf("%+v", again.Sessions), fmt.Sprintf("%+v", trace.Sessions); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// asCSV writes a trace in TraceLab's format.
func asCSV(trace Trace) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	b.WriteString(csvHeader)
	for _, s := range trace.Sessions {
		for i, c := range s.Calls {
			w.Write([]string{s.ID, millis(s.Arrival), strconv.Itoa(i), strconv.Itoa(c.PrefixTokens), strconv.Itoa(c.InputTokens), strconv.Itoa(c.OutputTokens), millis(c.WaitAfter)})
		}
	}
	w.Flush()
	return b.Bytes()
}
