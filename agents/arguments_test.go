package agents

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// The plain reader answers as encoding/json does, or not at all.
func FuzzParsePlain(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"text":"abc"}`, `{"path":"a", "text": "b"}`, `{"message":12}`, `{"message":007}`, `{"message":1234567890}`,
		`{"text":"a\n"}`, `{"text":"ü"}`, `{"text":"a","text":"b"}`, `{"Text":"a"}`, `{"text":"a",}`, `{"text":"a"}}`, `{"message":1e3}`,
		`{"message":-0}`, "{\"text\":\"tab\there, far from the start\"}", `{"text":"` + strings.Repeat("long ", 99) + `"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parsePlain(text)
		if !ok {
			return
		}
		var want arguments
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q is read, but is not valid: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %s, want %s", text, toJSON(got), toJSON(want))
		}
	})
}

// What the simulated model sends must take the fast way, or a large fleet becomes slow.
func TestParsePlainReadsWhatModelsSend(t *testing.T) {
	for _, text := range []string{`{}`, `{"message":5}`, `{"path":"article.md","text":"` + filler(4000) + `"}`, `{"path":"article.md"}`, `{"message": 5, "path": "x"}`} {
		if _, ok := parsePlain(text); !ok {
			t.Errorf("%.60s… is not read", text)
		}
	}
}

func TestPrintableAgainstBytewise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bytewise := func(s string) bool {
		for i := range len(s) {
			if s[i] < 0x20 || s[i] >= 0x80 {
				return false
			}
		}
		return true
	}
	found := map[bool]int{}
	for range 20_000 {
		b := []byte(filler(r.IntN(100)))
		for i := range b {
			if r.IntN(40) == 0 {
				b[i] = byte(r.Uint32())
			}
		}
		s := string(b)
		if printable(s) != bytewise(s) {
			t.Fatalf("%q: %v, want %v", s, printable(s), bytewise(s))
		}
		found[bytewise(s)]++
	}
	if found[true] < 1000 || found[false] < 1000 {
		t.Errorf("%v: the texts test too little", found)
	}
}

func TestRoundedSizes(t *testing.T) {
	last, values := 0, map[int]bool{}
	for n := range 5000 {
		r := rounded(n)
		if r < last || n > 0 && (float64(r) < 0.984*float64(n) || float64(r) > 1.016*float64(n)) {
			t.Fatalf("rounded(%d) = %d", n, r)
		}
		if n >= 2048 && n < 4096 {
			values[r] = true
		}
		last = r
	}
	if len(values) != 33 {
		t.Errorf("%d values from 2048 to 4096, want 33", len(values))
	}
	if rounded(-5) != 0 {
		t.Errorf("rounded(-5) = %d, want 0", rounded(-5))
	}
}

func TestFolders(t *testing.T) {
	long := strings.Repeat("a/", 100)
	folders := map[string]string{} // to the task
	for _, task := range []string{"task-07", "task-07.s1", "line:12", "line=3a12", "a/b", "a_b", "..", ".", "", "a b", "=", "ü", long + "1", long + "2"} {
		f := folderOf(task)
		if other, taken := folders[f]; taken {
			t.Errorf("tasks %q and %q share the folder %q", task, other, f)
		}
		folders[f] = task
		if checkPath(f+"/"+articleName) != nil || len(f) > nameBytesMax || strings.ContainsAny(f, "/\\: ") {
			t.Errorf("task %q: folder %q", task, f)
		}
	}
	if f := folderOf("task-07.s1"); f != "task-07.s1" {
		t.Errorf("a plain id has the folder %q", f)
	}
}

func BenchmarkParseArguments(b *testing.B) {
	text := `{"path":"article.md","text":"` + filler(3700) + `"}`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseArguments(text); err != nil {
			b.Fatal(err)
		}
	}
}
