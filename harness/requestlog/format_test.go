package requestlog

import (
	"strings"
	"testing"
	"time"
)

// TestLines reads one line of each kind.
func TestLines(t *testing.T) {
	at := func(clock string) time.Time {
		at, err := time.Parse("2006-01-02T15:04:05.999", "2026-01-02T"+clock)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	ms := func(n float64) Latency { return Latency{true, n, Milliseconds} }
	for _, test := range []struct {
		line string
		of   format
		want Event
	}{
		{`2026-01-02 03:04:05  WARN http_request{method=POST uri=/v1/x request_id="a" status_code=404 latency=1254651}: smg::response: x.rs:1: request failed with client error`,
			formatRouter, Event{Finished: true, ID: []byte("a"), At: at("03:04:05"), Status: 404, Latency: Latency{true, 1254651, NoUnit}}},
		{`2026-01-02 03:04:05  INFO http_request{method=GET uri=/health request_id="h"}: smg::request: x.rs:1: started processing request`,
			formatRouter, Event{Probe: true, ID: []byte("h"), At: at("03:04:05")}},
		{`{"timestamp":"2026-01-02T03:04:05.678Z","level":"INFO","message":"finished processing request","span":{"method":"POST","request_id":"a","status_code":200,"latency":"812.3ms"}}`,
			formatRouter, Event{Finished: true, ID: []byte("a"), At: at("03:04:05.678"), Status: 200, Latency: Latency{true, 0.8123, Seconds}}},
		{`{"time":"2026-01-02T04:04:05+01:00","level":"INFO","msg":"request started","request_id":"a","path":"/v1/chat/completions"}`,
			formatJSON, Event{ID: []byte("a"), At: at("03:04:05")}},
		{`{"ts":1767323045.678,"msg":"request done","x-request-id":"a","status":200,"duration_ms":1254.5}`,
			formatJSON, Event{Finished: true, ID: []byte("a"), At: at("03:04:05.678"), Status: 200, Latency: ms(1254.5)}},
		{`{"ts":1767323045678,"event":"end","req":{"id":"a"},"res":{"statusCode":200},"responseTime":1254}`,
			formatJSON, Event{Finished: true, ID: []byte("a"), At: at("03:04:05.678"), Status: 200, Latency: Latency{true, 1254, NoUnit}}},
		{`{"@timestamp":"2026-01-02T03:04:05Z","http.response.status_code":503,"http.request.id":"a","user":{"id":"u"},"error":{"code":404},"took":"1m2.5s"}`,
			formatJSON, Event{Finished: true, ID: []byte("a"), At: at("03:04:05"), Status: 503, Latency: Latency{true, 62.5, Seconds}}},
		{`{"time":"2026-01-02T03:04:05Z","trace_id":"t","request_id":"a","message":"Completed","elapsed":{"secs":1,"nanos":250000000}}`,
			formatJSON, Event{Finished: true, ID: []byte("a"), At: at("03:04:05"), Latency: Latency{true, 1.25, Seconds}}},
		{`{"time":"2026-01-02T03:04:05Z","path":"/healthz","status":200,"latency_us":12}`,
			formatJSON, Event{Finished: true, Probe: true, At: at("03:04:05"), Status: 200, Latency: Latency{true, 12, Microseconds}}},
		{`{"start_time":"2026-01-02T03:04:05.000Z","response_code":"0","response_flags":"DC","duration":"5000","x_request_id":"a","path":"/v1/x"}`,
			formatEnvoyJSON, Event{Finished: true, ID: []byte("a"), At: at("03:04:10"), Start: at("03:04:05"), Flags: []byte("DC"), Latency: ms(5000)}},
		{`10.0.0.1 - - [02/Jan/2026:04:04:05 +0100] "POST /v1/x HTTP/1.1" 499 612 "-" "curl/8 (a \"b\")" 1.254 0123456789abcdef0123456789abcdef`,
			formatNginx, Event{Finished: true, ID: []byte("0123456789abcdef0123456789abcdef"), At: at("03:04:05"), Start: at("03:04:03.746"), Status: 499, Latency: Latency{true, 1.254, Seconds}}},
		{`10.0.0.1 - bob [02/Jan/2026:03:04:05 +0000] "GET /health HTTP/1.1" 200 2 "-" "kube-probe" rt=0.001 request_id=r-1`,
			formatNginx, Event{Finished: true, Probe: true, ID: []byte("r-1"), At: at("03:04:05"), Start: at("03:04:04.999"), Status: 200, Latency: Latency{true, 0.001, Seconds}}},
		{`[2026-01-02T03:04:05.000Z] "POST /v1/x HTTP/1.1" 200 - 612 88 1254 1250 "-" "curl/8" "a" "host" "10.0.0.1:80"`,
			formatEnvoy, Event{Finished: true, ID: []byte("a"), At: at("03:04:06.254"), Start: at("03:04:05"), Status: 200, Latency: ms(1254)}},
		{`[2026-01-02T03:04:05.000Z] "POST /v1/x HTTP/2" 503 UF,URX via_upstream - "-" 612 88 1254 - "-" "curl/8" "a" "host" "-" outbound|80||x - 10.0.0.1:80`,
			formatEnvoy, Event{Finished: true, ID: []byte("a"), At: at("03:04:06.254"), Start: at("03:04:05"), Status: 503, Flags: []byte("UF,URX"), Latency: ms(1254)}},
		{`2026-01-02T03:04:05.678123456Z {"msg":"request finished","id":"a","status":200,"dur":"12ms"}`,
			formatJSON, Event{Finished: true, ID: []byte("a"), At: at("03:04:05.678").Add(123456), Status: 200, Latency: Latency{true, 0.012, Seconds}}},
		{`time=2026-01-02T03:04:05.678Z level=INFO msg="request finished" id=a status=200 dur=12ms`,
			formatPairs, Event{Finished: true, ID: []byte("a"), At: at("03:04:05.678"), Status: 200, Latency: Latency{true, 0.012, Seconds}}},
	} {
		var f fields
		ev, of, ok := f.parse([]byte(test.line))
		same := ev.Finished == test.want.Finished && ev.Probe == test.want.Probe && string(ev.ID) == string(test.want.ID) && ev.At.Equal(test.want.At) &&
			ev.Start.Equal(test.want.Start) && ev.Status == test.want.Status && string(ev.Flags) == string(test.want.Flags) && ev.Latency == test.want.Latency
		if !ok || of != test.of || !same {
			t.Errorf("%s\nis %v %v\n%+v, want\n%v %+v", test.line, ok, of, ev, test.of, test.want)
		}
	}
}

func TestLinesAboutNoRequest(t *testing.T) {
	for _, line := range []string{
		"", " ", "x", "{", "{}", `{"msg":"db query finished","duration":12}`, `{"time":"2026-01-02T03:04:05Z","msg":"started","port":80}`,
		`{"id":"a","msg":"routing"}`, `{"user":{"id":"u"},"msg":"started"}`, "2026-01-02 03:04:05 INFO starting up", "a=b c=d e=f",
		`[2026-01-02T03:04:05Z] "x" y`, `10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] "GET`, `[2026-01-02 03:04:05 DP0 TP0] Decode batch. #running-req: 3, #token: 100, gen throughput (token/s): 12`,
	} {
		var f fields
		if ev, of, ok := f.parse([]byte(line)); ok {
			t.Errorf("%q is a line of %v: %+v", line, of, ev)
		}
	}
}

// A log may be in any container, and colours.
func TestContainers(t *testing.T) {
	text := routerText(long, func(_ int, d time.Duration) string { return "1" })
	var docker, colour strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		docker.WriteString(`{"log":"` + strings.ReplaceAll(line, `"`, `\"`) + `\n","stream":"stdout","time":"2026-11-30T19:44:13.1Z"}` + "\n")
		colour.WriteString("router-1  | \x1b[2m" + line[:19] + "\x1b[0m\x1b[32m" + line[19:] + "\x1b[0m\r\n")
	}
	for _, text := range []string{text, docker.String(), colour.String()} {
		if r := report(t, text); r.Requests.Started != 6 || r.Requests.Finished != 6 || r.Requests.Open != 0 || r.Activity.First.Second() != 13 {
			t.Errorf("%+v of\n%.200s", r.Requests, text)
		}
	}
}

func TestOpenRequests(t *testing.T) {
	start := func(at, id string) string { return startedLine("2026-01-02 03:"+at, id) }
	end := func(at, id string) string {
		return finishedLine("2026-01-02 03:"+at, id, "status_code=200 latency=1000000", "finished processing request")
	}
	for _, test := range []struct {
		what, text, open string
		strays           int64
	}{
		{"none", start("00:00", "a") + end("00:01", "a"), "", 0},
		{"two, the oldest first", start("00:00", "a") + start("00:01", "b") + start("00:02", "c") + end("00:03", "b"), "a 03:00:00, c 03:00:02", 0},
		{"one id twice", start("00:00", "a") + start("00:01", "a") + end("00:02", "a"), "a 03:00:00", 0},
		{"one id again", start("00:00", "a") + end("00:01", "a") + start("00:02", "a"), "a 03:00:02", 0},
		{"an end that comes before its start", end("00:01", "a") + start("00:00", "a"), "", 0},
		{"an end without a start", end("00:00", "a") + start("00:01", "b"), "b 03:00:01", 1},
	} {
		r := report(t, test.text)
		var open []string
		for _, o := range r.Open {
			open = append(open, o.ID+" "+o.Since.Format(time.TimeOnly))
		}
		if got := strings.Join(open, ", "); got != test.open || r.Requests.Strays != test.strays {
			t.Errorf("%s: open are %q, %d without start; want %q, %d", test.what, got, r.Requests.Strays, test.open, test.strays)
		}
	}
}

func TestBadInput(t *testing.T) {
	for text, want := range map[string]string{
		"":                "x: is empty, want a log of requests",
		"\x7fELF\x00\x01": "x: is no text, want a log of requests",
		"hello\nworld\n":  "x: no line of 2 is about a request",
	} {
		err := New().Read("x", strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
