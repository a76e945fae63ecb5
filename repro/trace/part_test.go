package trace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro"
)

// TestPartOfARun is of logs whose beginnings are gone, and of one that breaks off.
func TestPartOfARun(t *testing.T) {
	fsys := ran(t, "starvation", repro.Options{}, "fleet.agents=8", "pacer.slots=4")
	whole, _ := written(t, fsys, Options{})
	text, err := fs.ReadFile(fsys, bundle.EventsLog)
	if err != nil {
		t.Fatal(err)
	}
	part, f := written(t, fsys, Options{JournalBytesMax: int64(len(text) / 3)})
	if len(part) > len(whole)*2/3 {
		t.Errorf("a third of the journal makes a trace of %d bytes, all of it one of %d", len(part), len(whole))
	}
	from := f.OtherData["from_s"].(float64)
	if text, _ := f.OtherData["coverage"].(string); from <= 0 || !strings.HasPrefix(text, "from ") {
		t.Errorf("it says of itself: %v", f.OtherData)
	}
	labels := 0
	for _, e := range f.TraceEvents {
		if e.Name == "process_labels" {
			labels++
		}
		if e.Ph == "C" && *e.Pid == pidServers && float64(*e.TS) < from*1e6-1e7 {
			t.Errorf("%v is older than the rest", e)
		}
	}
	if labels != 1 {
		t.Errorf("%d labels say that it is a part, want 1", labels)
	}

	killed := fstest.MapFS{bundle.EventsLog: {Data: text[:len(text)/2]}}
	_, f = written(t, killed, Options{})
	if text, _ := f.OtherData["coverage"].(string); !strings.HasPrefix(text, "up to ") || f.OtherData["ended"] != false {
		t.Errorf("it says of itself: %v", f.OtherData)
	}
}

// TestRejectedAndStrange has what no scenario brings: attempts that were turned away, gauges that could not be
// read, names that need escapes, a router whose log has other requests too.
func TestRejectedAndStrange(t *testing.T) {
	fsys := fstest.MapFS{
		bundle.EventsLog: {Data: []byte(`{"t_s":0.000000000,"event":"run_start","run":"x-1","agents":1,"workers":1}
{"t_s":0.000000000,"event":"task_start","agent":"a \"b\" \u003cscript\u003e","task":"t"}
{"t_s":1.000000000,"event":"stage","call":"a-c001","agent":"a \"b\" \u003cscript\u003e","task":"t","round":1,"step":1,"stage":"rate","from":"think","attempt":0}
{"t_s":1.500000000,"event":"attempt_end","call":"a-c001","attempt":0,"id":"","outcome":"rejected","took_s":0.000000000,"tokens":0,"error":"no","again":true,"delay_s":0.500000000}
{"t_s":1.500000000,"event":"stage","call":"a-c001","stage":"backoff","from":"rate","attempt":0}
{"t_s":2.000000000,"event":"stage","call":"a-c001","stage":"connect","from":"backoff","attempt":1}
{"t_s":2.000000000,"event":"stage","call":"a-c001","stage":"headers","from":"connect","attempt":1}
{"t_s":9.000000000,"event":"tool_end","agent":"other","tool":"x","took_s":1.000000000,"in_range":false,"error":"é\u2028"}
`)},
		bundle.SamplesLog: {Data: []byte(`{"t_s":0.000000000,"sent":0,"calls":0,"gauges":{"decode_running":1,"own":2.5,"x_total":7}}
{"t_s":5.000000000,"sent":0,"calls":0,"error":"connection refused","gauges":{}}
{"t_s":9.000000000,"sent":0,"calls":0,"gauges":{"own":2.5,"decode_running":3,"x_total":2}}
`)},
		bundle.RouterLogFile: {Data: []byte(`junk
2026-01-01 00:00:02  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="a-c001-a1"}: smg::request: src/middleware.rs:352: started processing request
2026-01-01 00:00:02  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="somebody"}: smg::request: src/middleware.rs:352: started processing request
2026-01-01 00:00:04  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="somebody" status_code=503 latency=1500000}: smg::response: src/middleware.rs:406: finished processing request
2026-01-01 00:00:05  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="nobody" status_code=200 latency=1}: smg::response: src/middleware.rs:406: finished processing request
`)},
	}
	text, f := written(t, fsys, Options{})
	if bytes.Contains(text, []byte("<script>")) {
		t.Error("a name is in the file as it is")
	}
	var got []string
	for _, e := range f.TraceEvents {
		switch e.Ph {
		case "i", "s", "f":
			got = append(got, e.Ph+" "+e.Name)
		case "X":
			got = append(got, "X "+e.Name+" "+strconv.FormatInt(*e.TS/1000, 10)+"+"+strconv.FormatInt(*e.Dur/1000, 10))
		}
	}
	const want = `i start
X x 8000+1000
X call 1000+8000
i rejected
X attempt 1 2000+7000
X rate 1000+500
X backoff 1500+500
X headers 2000+7000
X until headers 2000+1500
X until headers 2000+7000
s request
f request
i gauges could not be read
X 1 0+5000`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("the trace has\n%s\nwant\n%s", text, want)
	}
}

// TestMomentsBack is of a journal on the wall, some lines of which tell of a moment before the line above: slices must
// lie within each other all the same.
func TestMomentsBack(t *testing.T) {
	_, f := written(t, fstest.MapFS{bundle.EventsLog: {Data: []byte(`{"t_s":0.000000000,"event":"run_start","run":"x-1","agents":1,"workers":1}
{"t_s":5.000000000,"event":"task_start","agent":"a","task":"t"}
{"t_s":4.900000000,"event":"stage","call":"a-c001","agent":"a","task":"t","round":1,"step":1,"stage":"connect","from":"think","attempt":1}
{"t_s":7.000000000,"event":"stage","call":"a-c001","stage":"headers","from":"connect","attempt":1}
{"t_s":8.000000000,"event":"attempt_end","call":"a-c001","attempt":1,"id":"x","outcome":"ok","took_s":4.000000000,"tokens":0}
{"t_s":7.900000000,"event":"call_end","call":"a-c001","ok":true,"attempts":1,"took_s":3.000000000,"tokens":3}
{"t_s":8.200000000,"event":"tool_end","agent":"a","tool":"x","took_s":1.000000000,"in_range":true}
{"t_s":8.100000000,"event":"agent_end","agent":"a","task":"t","ok":true}
{"t_s":8.100000000,"event":"task_start","agent":"a","task":"u"}
{"t_s":8.300000000,"event":"agent_end","agent":"a","task":"u","ok":true}
`)}}, Options{})
	slices := 0
	for _, e := range f.TraceEvents {
		if e.Ph == "X" || e.Ph == "B" {
			slices++
		}
	}
	if slices != 7 {
		t.Errorf("%d slices, want 7", slices)
	}
}

func TestErrors(t *testing.T) {
	const start = `{"t_s":0.000000000,"event":"run_start","run":"x-1","agents":1,"workers":1}` + "\n"
	for _, c := range []struct {
		fsys fstest.MapFS
		want string
	}{
		{fstest.MapFS{}, "events.jsonl"},
		{fstest.MapFS{bundle.EventsLog: {Data: []byte("x\n")}}, `events.jsonl:1: found "x", want an object of JSON`},
		{fstest.MapFS{bundle.EventsLog: {Data: []byte(start)}, bundle.SamplesLog: {Data: []byte("[]\n")}}, `samples.jsonl:1: found "[]", want an object of JSON`},
	} {
		err := Write(io.Discard, c.fsys, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	full := ran(t, "healthy", repro.Options{}, "fleet.agents=2")
	if err := Write(brokenPipe{}, full, Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("to a writer that fails: %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
