package record

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTableIsTheJournals holds the events and their fields against what the journal's documentation says.
func TestTableIsTheJournals(t *testing.T) {
	source, err := os.ReadFile("../journal.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "event, one of:\n")
	list, _, _ = strings.Cut(list, "// Fields after a semicolon")
	list = regexp.MustCompile(`\n//\t {3,}`).ReplaceAllString(list, " ") // goes on with the line before
	seen := 0
	for line := range strings.Lines(list) {
		name, rest, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "//")), " ")
		if !ok {
			continue
		}
		e, ok := eventOf([]byte(name))
		if !ok {
			t.Errorf("the journal has %s, the reader has not", name)
			continue
		}
		seen++
		rest = strings.ReplaceAll(rest, "the first one of a call also", "")
		documented := regexp.MustCompile(`[a-z_]+`).FindAllString(rest, -1)
		slices.Sort(documented)
		known := strings.Split((eventTable[e].must | eventTable[e].may).names(), ", ")
		slices.Sort(known)
		if !slices.Equal(documented, known) {
			t.Errorf("%s: the journal documents\n%v, the reader knows\n%v", name, documented, known)
		}
	}
	if seen != int(eventCount) {
		t.Errorf("%d of %d events are documented", seen, eventCount)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		line string
		key  key
		text string
		num  int64
	}{
		{`{"agent":"a"}`, keyAgent, "a", 0},
		{` { "agent" : "a" } `, keyAgent, "a", 0},
		{`{"agent":""}`, keyAgent, "", 0},
		{`{"agent":"a\"b\\c\u003cd\n\u00fc\ud83d"}`, keyAgent, "a\"b\\c<d\nü\ufffd", 0},
		{`{"agent":"ü😀"}`, keyAgent, "ü😀", 0},
		{`{"t_s":0}`, keyAt, "", 0},
		{`{"t_s":1.5}`, keyAt, "", 1_500_000_000},
		{`{"t_s":86400.000000001}`, keyAt, "", 86_400_000_000_001},
		{`{"delay_s":-0.25}`, keyDelay, "", -250_000_000},
		{`{"kept":-12}`, keyKept, "", -12},
		{`{"ok":true}`, keyOK, "", 1},
		{`{"ok":false}`, keyOK, "", 0},
	} {
		var f fields
		if err := f.scan([]byte(c.line)); err != nil || !f.has.has(c.key) || f.text(c.key) != c.text || f.nums[c.key] != c.num {
			t.Errorf("%s: %q and %d, %+v", c.line, f.text(c.key), f.nums[c.key], err)
		}
	}
	for _, line := range []string{
		``, `{`, `{}x`, `{"agent"}`, `{"agent":}`, `{"agent":"a}`, `{"agent":"\x"}`, `{"agent":"\u12"}`, `{"agent":"\u12xy"}`, "{\"agent\":\"a\tb\"}",
		`{"t_s":.5}`, `{"t_s":1.}`, `{"t_s":-}`, `{"t_s":01}`, `{"t_s":1e3}`, `{"t_s":9000000001}`, `{"kept":1.5}`, `{"kept":1e5}`, `{"ok":tru}`,
		`{"agent":"a",}`, `{"agent":"a""task":"b"}`, `{,}`,
	} {
		var f fields
		if err := f.scan([]byte(line)); err == nil {
			t.Errorf("%s: was taken", line)
		}
	}
}

// FuzzScan holds the scanner against encoding/json: what it takes, that takes too, with the same values.
func FuzzScan(f *testing.F) {
	for _, name := range journals {
		text, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		for i := 0; i < len(lines); i += 7 {
			f.Add([]byte(lines[i]))
		}
	}
	f.Add([]byte(`{"agent":"\u00fc\"\\\/\b\f\n\r\t","t_s":-0.1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var got fields
		if err := got.scan(line); err != nil {
			return
		}
		var want map[string]any
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("%q was taken; encoding/json: %v", line, err)
		}
		for k := range keyCount {
			value, there := want[keyTable[k].name]
			if there != got.has.has(k) {
				t.Fatalf("%q: %s there: %v, want %v", line, keyTable[k].name, got.has.has(k), there)
			}
			if there && !same(&got, k, value) {
				t.Fatalf("%q: %s is %q and %d, want %v", line, keyTable[k].name, got.text(k), got.nums[k], value)
			}
		}
	})
}

func same(f *fields, k key, want any) bool {
	switch want := want.(type) {
	case string:
		return strings.ToValidUTF8(f.text(k), "\ufffd") == strings.ToValidUTF8(want, "\ufffd") || strings.ContainsRune(want, '\ufffd')
	case bool:
		return f.flag(k) == want
	case float64:
		got := float64(f.nums[k])
		if keyTable[k].kind == kindSeconds {
			got /= 1e9
		}
		return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))
	}
	return false
}

// FuzzReader feeds a reader with anything: it must not panic, and end what has begun.
func FuzzReader(f *testing.F) {
	for _, name := range journals {
		text, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 2000)], 0) // the fuzzer is slow with long ones
		f.Add(text[len(text)/2:][:2000], 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, middle int) {
		began, ended := 0, 0
		r := NewReader("x", Handler{
			Began: func(*Task) { began++ },
			Task: func(k *Task) {
				ended++
				if k.To < k.From {
					t.Errorf("%+v ends before it begins", *k)
				}
			},
			Call: func(c *Call) {
				if len(c.Spans) > 0 && (c.Spans[0].From < c.From && !c.Cut || c.Spans[len(c.Spans)-1].To != c.To) {
					t.Errorf("%s", callText(c))
				}
			},
		})
		if middle%2 != 0 {
			r.Middle()
		}
		for line := range strings.Lines(string(text)) {
			if r.Feed([]byte(line)) != nil {
				return
			}
		}
		r.Close()
		if began > ended {
			t.Errorf("%d tasks began, %d came to an end", began, ended)
		}
	})
}
