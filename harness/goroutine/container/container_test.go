package container

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"
)

// dump is what a program printed, in every case.
const dump = `fatal error: all goroutines are asleep - deadlock!

goroutine 1 gp=0x1f2e80 m=nil [semacquire, 9 minutes]:
runtime.gopark(0xc000012345?, 0x0?, 0x60?, 0x41?, 0x14?)
	/usr/local/go/src/runtime/proc.go:435 +0xce fp=0xc000 sp=0xc001 pc=0x4711
sync.(*WaitGroup).Wait(0xc000012120)
	/usr/local/go/src/sync/waitgroup.go:118 +0x48
main.main()
	/src/app/my dir/main.go:17 +0x1a5

goroutine 18 [chan receive (nil chan), 9 minutes labels:{"note": "a\n\ngoroutine 5 [select]:\n\tx.go:3"}]:
main.worker.func2.1(...)
	/src/app/main.go:30
created by main.main in goroutine 1
	/src/app/main.go:12 +0x85
exit status 2
`

// wrappers make of lines what containers make of them.
var wrappers = []struct {
	name  string // of the layer
	what  string
	wrap  func(lines []string) string
	blind bool // tabs are blanks afterwards, and empty lines are lost
}{
	{name: "", what: "plain", wrap: plainText},
	{name: "CRLF", what: "CRLF", wrap: func(lines []string) string { return strings.Join(lines, "\r\n") + "\r\n" }},
	{name: "BOM", what: "BOM", wrap: func(lines []string) string { return bom + plainText(lines) }},
	{name: "UTF-16", what: "UTF-16 little endian", wrap: func(lines []string) string { return wide(plainText(lines), binary.LittleEndian) }},
	{name: "UTF-16", what: "UTF-16 big endian", wrap: func(lines []string) string { return wide(plainText(lines), binary.BigEndian) }},
	{name: "ANSI", what: "ANSI", wrap: each(func(_ int, l string) string {
		if l == "" {
			return l
		}
		return "\x1b[1;31m" + l[:len(l)/2] + "\x1b[0m" + l[len(l)/2:] + "\x1b]0;title\a\x1b[K"
	})},
	{name: "docker json", what: "docker", wrap: each(func(_ int, l string) string {
		return fmt.Sprintf(`{"log":%s,"stream":"stderr","time":"2026-01-02T03:04:05.678901234Z"}`, quoted(l+"\n"))
	})},
	{name: "docker json", what: "docker with attrs", wrap: each(func(_ int, l string) string {
		return fmt.Sprintf(`{"log":%s,"stream":"stderr","attrs":{"tag":"a,}b"},"time":"2026-01-02T03:04:05.678901234Z"}`, quoted(l+"\n"))
	})},
	{name: "CRI", what: "CRI", wrap: each(func(_ int, l string) string { return "2026-01-02T03:04:05.678901234Z stderr F " + l })},
	{name: "CRI", what: "CRI in parts", wrap: each(func(i int, l string) string {
		out, k := "", len(l)*(i%7)/7
		if i%3 > 0 {
			out = "2026-01-02T03:04:05.678901234Z stderr P " + l[:k] + "\n"
			l = l[k:]
		}
		return out + "2026-01-02T03:04:05.678901234Z stderr F " + l
	})},
	{name: "journald/syslog", what: "journalctl", wrap: each(func(_ int, l string) string { return "Nov 03 10:00:01 host app[7]: " + l })},
	{name: "journald/syslog", what: "journalctl that lost tabs and empty lines", blind: true, wrap: func(lines []string) string {
		var kept []string
		for _, l := range lines {
			if l = strings.ReplaceAll(l, "\t", "        "); l != "" {
				kept = append(kept, "Nov  3 10:00:01.123456 host app[7]: "+l)
			}
		}
		return plainText(kept)
	}},
	{name: "journald/syslog", what: "journalctl with one record of many lines", wrap: func(lines []string) string {
		prefix := "Nov 03 10:00:01 host app[7]: "
		return prefix + strings.Join(lines, "\n"+strings.Repeat(" ", len(prefix))) + "\n"
	}},
	{name: "journald/syslog", what: "journalctl -o short-iso", wrap: each(func(_ int, l string) string { return "2026-11-03T10:00:01+0200 host app[7]: " + l })},
	{name: "journald/syslog", what: "rsyslog", wrap: each(func(_ int, l string) string {
		return "<34>Nov  3 10:00:01 host app[7]: " + strings.ReplaceAll(l, "\t", "#011")
	})},
	{name: "journald/syslog", what: "RFC 5424", wrap: each(func(_ int, l string) string { return `<34>1 2026-11-03T10:00:01.003Z host app 7 ID [a@1 b="c"] ` + l })},
	{name: "journald/syslog", what: "heroku", wrap: each(func(_ int, l string) string { return "2026-11-03T10:00:01.123456+00:00 app[web.1]: " + l })},
	{name: "journald/syslog", what: "journalctl -o short-full", wrap: each(func(_ int, l string) string { return "Tue 2026-11-03 10:00:01 CET host app[7]: " + l })},
	{name: "journald/syslog", what: "journalctl -o short-monotonic", wrap: each(func(_ int, l string) string { return "[ 4711.678901] host app[7]: " + l })},
	{name: "kubectl/compose prefix", what: "kubectl", wrap: each(func(_ int, l string) string { return "[pod/api-7d9f-x2/api] " + l })},
	{name: "kubectl/compose prefix", what: "compose", wrap: each(func(_ int, l string) string { return "api-1  | " + l })},
	{name: "kubectl/compose prefix", what: "foreman", wrap: each(func(_ int, l string) string { return "10:00:01 web.1  | " + l })},
	{name: "kubectl/compose prefix", what: "stern", wrap: each(func(_ int, l string) string { return "api-7d9f-x2 api " + l })},
	{name: "kubectl/compose prefix", what: "swarm", wrap: each(func(_ int, l string) string { return "api.1.k3x9@node1    | " + l })},
	{name: "time stamps, line prefix", what: "python's logging", wrap: each(func(i int, l string) string {
		return fmt.Sprintf("2026-01-02 03:04:%02d,%d - child.%d - ERROR -  %s", i, 100+i, i, l)
	})},
	{name: "line prefix", what: "some logger", wrap: each(func(i int, l string) string {
		return fmt.Sprintf("ERROR [%d] stderr: %s", 95+i, l)
	})},
	{name: "klog", what: "klog", wrap: each(func(_ int, l string) string { return "E0102 15:04:05.678901       7 dump.go:12] " + l })},
	{name: "CI time stamps", what: "GitHub Actions", wrap: each(func(_ int, l string) string { return "2026-01-02T03:04:05.1234567Z " + l })},
	{name: "CI time stamps", what: "gh run view --log", wrap: each(func(_ int, l string) string { return "build\tRun tests\t2026-01-02T03:04:05.1234567Z " + l })},
	{name: "CI time stamps", what: "GitLab", wrap: each(func(_ int, l string) string { return "2026-01-02T03:04:05.123456Z 01O " + l })},
	{name: "time stamps", what: "ISO", wrap: each(func(_ int, l string) string { return "2026-01-02T03:04:05.678Z " + l })},
	{name: "time stamps", what: "package log", wrap: each(func(_ int, l string) string { return "2026/01/02 03:04:05 " + l })},
	{name: "time stamps", what: "in brackets", wrap: each(func(_ int, l string) string { return "[2026-01-02 03:04:05,678] " + l })},
	{name: "quote marks", what: "quoted", wrap: each(func(_ int, l string) string { return "> " + l })},
	{name: "JSON lines", what: "go test -json", wrap: each(func(_ int, l string) string {
		text, _ := json.Marshal(l + "\n")
		return `{"Time":"2026-11-03T10:00:01.5Z","Action":"output","Package":"example.com/a","Test":"TestA","Output":` + string(text) + "}"
	})},
	{name: "JSON lines", what: "an object for each line", wrap: each(func(_ int, l string) string {
		return fmt.Sprintf(`{"level":"error","ts":1767323045.6,"msg":%s,"n":[1,{"a":"]"}]}`, quoted(l))
	})},
	{name: "Markdown", what: "indented", wrap: each(func(_ int, l string) string { return strings.TrimRight("    "+l, " ") })},
	{name: "JSON string", what: "zap", wrap: func(lines []string) string {
		return fmt.Sprintf(`{"level":"error","ts":1767323045.6,"msg":%s,"n":1}`+"\n", quoted(strings.Join(lines, "\n")))
	}},
	{name: "JSON string", what: "logrus", wrap: func(lines []string) string {
		return fmt.Sprintf(`time="2026-01-02T03:04:05Z" level=error msg=%q n=1`+"\n", strings.Join(lines, "\n"))
	}},
	{name: "JSON string", what: "JSON in JSON", wrap: func(lines []string) string {
		inner := fmt.Sprintf(`{"level":"error","msg":%s,"n":1}`, quoted(strings.Join(lines, "\n")))
		return fmt.Sprintf(`{"a":"b \"c\"","payload":%s,"z":1}`+"\n", quoted(inner))
	}},
	{name: "JSON string", what: "escaped twice", wrap: func(lines []string) string {
		return "dump=" + quoted(strings.Trim(quoted(strings.Join(lines, "\n")), `"`)) + "\n"
	}},
}

func plainText(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func each(wrap func(i int, line string) string) func([]string) string {
	return func(lines []string) string {
		var out strings.Builder
		for i, l := range lines {
			out.WriteString(wrap(i, l) + "\n")
		}
		return out.String()
	}
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

func wide(text string, order binary.ByteOrder) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(bom + text)) {
		pair := make([]byte, 2)
		order.PutUint16(pair, u)
		out = append(out, pair...)
	}
	return string(out)
}

// read reads all lines, and fails the test if their sizes do not add up.
func read(t testing.TB, src io.Reader, size int) ([]Line, *Reader) {
	t.Helper()
	r := NewReader(src)
	var lines []Line
	total := int64(0)
	for {
		l, err := r.Next()
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
		l.Text = bytes.Clone(l.Text)
		if l.Size < 0 || l.Offset < 0 || l.Offset > int64(size) {
			t.Fatalf("line %q at byte %d of %d has %d bytes", l.Text, l.Offset, size, l.Size)
		}
		total += l.Size
		lines = append(lines, l)
	}
	if total != int64(size) {
		t.Fatalf("lines stand for %d bytes of %d: %v", total, size, r.Layers())
	}
	return lines, r
}

func textOf(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, string(l.Text))
	}
	return out
}

// original is the dump's lines, or what is left of them if blind.
func original(blind bool) []string {
	var out []string
	for l := range strings.Lines(dump) {
		l = strings.TrimSuffix(l, "\n")
		if blind {
			l = strings.ReplaceAll(l, "\t", "        ")
		}
		if l != "" || !blind {
			out = append(out, l)
		}
	}
	return out
}

func TestLinesAreThoseThatWerePrinted(t *testing.T) {
	lines := original(false)
	for _, w := range wrappers {
		t.Run(w.what, func(t *testing.T) {
			text := w.wrap(lines)
			for _, src := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
				got, r := read(t, src, len(text))
				checkLines(t, textOf(got), original(w.blind))
				if names := layerNames(r); names != w.name {
					t.Errorf("layers are %q, want %q", names, w.name)
				}
			}
		})
	}
}

func layerNames(r *Reader) string {
	var out []string
	for _, l := range r.Layers() {
		out = append(out, l.Name)
	}
	return strings.Join(out, ", ")
}

func checkLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("line %d is missing: %q", i+1, want[i])
		case i >= len(want):
			t.Fatalf("line %d is too much: %q", i+1, got[i])
		case got[i] != want[i]:
			t.Fatalf("line %d is\n%q, want\n%q", i+1, got[i], want[i])
		}
	}
}

// Layers stack: any container in any other, and colours within.
func TestContainersInContainers(t *testing.T) {
	lines := original(false)
	inners, outers := 0, 0
	for _, inner := range wrappers[5:] {
		for _, outer := range wrappers[1:] {
			if inner.blind || outer.blind || !stacks(inner.what, outer.what) {
				continue
			}
			inners++
			text := outer.wrap(strings.Split(strings.TrimSuffix(inner.wrap(lines), "\n"), "\n"))
			got, r := read(t, strings.NewReader(text), len(text))
			outers += r.depth
			texts := textOf(got)
			if len(texts) == 0 || !equal(texts, lines) {
				t.Errorf("%s within %s: %q", inner.what, outer.what, layerNames(r))
			}
		}
	}
	if inners < 100 || outers < 100 {
		t.Errorf("only %d pairs were tried", inners)
	}
}

// stacks leaves out what nobody does, such as to put lines with prefixes in one
// string.
func stacks(inner, outer string) bool {
	if inner == "indented" && outer == "indented" {
		return false // eight blanks are a tab that was lost
	}
	if outer == "go test -json" && isString(inner) {
		return false // both are strings with line ends in them, and the inner one is found first
	}
	if outer == "some logger" || outer == "python's logging" {
		return inner == "ANSI" // its prefix is found by the header behind it
	}
	return !isString(outer) || isString(inner) && inner != "escaped twice" && outer != "escaped twice" || inner == "ANSI" && outer != "escaped twice"
}

func isString(what string) bool {
	return what == "zap" || what == "logrus" || what == "JSON in JSON" || what == "escaped twice"
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestTimeOfAPrefix(t *testing.T) {
	for _, test := range []struct {
		line string
		want time.Time
	}{
		{"2026-01-02T03:04:05.678901234Z stderr F goroutine 1 [running]:", time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)},
		{"2026-01-02T03:04:05+0200 h app[7]: goroutine 1 [running]:", time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC)},
		{"Nov  3 10:00:01 h app[7]: goroutine 1 [running]:", time.Date(0, 11, 3, 10, 0, 1, 0, time.UTC)},
		{"E0102 15:04:05.678901       7 dump.go:12] goroutine 1 [running]:", time.Date(0, 1, 2, 15, 4, 5, 678901000, time.UTC)},
		{"2026/01/02 03:04:05 goroutine 1 [running]:", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{"goroutine 1 [running]:", time.Time{}},
	} {
		got, _ := read(t, strings.NewReader(test.line), len(test.line))
		if len(got) != 1 || string(got[0].Text) != "goroutine 1 [running]:" || !got[0].Time.Equal(test.want) {
			t.Errorf("%q gives %v, want the time %v", test.line, got, test.want)
		}
	}
}

func TestErrorsOfTheSourceComeAfterWhatWasRead(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	for _, want := range []string{"a", "b"} {
		if l, err := r.Next(); err != nil || string(l.Text) != want {
			t.Fatalf("got %q, %v", l.Text, err)
		}
	}
	for range 2 {
		if _, err := r.Next(); err != broken {
			t.Fatalf("got %v", err)
		}
	}
}
