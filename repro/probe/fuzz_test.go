package probe

import (
	"strings"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

func TestArgument(t *testing.T) {
	for _, x := range []struct {
		args string
		n    int
		want string
	}{
		{"0xc000010000, 0xc000020000", 1, "0xc000020000"},
		{"0xc000010000, {0xc000020000, 0x4}, 0xc000030000", 2, "0xc000030000"},
		{"0xc000010000, 0xc000020000?", 1, ""},
		{"...", 0, ""},
		{"", 0, ""},
		{"0x0", 0, ""},
		{"{0xc000010000, 0x1}", 0, ""},
		{"0xc000010000", 1, ""},
	} {
		if got, ok := argument(x.args, x.n); ok != (x.want != "") || ok && got != x.want {
			t.Errorf("argument %d of (%s): %q, %v, want %q", x.n, x.args, got, ok, x.want)
		}
	}
}

const waiting = `goroutine 7 [select]:
net/http.(*persistConn).roundTrip(0xc000010000, 0xc0000200N0)
	/go/src/net/http/transport.go:2898 +0x1
net/http.(*Transport).roundTrip(0xc000030000, 0xc000040000)
	/go/src/net/http/transport.go:628 +0x1
main.ask()
	/src/main.go:9 +0x1
`

// A goroutine that sends one request after the other is met in the same place: only the address of the
// request tells that it is another one.
func TestCallsOfTwoDumps(t *testing.T) {
	read := func(at sim.Instant, text string) *snapshot {
		s, err := readDump(at, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	dump := func(n string) string { return strings.Replace(waiting, "N", n, 1) }
	same := &watched{first: read(0, dump("1")), last: read(30, dump("1"))}
	same.compare()
	other := &watched{first: read(0, dump("1")), last: read(30, dump("2"))}
	other.compare()
	if same.still != 1 || same.ended != 0 || other.still != 0 || other.ended != 1 || other.begun != 1 {
		t.Errorf("the same: %d still; another: %d still, %d ended, %d begun", same.still, other.still, other.ended, other.begun)
	}
	if c := same.first.calls[0]; c.stage != pacer.StageHeaders || c.object != "0xc000020010" {
		t.Errorf("stage %v, object %q", c.stage, c.object)
	}
}

// No dump, whatever it holds, breaks a probe, and a call is never counted for two.
func FuzzDumps(f *testing.F) {
	f.Add(strings.Replace(waiting, "N", "1", 1), strings.Replace(waiting, "N", "2", 1))
	f.Add("goroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\n", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		first, err := readDump(0, []byte(a))
		if err != nil {
			return
		}
		last, err := readDump(30e9, []byte(b))
		if err != nil {
			return
		}
		w := &watched{first: first, last: last}
		w.compare()
		if w.still+w.ended != len(first.calls) || w.still+w.begun != len(last.calls) {
			t.Errorf("%d still, %d ended, %d begun, of %d and %d calls", w.still, w.ended, w.begun, len(first.calls), len(last.calls))
		}
	})
}

// Whatever is given as a target is taken, or refused with one line that does not show a password.
func FuzzParseTarget(f *testing.F) {
	for _, text := range []string{"http://host:1/v1", "router=host:2", "client=http://h/debug/pprof/goroutine?debug=1", "http://u:p@h", "=", "a=b=c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := ParseTarget(text)
		if err != nil {
			return
		}
		for _, path := range []string{pathMetrics, pathDump, pathChat} {
			if at := target.at(path); !strings.HasPrefix(at, "http") || !strings.Contains(at, path) {
				t.Errorf("%q: %s is at %q", text, path, at)
			}
		}
	})
}
