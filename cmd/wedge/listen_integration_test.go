//go:build integration

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listened is a command that is watched by --listen.
type listened struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	stderr *bufio.Reader
}

// listen starts a command with --listen, and returns once it says where it may be watched.
func listen(t *testing.T, bin string, args ...string) *listened {
	t.Helper()
	cmd := exec.Command(bin, append(args, "--listen", "127.0.0.1:0", "--out", "-")...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended already, unless the test failed
		_ = cmd.Wait()
	})
	l := &listened{t: t, cmd: cmd, stderr: bufio.NewReader(pipe)}
	var said strings.Builder
	for l.url == "" {
		line, err := l.stderr.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("%v: %v after %s", args, err, said.String())
		}
		_, l.url, _ = strings.Cut(strings.TrimSpace(line), "to be watched at ")
	}
	go io.Copy(io.Discard, l.stderr) // until its end
	return l
}

// get returns what there is at a path.
func (l *listened) get(path string) string {
	l.t.Helper()
	resp, err := http.Get(strings.TrimSuffix(l.url, "/") + path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		l.t.Fatalf("%s: status %d, %v: %s", path, resp.StatusCode, err, text)
	}
	return string(text)
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30s: %s", what)
		}
		time.Sleep(100 * time.Millisecond) // of another process: nothing to wait on
	}
}

// worked waits until the run has completed a few calls.
func (l *listened) worked() {
	l.t.Helper()
	until(l.t, "calls that are completed", func() bool {
		var s struct{ Calls struct{ Completed int } }
		if err := json.Unmarshal([]byte(l.get("/snapshot.json")), &s); err != nil {
			l.t.Fatal(err)
		}
		return s.Calls.Completed >= 5
	})
}

// interrupt ends the run as Ctrl-C does, and expects its exit code.
func (l *listened) interrupt(want int) {
	l.t.Helper()
	if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
		l.t.Fatal(err)
	}
	_ = l.cmd.Wait()
	if got := l.cmd.ProcessState.ExitCode(); got != want {
		l.t.Errorf("exit code %d, want %d", got, want)
	}
	if _, err := http.Get(l.url); err == nil {
		l.t.Error("the page is served after the run")
	}
}

// TestIntegrationListen has promtool read the metrics of a soak and of a run, and looks at what else is served.
func TestIntegrationListen(t *testing.T) {
	t.Parallel()
	bin := build(t, ".")
	file := filepath.Join(t.TempDir(), "my.yaml")
	scenario, err := exec.Command(bin, "repro", "starvation", "--print").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, scenario, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"soak":         {"soak", "starvation", "--clock", "wall", "--scale", "60", "--for", "10h"},
		"virtual soak": {"soak", "starvation", "--for", "10000h"},
		"run":          {"run", file, "--clock", "wall", "--scale", "60"},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, bin, args...)
			l.worked()
			check := exec.Command("promtool", "check", "metrics")
			check.Stdin = strings.NewReader(l.get("/metrics"))
			if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("promtool: %v: %s (.ci/clients installs it)", err, out)
			}
			if text := l.get("/healthz"); text != "ok\n" {
				t.Errorf("healthz: %q", text)
			}
			if text := l.get("/debug/pprof/goroutine?debug=1"); !strings.HasPrefix(text, "goroutine profile: total ") {
				t.Errorf("pprof: %.80q", text)
			}
			if text := l.get("/metrics"); !strings.Contains(text, `command="`+args[0]+`"`) || !strings.Contains(text, `gen_ai_request_model="simulated"`) {
				t.Errorf("metrics of which run? %.400s", text)
			}
			l.interrupt(exitInterrupted)
		})
	}
}

// TestIntegrationPrometheus has a Prometheus server scrape a soak, and answer all that the dashboard asks for.
func TestIntegrationPrometheus(t *testing.T) {
	t.Parallel()
	l := listen(t, build(t, "."), "soak", "starvation", "--clock", "wall", "--scale", "60", "--for", "10h")
	l.worked()
	p := scrapeWith(t, strings.TrimSuffix(strings.TrimPrefix(l.url, "http://"), "/"))
	until(t, "a few scrapes", func() bool {
		return len(p.query(`count_over_time(wedge_steps_total[1m]) >= 4`)) > 0
	})
	for query, want := range map[string]string{
		`up`: "1", `wedge_slots_limit`: "16", `sum(wedge_agents)`: "30", `count(wedge_calls_in_flight)`: "7",
		`sum(increase(wedge_steps_total[1m])) > bool 0`:                                                       "1",
		`histogram_quantile(0.5, gen_ai_client_operation_duration_seconds_bucket{error_type=""}) > bool 60`:   "1",
		`wedge_run_info * on(instance) group_left() (wedge_run_clock_seconds > bool 0)`:                       "1",
		`process_resident_memory_bytes > bool 1000000`:                                                        "1",
		`sum(wedge_attempts_ended_total) + sum(wedge_attempts_in_flight) <= bool sum(wedge_attempts_total)+1`: "1",
	} {
		if got := p.query(query); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	for _, expr := range dashboardQueries(t) {
		_ = p.query(expr) // which fails the test if the server does not understand it
	}
	l.interrupt(exitInterrupted)
}

// dashboardQueries are the queries of the dashboard, with its variables filled in.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	var d struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(readFile(t, "../../repro/live/grafana/wedge.json")), &d); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("$__rate_interval", "10s", "$job", ".*", "$instance", ".*")
	var out []string
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			out = append(out, fill.Replace(target.Expr))
		}
	}
	if len(out) < 20 {
		t.Fatalf("%d queries", len(out))
	}
	return out
}

// scraper is a Prometheus server.
type scraper struct {
	t   *testing.T
	url string
}

// scraperLife bounds the life of the server in seconds, also if that of the test ends otherwise than it should.
const scraperLife = "120"

// scrapeWith starts a Prometheus server that scrapes a target each second. It ends with the test.
func scrapeWith(t *testing.T, target string) *scraper {
	t.Helper()
	dir := t.TempDir()
	cfg := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n- {job_name: wedge, static_configs: [{targets: [%q]}]}\n", target)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(cfg), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("timeout", "--kill-after=5", scraperLife, "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:0")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: run .ci/clients, which installs it", err)
	}
	s := &scraper{t: t}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // timeout passes it on, and kills what does not hear
		<-ended
		_ = cmd.Wait() // it is asked for its end only
	})
	log := bufio.NewScanner(pipe)
	for log.Scan() && s.url == "" {
		if _, rest, ok := strings.Cut(log.Text(), `msg="Listening on" address=`); ok {
			s.url = "http://" + strings.TrimSpace(rest)
		}
	}
	go func() { // until its end, since a server that nobody hears would block
		defer close(ended)
		for log.Scan() {
		}
	}()
	if s.url == "" {
		t.Fatalf("prometheus has not said where it listens: %v", log.Err())
	}
	return s
}

// query evaluates an expression, and returns the values.
func (s *scraper) query(expr string) []string {
	s.t.Helper()
	resp, err := http.Get(s.url + "/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode == http.StatusServiceUnavailable { // it is not ready yet
		return nil
	}
	var answer struct {
		Status string
		Data   struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		s.t.Fatalf("%s: %v in %s", expr, err, text)
	}
	if answer.Status != "success" {
		s.t.Errorf("%s: %s", expr, text)
	}
	var out []string
	for _, r := range answer.Data.Result {
		out = append(out, fmt.Sprint(r.Value[1]))
	}
	return out
}
