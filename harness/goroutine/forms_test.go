package goroutine

import (
	"bytes"
	"compress/gzip"
	"context"
	"reflect"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

func one(t *testing.T, text string) *Dump {
	t.Helper()
	all, err := ParseAll(strings.NewReader(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d dumps, %v", len(all), err)
	}
	return all[0]
}

func TestProfileText(t *testing.T) {
	d := one(t, "goroutine profile: total 7\n5 @ 0x43a1 0x4071\n# labels: {\"k\":\"v\", \"q\":\"a\\\"\\xff\\v}]:\"}\n"+
		"#\t0x43a0\tmain.(*T[...]).run+0x1d\t\t/src/my app/a.go:7\n#\t0x4070\tmain.main+0x2\t\t\t/src/a.go:9\n\n"+
		"2 @ 0x43a1\n#\t0x43a0\n")
	if d.Form != FormProfileText || d.N() != 7 || len(d.Goroutines) != 2 || d.SkippedBytes != 0 || d.Truncated {
		t.Fatalf("%s: %d in %d, %d bytes skipped, truncated %t", d.Form, d.N(), len(d.Goroutines), d.SkippedBytes, d.Truncated)
	}
	want := Goroutine{Count: 5, Thread: -1, Labels: []Label{{"k", "v"}, {"q", "a\"\xff\v}]:"}},
		Frames: []Frame{{"main.(*T[...]).run", "", "/src/my app/a.go", 7}, {"main.main", "", "/src/a.go", 9}}}
	if got := d.Goroutines[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := d.Goroutines[1].Frames; !reflect.DeepEqual(got, []Frame{{Func: "0x43a0"}}) {
		t.Errorf("frame without a name: %+v", got)
	}
	if d := one(t, "goroutine profile: total 8\n5 @ 0x43a1\n#\t0x43a0\tmain.f+0x1\t/a.go:1\n"); !d.Truncated {
		t.Error("5 goroutines of 8 are not called truncated")
	}
}

// TestProfile writes the profile of this process in its three forms.
func TestProfile(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	ready := make(chan struct{})
	for range 3 {
		go pprof.Do(context.Background(), pprof.Labels("form", "profile"), func(context.Context) {
			ready <- struct{}{}
			<-block
		})
		<-ready
	}
	var zipped, raw, text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&zipped, 0); err != nil {
		t.Fatal(err)
	}
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(zipped.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	raw.ReadFrom(unzip)
	var zippedText bytes.Buffer
	w := gzip.NewWriter(&zippedText)
	w.Write(text.Bytes())
	w.Close()
	for name, b := range map[string]*bytes.Buffer{"zipped": &zipped, "raw": &raw, "text": &text, "zipped text": &zippedText} {
		d := one(t, b.String())
		form := FormProfile
		if strings.Contains(name, "text") {
			form = FormProfileText
		}
		labelled, inTest := 0, 0
		for _, g := range d.Goroutines {
			if g.Label("form") == "profile" {
				labelled += g.N()
			}
			if g.HasFunc("goroutine.TestProfile.func1") || g.HasFunc("goroutine.TestProfile.func2") {
				inTest += g.N()
			}
		}
		if d.Form != form || labelled != 3 || inTest < 3 || d.SkippedBytes != 0 || d.UsedBytes != d.Bytes {
			t.Errorf("%s: %s, %d labelled, %d in the test, %d of %d bytes used", name, d.Form, labelled, inTest, d.UsedBytes, d.Bytes)
		}
		if strings.Contains(name, "zipped") != (len(d.Layers) == 1 && d.Layers[0].Name == "gzip") {
			t.Errorf("%s: layers %v", name, d.Layers)
		}
	}
}

// TestProfileOfEach is the profile with a sample for each goroutine that
// CockroachDB's Go writes.
func TestProfileOfEach(t *testing.T) {
	fn := &profile.Function{ID: 1, Name: "main.work", Filename: "/a.go"}
	at := &profile.Location{ID: 1, Line: []profile.Line{{Function: fn, Line: 7}}}
	sample := func(id int64, state string) *profile.Sample {
		return &profile.Sample{Location: []*profile.Location{at}, Value: []int64{1},
			Label:    map[string][]string{"go::goroutine_state": {state}, "node": {"n1"}},
			NumLabel: map[string][]int64{"go::goroutine": {id}, "go::goroutine_created_by": {1}, "go::goroutine_wait_minutes": {5}}}
	}
	prof := &profile.Profile{SampleType: []*profile.ValueType{{Type: "goroutine", Unit: "count"}}, Function: []*profile.Function{fn},
		Location: []*profile.Location{at}, Sample: []*profile.Sample{sample(70, "select"), sample(71, "chan receive (nil chan)")}}
	var b bytes.Buffer
	if err := prof.Write(&b); err != nil {
		t.Fatal(err)
	}
	d := one(t, b.String())
	want := Goroutine{ID: 71, ParentID: 1, State: "chan receive (nil chan)", Wait: 5 * time.Minute, Count: 1, Thread: -1,
		Labels: []Label{{"node", "n1"}}, Frames: []Frame{{"main.work", "", "/a.go", 7}}}
	if len(d.Goroutines) != 2 || !reflect.DeepEqual(d.Goroutines[1], want) {
		t.Errorf("got %+v\nwant %+v", d.Goroutines, want)
	}
	prof.SampleType[0].Type = "cpu"
	b.Reset()
	if err := prof.Write(&b); err != nil {
		t.Fatal(err)
	}
	other, err := Parse(&b)
	if err != nil || other.N() != 0 || other.SkippedBytes != other.Bytes || other.Skipped[0].Text != "a profile of cpu/count, not of goroutines" {
		t.Errorf("another profile: %+v, %v", other, err)
	}
}

func TestDelve(t *testing.T) {
	d := one(t, "(dlv) goroutines -t -l\n"+
		"* Goroutine 1 - User: ./my app/main.go:15 main.main (0x4c0f2f) (thread 4711)\n\tLabels: \"a\":\"b \\\"c\", \"d\":\"e\"... (2 more)\n"+
		"\t 0  0x000000000043a1f6 in runtime.gopark\n\t     at /go/src/runtime/proc.go:381\n\t10  0x00000000004c0f2f in main.main\n\t     at ./my app/main.go:15\n"+
		"\t(truncated)\n"+
		"  Goroutine 2 - User: /a.go:7 main.(*T).run (0x4c0f2f) [chan receive (nil chan) 5m0s]\n"+
		"  Goroutine 3 - Start: /a.go:8 main.loop (0x4c0f2f) [select 123456789]\n"+
		"Goroutine 4:\n\tRuntime: /p.go:1 runtime.gopark (0x1)\n\tUser: /a.go:2 main.f (0x2)\n\tGo: /a.go:3 main.g (0x3)\n\tStart: /a.go:4 main.h (0x4)\n"+
		"[4 goroutines]\n")
	want := []Goroutine{
		{ID: 1, State: "running", Thread: 4711, Labels: []Label{{"a", "b \"c"}, {"d", "e"}},
			Frames: []Frame{{"runtime.gopark", "", "/go/src/runtime/proc.go", 381}, {"main.main", "", "./my app/main.go", 15}}, Gap: Gap{2, -1}},
		{ID: 2, State: "chan receive (nil chan)", Wait: 5 * time.Minute, Thread: -1, Frames: []Frame{{"main.(*T).run", "", "/a.go", 7}}},
		{ID: 3, State: "select", Extra: "since 123456789", Thread: -1, Frames: []Frame{{"main.loop", "", "/a.go", 8}}, Gap: Gap{0, -1}},
		{ID: 4, Thread: -1, Frames: []Frame{{"runtime.gopark", "", "/p.go", 1}, {"main.f", "", "/a.go", 2}, {"main.h", "", "/a.go", 4}},
			Gap: Gap{2, -1}, CreatedBy: Frame{"main.g", "", "/a.go", 3}},
	}
	if d.Form != FormDelve || !reflect.DeepEqual(d.Goroutines, want) || d.Truncated {
		t.Errorf("%s, truncated %t\n got %+v\nwant %+v", d.Form, d.Truncated, d.Goroutines, want)
	}
	if len(d.Skipped) != 1 {
		t.Errorf("skipped %+v", d.Skipped)
	}
}

func TestGDB(t *testing.T) {
	d := one(t, "Thread 2 (Thread 0x7f00 (LWP 12)):\n#0  runtime.futex () at /go/src/runtime/sys_linux_amd64.s:426\n"+
		"#1  0x0000000000429e52 in runtime.futexsleep (addr=0x1, val=0)\n    at /go/src/my runtime/os.go:40\n"+
		"#2  0x00007f00 in clone () from /lib64/libc.so.6\n"+
		"(gdb) info goroutines\n* 1 running  runtime.gopark\n  7 waiting  main.(*T).run\n"+
		"(gdb) goroutine 7 bt\n#0  0x1 in main.(*T).run (t=0x2, s=\"a (b) at c\") at /a.go:5\n#1  0x2 in main.main () at /a.go:9\n")
	want := []Goroutine{
		{ID: 1, State: "running", Thread: -1, Frames: []Frame{{Func: "runtime.gopark"}}},
		{ID: 7, State: "waiting", Thread: -1, Frames: []Frame{{"main.(*T).run", "t=0x2, s=\"a (b) at c\"", "/a.go", 5}, {"main.main", "", "/a.go", 9}}},
	}
	threads := []Goroutine{{Kind: KindThread, Thread: 2, Frames: []Frame{{"runtime.futex", "", "/go/src/runtime/sys_linux_amd64.s", 426},
		{"runtime.futexsleep", "addr=0x1, val=0", "/go/src/my runtime/os.go", 40}, {Func: "clone"}}}}
	if d.Form != FormGDB || !reflect.DeepEqual(d.Goroutines, want) || !reflect.DeepEqual(d.Others, threads) {
		t.Errorf("%s\n got %+v\n     %+v\nwant %+v\n     %+v", d.Form, d.Goroutines, d.Others, want, threads)
	}
}

func TestPanicparse(t *testing.T) {
	d := one(t, "12: not a bucket\n33: semacquire [6~12 minutes] [locked] [Created by server.(*X).Y @ x.go:12]\n"+
		"    net/http server.go:7       (*conn).serve(0x1, {#2, 0x3})\n    main     my file.go:99     run.func1()\n    (...)\n"+
		"1: running [Created by main.main @ a.go:1]\n    main     a.go:2     work(...)\n")
	want := []Goroutine{
		{Count: 33, State: "semacquire", Wait: 6 * time.Minute, LockedToThread: true, Thread: -1, CreatedBy: Frame{"server.(*X).Y", "", "x.go", 12},
			Frames: []Frame{{"net/http.(*conn).serve", "0x1, {#2, 0x3}", "server.go", 7}, {"main.run.func1", "", "my file.go", 99}}, Gap: Gap{2, -1}},
		{Count: 1, State: "running", Thread: -1, CreatedBy: Frame{"main.main", "", "a.go", 1}, Frames: []Frame{{"main.work", "...", "a.go", 2}}},
	}
	if d.Form != FormPanicparse || !reflect.DeepEqual(d.Goroutines, want) || len(d.Skipped) != 1 {
		t.Errorf("%s\n got %+v\nwant %+v\n%+v", d.Form, d.Goroutines, want, d.Skipped)
	}
}

func TestInspect(t *testing.T) {
	d := one(t, "goroutine 72 [select, 25 minutes]: 3 times: [[72, 54, 9]\nmain.f()\n\t/a.go:1 +0x1\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:2 +0x1\n")
	if d.Form != FormInspect || d.N() != 4 || !reflect.DeepEqual(d.Goroutines[0].Merged, []int64{54, 9}) {
		t.Errorf("%s: %+v", d.Form, d.Goroutines)
	}
}

func TestLacks(t *testing.T) {
	for _, form := range []Form{FormProfileText, FormProfile, FormDelve, FormGDB, FormPanicparse, FormInspect} {
		if len(form.Lacks()) == 0 {
			t.Errorf("%s lacks nothing", form)
		}
	}
	if got := FormDump.Lacks(); got != nil {
		t.Errorf("a dump lacks %v", got)
	}
}
