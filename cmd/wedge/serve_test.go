package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// servedHere is a wedge serve under way.
type servedHere struct {
	t     *testing.T
	line  readyLine
	errs  bytes.Buffer // read it after end
	ended chan int
	stop  context.CancelFunc
}

// serve starts wedge serve and reads its ready line.
func serve(t *testing.T, args ...string) *servedHere {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	s := &servedHere{t: t, ended: make(chan int, 1), stop: stop}
	out, in := io.Pipe()
	go func() {
		code := run(ctx, append([]string{"serve"}, args...), in, &s.errs)
		_ = in.Close()
		s.ended <- code
	}()
	text, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v, exit code %d, %s", err, <-s.ended, s.errs.String())
	}
	if err := json.Unmarshal([]byte(text), &s.line); err != nil {
		t.Fatalf("ready line %q: %v", text, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

// end interrupts it and returns its exit code.
func (s *servedHere) end() int {
	s.stop()
	return <-s.ended
}

// do sends a request and returns the status and body of the answer.
func (s *servedHere) do(method, url, body string, header ...string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const question = `{"model":"simulated","max_tokens":3,"messages":[{"role":"user","content":"hello"}]}`

func TestServe(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--preset", "instant", "--logs", dir, "-q", "--seed", "7")
	if s.line.Schema != "wedge.serve/1" || !s.line.Ready || s.line.Seed != 7 || s.line.Model != "simulated" || s.line.PID != os.Getpid() {
		t.Errorf("ready line: %+v", s.line)
	}
	chat := s.line.BaseURL + "/chat/completions"
	if status, body := s.do("POST", chat, question); status != 200 || !strings.Contains(body, `"finish_reason":"length"`) {
		t.Errorf("chat: %d %s", status, body)
	}
	// A fault comes and goes while the servers run.
	fault := s.line.Faults + "/busy"
	if status, body := s.do("PUT", fault, `{where: router, what: status, status: 429, retry_after: "7"}`); status != 200 {
		t.Errorf("switching a fault on: %d %s", status, body)
	}
	if status, _ := s.do("POST", chat, question); status != 429 {
		t.Errorf("with the fault: %d", status)
	}
	if status, body := s.do("GET", s.line.Faults, ""); status != 200 || !strings.Contains(body, `"fired":1`) {
		t.Errorf("faults: %d %s", status, body)
	}
	if status, _ := s.do("DELETE", fault, ""); status != 204 {
		t.Errorf("switching it off: %d", status)
	}
	if status, _ := s.do("POST", chat, question); status != 200 {
		t.Errorf("without the fault: %d", status)
	}
	if status, body := s.do("GET", s.line.Metrics, ""); status != 200 || !strings.Contains(body, "smg_http_requests_total") {
		t.Errorf("metrics: %d %.200s", status, body)
	}
	for name, url := range s.line.Workers {
		if status, body := s.do("GET", url+"/metrics", ""); status != 200 || !strings.Contains(body, "sglang:") {
			t.Errorf("metrics of %s: %d %.200s", name, status, body)
		}
	}
	if code := s.end(); code != exitOK || s.errs.Len() > 0 {
		t.Errorf("exit code %d, standard error %q", code, s.errs.String())
	}
	log := readFile(t, filepath.Join(dir, "router.log"))
	if n := strings.Count(log, "started processing request"); n != 3 {
		t.Errorf("%d requests in router.log, want 3:\n%s", n, log)
	}
}

// TestServeScenario serves a scenario of the catalogue with its faults, and workers at chosen flags.
func TestServeScenario(t *testing.T) {
	s := serve(t, "slot-leak", "--scale", "60", "--fault", "{id: extra, where: stream, what: no_done}", "--for", "1h")
	if s.line.Scale != 60 {
		t.Errorf("ready line: %+v", s.line)
	}
	_, body := s.do("GET", s.line.Faults, "")
	for _, id := range []string{`"id":"error"`, `"id":"leak"`, `"id":"extra"`} {
		if !strings.Contains(body, id) {
			t.Errorf("no fault %s in %s", id, body)
		}
	}
	if code := s.end(); code != exitOK || !strings.Contains(s.errs.String(), "wedge: serving slot-leak, seed 1, at http://127.0.0.1:") {
		t.Errorf("exit code %d, standard error %q", code, s.errs.String())
	}
}

// TestServeToken: who listens for others wants a token, which is in nothing that is printed.
func TestServeToken(t *testing.T) {
	const secret = "s3cret-token"
	t.Setenv(tokenVariable, secret)
	s := serve(t, "--preset", "instant", "--listen", "0.0.0.0:0")
	base := strings.Replace(s.line.BaseURL, "[::]", "127.0.0.1", 1)
	if status, _ := s.do("GET", base+"/models", ""); status != 401 {
		t.Errorf("without the token: %d", status)
	}
	if status, _ := s.do("GET", base+"/models", "", "Authorization", "Bearer "+secret); status != 200 {
		t.Errorf("with the token: %d", status)
	}
	// A load without the right key is told so.
	t.Setenv("WEDGE_API_KEY", "another-key")
	_, errs, code := wedge(t, "load", "--base-url", base, "--requests", "1", "-q")
	if code != exitFailed || !strings.Contains(errs, "the server answers 401 (Unauthorized): want its key in WEDGE_API_KEY or OPENAI_API_KEY") || strings.Contains(errs, "another-key") {
		t.Errorf("load with another key: exit code %d, %q", code, errs)
	}
	if code := s.end(); code != exitOK || strings.Contains(s.errs.String(), secret) {
		t.Errorf("exit code %d, standard error %q", code, s.errs.String())
	}
}

func TestServeBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--preset", "moon"}, `--preset: preset "moon", want one of sglang-pd, sglang, vllm, instant, slots`},
		{[]string{"--listen", "0.0.0.0:0"}, "without a token in WEDGE_SERVE_TOKEN"},
		{[]string{"--listen", "here"}, `--listen: address "here"`},
		{[]string{"--fault", "{id: x, where: moon, what: hang}"}, `faults[0].where: "moon", want one of`},
		{[]string{"--fault", ""}, "--fault: found nothing"},
		{[]string{"--fault", "{id: x, where: decode, what: hang, worker: decode-99}"}, `worker: found "decode-99", want one of prefill-0, decode-0`},
		{[]string{"--scale", "0"}, "--scale: found 0, want a number from"},
		{[]string{"--for", "-1s"}, "--for: found -1s, want 0s or more"},
		{[]string{"--set", "servers.decode.running_max=0"}, "servers.decode.running_max: 0, want a whole number from 1"},
		{[]string{"--logs", "/dev/null/x"}, "--logs: "},
		{[]string{"no-such-scenario"}, `unknown scenario "no-such-scenario"`},
		{[]string{"a", "b"}, "want one scenario"},
	} {
		out, errs, code := wedge(t, append([]string{"serve"}, c.args...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q, want %s", c.args, code, out, errs, c.want)
		}
		if left := leftBehind(t); len(left) > 0 {
			t.Errorf("%v left %v behind", c.args, left)
		}
	}
}

// TestPresetBeforeSettings: a preset is what other settings change, wherever it stands on the command line.
func TestPresetBeforeSettings(t *testing.T) {
	out, errs, code := wedge(t, "serve", "--set", "servers.decode.running_max=7", "--set", "servers.preset=vllm", "--print")
	if code != exitOK || errs != "" || !strings.Contains(out, "running_max: 7\n") || !strings.Contains(out, "preset: vllm\n") {
		t.Errorf("exit code %d, %q:\n%s", code, errs, out)
	}
}

// TestServeLogFull: a log that cannot be written is told at the end, in one line; the servers go on meanwhile.
func TestServeLogFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Logf("no /dev/full: %v", err)
		return
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "router.log")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--preset", "instant", "--logs", dir, "-q")
	if status, body := s.do("POST", s.line.BaseURL+"/chat/completions", question); status != 200 {
		t.Errorf("chat: %d %s", status, body)
	}
	if code := s.end(); code != exitFailed || !strings.Contains(s.errs.String(), "no space left on device") || strings.Count(s.errs.String(), "\n") != 1 {
		t.Errorf("exit code %d, standard error %q", code, s.errs.String())
	}
}
