package harness

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// coloured is a line as the router writes it to a terminal.
const coloured = "\x1b[2m2026-01-01 00:01:00\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1mhttp_request\x1b[0m\x1b[1m{\x1b[0m\x1b[3mmethod\x1b[0m\x1b[2m=\x1b[0mPOST \x1b[3muri\x1b[0m\x1b[2m=\x1b[0m/v1/chat/completions \x1b[3mmodule\x1b[0m\x1b[2m=\x1b[0m\"smg\" \x1b[3mrequest_id\x1b[0m\x1b[2m=\x1b[0m\"agent-01-c001-a1\"\x1b[1m}\x1b[0m\x1b[2m:\x1b[0m \x1b[2msmg::request\x1b[0m\x1b[2m:\x1b[0m \x1b[2msrc/middleware.rs\x1b[0m\x1b[2m:\x1b[0m\x1b[2m291:\x1b[0m started processing request\n"

func startedLine(at, id string) string {
	return at + `  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="` + id + `"}: smg::request: src/middleware.rs:291: started processing request` + "\n"
}

func finishedLine(at, id, more, message string) string {
	return at + `  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="` + id + `" ` + more + `}: smg::response: src/middleware.rs:377: ` + message + "\n"
}

func routerLineJSON(at, message, span string) string {
	return `{"timestamp":"` + at + `","level":"INFO","message":"` + message + `","target":"smg::request","span":{` + span + `},"spans":[{` + span + `}]}` + "\n"
}

func TestRouterLog(t *testing.T) {
	const midnight = "2026-01-01 00:00:00"
	for _, c := range []struct {
		name string
		log  string
		want RouterView
	}{
		{"nothing", "", RouterView{}},
		{"one open, plain", startedLine("2026-01-01 00:00:07", "a"), RouterView{Started: 1, Open: []RouterRequest{{"a", sec(7), 0}}, Last: sec(7)}},
		{"one open, coloured", coloured, RouterView{Started: 1, Open: []RouterRequest{{"agent-01-c001-a1", sec(60), 0}}, Last: sec(60)}},
		{
			"the incident's slow request: 62690782 is 62.7 s", startedLine("2026-01-01 19:44:13", "x") +
				finishedLine("2026-01-01 19:45:16", "x", "status_code=200 latency=62690782", "finished processing request"),
			RouterView{Started: 1, Finished: 1, Last: sec(71116), LatencyMean: 62690782 * time.Microsecond, LatencyMax: 62690782 * time.Microsecond},
		},
		{
			"errors of both kinds, and a latency with a unit", startedLine(midnight, "x") + startedLine(midnight, "y") +
				finishedLine("2026-01-01 00:00:02.500", "y", "status_code=503 latency=812.3ms", "request failed with server error") +
				finishedLine("2026-01-01T00:00:03.250000Z", "x", "status_code=404 latency=junk", "request failed with client error"),
			RouterView{Started: 2, Finished: 2, Errors: 2, Last: sec(3.25), LatencyMean: 812300 * time.Microsecond, LatencyMax: 812300 * time.Microsecond},
		},
		{
			"finished before the log began", finishedLine(midnight, "old", "status_code=200 latency=1", "finished processing request"),
			RouterView{Finished: 1, LatencyMean: time.Microsecond, LatencyMax: time.Microsecond},
		},
		{
			"two requests with one id", startedLine(midnight, "x") + startedLine(midnight, "x") + finishedLine(midnight, "x", "status_code=200", "finished processing request"),
			RouterView{Started: 2, Finished: 1, Open: []RouterRequest{{"x", 0, 0}}},
		},
		{
			"health checks and junk", strings.ReplaceAll(startedLine(midnight, "h"), "method=POST uri=/v1/chat/completions", "method=GET uri=/health") +
				"\n\x00\xff\n2026-01-01 00:00:00 WARN something else\n" + "started processing request\n" + startedLine(midnight, "") + startedLine(midnight, strings.Repeat("i", 300)),
			RouterView{Skipped: 7},
		},
		{
			"the client's fields do not pass for the router's", strings.Replace(startedLine(midnight, "real"), "/v1/chat/completions", `/v1/x?request_id="fake"}:_finished_processing_request`, 1),
			RouterView{Started: 1, Open: []RouterRequest{{"real", 0, 0}}},
		},
		{
			"in JSON, latencies as numbers and as texts, and health checks", routerLineJSON(midnight, "started processing request", `"method":"POST","request_id":"x"`) +
				routerLineJSON(midnight, "started processing request", `"method":"POST","request_id":"y"`) + routerLineJSON(midnight, "started processing request", `"method":"GET","request_id":"h"`) +
				routerLineJSON(midnight, "started processing request", `"method":"POST","request_id":"open"`) + "{\"message\":\n" +
				routerLineJSON("2026-01-01T00:00:03.250000Z", "request failed with server error", `"method":"POST","request_id":"x","status_code":503,"latency":3250000`) +
				routerLineJSON("2026-01-01T00:00:04.500000Z", "finished processing request", `"method":"POST","request_id":"y","status_code":"200","latency":"4.5s"`),
			RouterView{Started: 3, Finished: 2, Errors: 1, Skipped: 2, Open: []RouterRequest{{"open", 0, 0}}, Last: sec(4.5), LatencyMean: 3875 * time.Millisecond, LatencyMax: 4500 * time.Millisecond},
		},
		{
			"lines that say how large a request is",
			startedLine(midnight, `a" content_length="52000`) + routerLineJSON("2026-01-01T00:00:00Z", "started processing request", `"method":"POST","request_id":"b","prompt_tokens":12345`),
			RouterView{Started: 2, Open: []RouterRequest{{"a", 0, 52000}, {"b", 0, 12345}}},
		},
		{"a quoted quote in an id", startedLine(midnight, `a\"b`), RouterView{Started: 1, Open: []RouterRequest{{`a"b`, 0, 0}}}},
		{"a line too long", strings.Repeat("x", routerLineMax+1) + "\n" + startedLine(midnight, "a"), RouterView{Started: 1, Skipped: 1, Open: []RouterRequest{{"a", 0, 0}}}},
		{"a line that has not ended", startedLine(midnight, "a") + "2026-01-01 00:00:09 INFO", RouterView{Started: 1, Open: []RouterRequest{{"a", 0, 0}}}},
	} {
		if c.want.Open == nil {
			c.want.Open = []RouterRequest{}
		}
		for _, piece := range []int{len(c.log) + 1, 1, 7, 4096} {
			var tee bytes.Buffer
			r := NewRouterLog(sim.NewVirtual(sim.VirtualOptions{}), &tee, time.Time{})
			writePieces(r, []byte(c.log), piece)
			if got := r.View(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, in pieces of %d:\n%+v\nwant\n%+v", c.name, piece, got, c.want)
			}
			if whole := tee.String(); whole != "" && !strings.HasSuffix(whole, "\n") || !strings.HasSuffix(c.log, whole) && !strings.Contains(c.log, whole) {
				t.Errorf("%s: passed on %q", c.name, whole)
			}
		}
	}
}

func writePieces(r *RouterLog, log []byte, piece int) {
	for len(log) > 0 {
		n := min(piece, len(log))
		_, _ = r.Write(log[:n])
		log = log[n:]
	}
}

// TestRouterLogOfARealRouter counts from the calendar time at which the run began.
func TestRouterLogOfARealRouter(t *testing.T) {
	r := NewRouterLog(sim.NewVirtual(sim.VirtualOptions{}), nil, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	_, _ = r.Write([]byte(startedLine("2026-11-30 12:01:30", "a")))
	if v := r.View(); v.Open[0].Since != sec(90) {
		t.Errorf("open since %v, want 1m30s", v.Open[0].Since)
	}
}

func TestRouterLogForgets(t *testing.T) {
	r := NewRouterLog(sim.NewVirtual(sim.VirtualOptions{}), nil, time.Time{})
	const more = 100
	for i := range routerOpenMax + more {
		fmt.Fprint(r, startedLine("2026-01-01 00:00:00", fmt.Sprint(i)))
	}
	v := r.View()
	if v.Forgotten != more || len(v.Open) != routerOpenMax || v.Open[0].ID != fmt.Sprint(more) || v.Started != routerOpenMax+more {
		t.Errorf("forgot %d, open %d, first %v", v.Forgotten, len(v.Open), v.Open[0])
	}
	same := []byte(startedLine("2026-01-01 00:00:00", "same"))
	for range routerOpenMax + more {
		_, _ = r.Write(same)
	}
	if v := r.View(); len(v.Open) > routerOpenMax || v.Started != v.Forgotten+len(v.Open) {
		t.Errorf("started %d, forgot %d, open %d", v.Started, v.Forgotten, len(v.Open))
	}
}

// TestRouterAnswers: of the attempts in flight, those with a finished line are told apart from those
// with a started one only, and from those that the router has never heard of.
func TestRouterAnswers(t *testing.T) {
	const at = "2026-01-01 00:00:07"
	r := NewRouterLog(sim.NewVirtual(sim.VirtualOptions{}), nil, time.Time{})
	for _, id := range []string{"a", "b", "c"} {
		fmt.Fprint(r, startedLine(at, id))
	}
	fmt.Fprint(r, finishedLine("2026-01-01 00:00:09", "b", "status_code=200 latency=2100000", "finished processing request"))
	fmt.Fprint(r, finishedLine("2026-01-01 00:00:10", "c", "status_code=502", "request failed with server error"))
	calls := []pacer.CallState{{AttemptID: "a"}, {AttemptID: "c"}, {AttemptID: "b"}, {AttemptID: "d"}, {}}
	want := []RouterAnswer{{ID: "c", At: sec(10), Status: 502}, {ID: "b", At: sec(9), Status: 200, Latency: 2100 * time.Millisecond}}
	if got := r.answers(calls); !reflect.DeepEqual(got, want) {
		t.Errorf("answers %+v, want %+v", got, want)
	}
	fmt.Fprint(r, startedLine("2026-01-01 00:00:11", "b"))
	if got := r.answers(calls); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("answers %+v once b is open again, want %+v", got, want[:1])
	}
	for i := range routerDoneMax {
		id := fmt.Sprint("more-", i)
		fmt.Fprint(r, startedLine(at, id)+finishedLine("2026-01-01 00:00:12", id, "status_code=200 latency=1", "finished processing request"))
	}
	if got, v := r.answers(calls), r.View(); got != nil || v.AnsweredFrom != sec(10) || len(r.byID) != routerDoneMax+2 {
		t.Errorf("answers %+v when the log has moved on, forgotten up to %v, %d remembered", got, v.AnsweredFrom, len(r.byID))
	}
}

// TestRouterLogOfEndedAttempts: what is said of attempts that have ended is forgotten once they are answered; of
// those that never are, some are remembered, in the order of their start.
func TestRouterLogOfEndedAttempts(t *testing.T) {
	const at = "2026-01-01 00:00:07"
	r := NewRouterLog(sim.NewVirtual(sim.VirtualOptions{}), nil, time.Time{})
	finished := func(id string) string {
		return finishedLine("2026-01-01 00:00:09", id, "status_code=200 latency=2100000", "finished processing request")
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		fmt.Fprint(r, startedLine(at, id))
	}
	fmt.Fprint(r, finished("a"))
	for _, id := range []string{"a", "d", "b", "b", "unheard of"} {
		r.attemptEnded(id)
	}
	open := func() (ids []string) {
		for _, q := range r.View().Open {
			ids = append(ids, q.ID)
		}
		return ids
	}
	if got := open(); !slices.Equal(got, []string{"b", "c", "d", "e"}) || len(r.byID) != 4 {
		t.Errorf("open %q, %d remembered, want b to e and no more", got, len(r.byID))
	}
	fmt.Fprint(r, finished("d")+finished("c"))
	r.attemptEnded("c")
	if got := open(); !slices.Equal(got, []string{"b", "e"}) || len(r.byID) != 2 || r.View().Finished != 3 {
		t.Errorf("open %q, %d remembered, want b and e", got, len(r.byID))
	}
	for i := range routerLeftMax {
		id := fmt.Sprint("more-", i)
		fmt.Fprint(r, startedLine(at, id))
		r.attemptEnded(id)
	}
	v := r.View()
	if v.Abandoned != 1 || v.Forgotten != 0 || len(v.Open) != routerLeftMax+1 || v.Open[0].ID != "e" || v.Started != v.Finished+v.Abandoned+len(v.Open) {
		t.Errorf("%d abandoned, %d forgotten, %d open, first %q, %d started, %d finished", v.Abandoned, v.Forgotten, len(v.Open), v.Open[0].ID, v.Started, v.Finished)
	}
}

// FuzzRouterLog feeds a log whole and in pieces: both must say the same, and the books must balance.
func FuzzRouterLog(f *testing.F) {
	f.Add([]byte(coloured+startedLine("2026-01-01 00:00:00", "a")), 3)
	f.Add([]byte(startedLine("2026-01-01 00:00:00.123", "a")+finishedLine("x", "a", "status_code=503 latency=9223372036854775807", "request failed with server error")), 1)
	f.Add([]byte("request_id=\"\\\nstarted processing request}\n\x1b[\x1b"), 2)
	f.Fuzz(func(t *testing.T, log []byte, piece int) {
		w := sim.NewVirtual(sim.VirtualOptions{})
		var tee bytes.Buffer
		whole, pieces := NewRouterLog(w, &tee, time.Time{}), NewRouterLog(w, nil, time.Time{})
		_, _ = whole.Write(log)
		writePieces(pieces, log, min(max(piece, 1), 1<<10))
		v := whole.View()
		if p := pieces.View(); !reflect.DeepEqual(v, p) {
			t.Errorf("whole %+v\nin pieces %+v", v, p)
		}
		if v.Started+v.Finished+v.Skipped != bytes.Count(log, []byte("\n")) {
			t.Errorf("%d lines, %+v", bytes.Count(log, []byte("\n")), v)
		}
		if open := v.Started - v.Finished - v.Forgotten; len(v.Open) < open || len(v.Open) > v.Started || v.LatencyMean > v.LatencyMax || v.LatencyMean < 0 {
			t.Errorf("%+v", v)
		}
		if len(tee.Bytes()) > len(log) || tee.Len() > 0 && tee.Bytes()[tee.Len()-1] != '\n' {
			t.Errorf("passed on %q", tee.Bytes())
		}
	})
}

func BenchmarkRouterLog(b *testing.B) {
	r := NewRouterLog(sim.NewVirtual(sim.VirtualOptions{}), nil, time.Time{})
	lines := []byte(startedLine("2026-01-01 00:00:00", "agent-01-c001-a1") + finishedLine("2026-01-01 00:00:00", "agent-01-c001-a1", "status_code=200 latency=62690782", "finished processing request"))
	b.SetBytes(int64(len(lines)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Write(lines)
	}
}
