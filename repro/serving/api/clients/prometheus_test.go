//go:build integration

package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// prometheus is a Prometheus server of its own that scrapes a few targets.
type prometheus struct {
	t   *testing.T
	w   *sim.Wall // for waiting
	url string
}

// prometheusLife bounds the life of the server, also if that of the test ends otherwise than it should.
const prometheusLife = "120"

// startPrometheus starts a server that scrapes each target, an address with a port, as a job of the
// name given. It ends with the test.
func startPrometheus(t *testing.T, targets map[string]string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	cfg := "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
	for job, target := range targets {
		cfg += fmt.Sprintf("- {job_name: %s, static_configs: [{targets: [%q]}]}\n", job, target)
	}
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(cfg), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("timeout", "--kill-after=5", prometheusLife, "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: run .ci/clients, which installs it", err)
	}
	p := &prometheus{t: t, w: sim.NewWall(sim.WallOptions{})}
	log, ended := bufio.NewScanner(stderr), make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // timeout passes it on, and kills what does not hear
		<-ended
		_ = cmd.Wait() // it is asked for its end only
	})
	for log.Scan() && p.url == "" {
		if _, rest, ok := strings.Cut(log.Text(), `msg="Listening on" address=`); ok {
			p.url = "http://" + strings.TrimSpace(rest)
		}
	}
	go func() { // until its end, since a server that nobody hears would block
		defer close(ended)
		for log.Scan() {
		}
	}()
	if p.url == "" {
		t.Fatalf("prometheus has not said where it listens: %v", log.Err())
	}
	return p
}

// get asks the server's API, and reports whether it answered well.
func (p *prometheus) get(path string, query url.Values, into any) bool {
	p.t.Helper()
	resp, err := http.Get(p.url + path + "?" + query.Encode())
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var answer struct {
		Status string
		Data   json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		return false
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		p.t.Fatalf("%s: %v in %s", path, err, answer.Data)
	}
	return true
}

// target is what the server says of one of its targets.
type target struct {
	Labels    struct{ Job string }
	Health    string // unknown, up or down
	LastError string
}

// scraped waits until every target has been scraped, well or not.
func (p *prometheus) scraped(n int) []target {
	p.t.Helper()
	for deadline := p.w.Now().Add(30 * time.Second); p.w.Now() < deadline; {
		var all struct{ ActiveTargets []target }
		if p.get("/api/v1/targets", nil, &all) && len(all.ActiveTargets) == n {
			known := 0
			for _, x := range all.ActiveTargets {
				if x.Health != "unknown" {
					known++
				}
			}
			if known == n {
				return all.ActiveTargets
			}
		}
		_ = p.w.Sleep(p.t.Context(), 50*time.Millisecond)
	}
	p.t.Fatalf("not every one of %d targets was scraped within 30s", n)
	return nil
}

// values evaluates an expression and returns the values by job, of several those that differ.
func (p *prometheus) values(expression string) map[string][]string {
	p.t.Helper()
	var out struct {
		Result []struct {
			Metric struct{ Job string }
			Value  [2]any // time, and the value as text
		}
	}
	if !p.get("/api/v1/query", url.Values{"query": {expression}}, &out) {
		p.t.Errorf("%s: no answer", expression)
	}
	all := map[string][]string{}
	for _, r := range out.Result {
		all[r.Metric.Job] = append(all[r.Metric.Job], fmt.Sprint(r.Value[1]))
	}
	return all
}

// TestIntegrationPrometheus has a Prometheus server scrape servers that have done some work: the
// router's port, which shows everything, that of its own metrics alone, and each worker.
func TestIntegrationPrometheus(t *testing.T) {
	servers := serve(t, instant(), nil)
	for range 3 {
		if turns := runGoOpenAI(t, servers.url, callStream, bound); turns[0].Error != nil || turns[0].Waits {
			t.Fatalf("seed %d: %+v", seed, turns[0])
		}
	}
	targets := map[string]string{}
	for name, url := range servers.metrics() {
		targets[name] = strings.TrimPrefix(url, "http://")
	}
	p := startPrometheus(t, targets)
	for _, x := range p.scraped(len(targets)) {
		if x.Health != "up" || x.LastError != "" {
			t.Errorf("target %+v, want up without an error", x)
		}
	}
	for job := range targets {
		for expression, want := range map[string]string{"up": "1", "scrape_samples_scraped": "", "scrape_samples_post_metric_relabeling": ""} {
			p.check(expression, job, want)
		}
	}
	const chats = `smg_http_requests_total{path="/v1/chat/completions",method="POST"}`
	p.check(chats, "all", "3")
	p.check(chats, "router", "3")
	for _, job := range []string{"all", "decode-0"} {
		p.check(`sum by (job) (sglang:generation_tokens_total{engine_type="decode"})`, job, "120")
		p.check(`sum by (job) (sglang:time_to_first_token_seconds_count{engine_type="decode"})`, job, "3")
	}
	p.check(`sum by (job) (sglang:prompt_tokens_total)`, "prefill-0", "12")
}

// check checks the one value of an expression for a job. "" wants anything but 0.
func (p *prometheus) check(expression, job, want string) {
	p.t.Helper()
	got := p.values(expression)[job]
	if len(got) != 1 || want != "" && got[0] != want || want == "" && got[0] == "0" {
		p.t.Errorf("seed %d: %s of %s: %q, want one of value %q", seed, expression, job, got, want)
	}
}
