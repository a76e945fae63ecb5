package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// at returns the URL of a worker.
func (p *play) at(worker string) string {
	p.t.Helper()
	for _, w := range p.api.Addresses().Workers {
		if w.Name == worker {
			return w.URL
		}
	}
	p.t.Fatalf("no worker %q among %+v", worker, p.api.Addresses())
	return ""
}

// get reads a document.
func (p *play) get(url string) (status int, body string) {
	p.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	text, err := whole(resp, err)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, text
}

// TestWorkerPorts: each worker has a port of its own, on which it tells of itself alone.
func TestWorkerPorts(t *testing.T) {
	p := busy().start(t)
	p.fill()
	if a := p.api.Addresses(); a.Router != p.url || len(a.Workers) != 2 || a.Metrics != "" {
		t.Errorf("seed %d: %+v", seed, a)
	}
	for _, worker := range []string{"prefill-0", "decode-0"} {
		kind, _, _ := strings.Cut(worker, "-")
		_, page := p.get(p.at(worker) + "/metrics")
		if !strings.Contains(page, `sglang:num_running_reqs{engine_type="`+kind+`"`) || strings.Contains(page, "smg_") || strings.Contains(page, "worker_addr") {
			t.Errorf("seed %d: %s shows\n%s", seed, worker, page)
		}
		parser := expfmt.NewTextParser(model.LegacyValidation)
		if _, err := parser.TextToMetricFamilies(strings.NewReader(page)); err != nil {
			t.Errorf("seed %d: %s: %v", seed, worker, err)
		}
		// A loop that is in the midst of a step of five minutes answers no probe within 20 s.
		alive := map[string]int{"prefill": 200, "decode": 503}[kind]
		for _, path := range []string{"/health", "/health_generate"} {
			if status, body := p.get(p.at(worker) + path); status != alive {
				t.Errorf("seed %d: %s%s: status %d, %s, want %d", seed, worker, path, status, body, alive)
			}
		}
		for path, want := range map[string]string{
			"/v1/models":   `"id":"simulated"`,
			"/server_info": fmt.Sprintf(`"disaggregation_mode":%q`, kind), "/get_server_info": `"internal_states":[{`,
		} {
			if status, body := p.get(p.at(worker) + path); status != 200 || !strings.Contains(body, want) {
				t.Errorf("seed %d: %s%s: status %d, %s", seed, worker, path, status, body)
			}
		}
		if status, _ := p.get(p.at(worker) + "/wedge/faults"); status != 404 {
			t.Errorf("seed %d: %s: status %d of the router's endpoint, want 404", seed, worker, status)
		}
	}
}

// TestScrapeOfAll: the router and its workers, read together or alone, tell the same.
func TestScrapeOfAll(t *testing.T) {
	p := busy().start(t)
	p.fill()
	read := func(urls ...string) string {
		scraper, err := api.NewScraper(urls...)
		if err != nil {
			t.Fatal(err)
		}
		gauges, err := scraper.Gauges(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, g := range gauges {
			if g.Name != serving.GaugeDecodeTokens && g.Name != serving.GaugeDecodeKV { // these grow
				out = append(out, fmt.Sprint(g))
			}
		}
		return strings.Join(out, " ")
	}
	router := p.url + "/metrics"
	want := read(router)
	if got := read(router, p.at("prefill-0")+"/metrics", p.at("decode-0")+"/metrics"); got != want {
		t.Errorf("seed %d: the router and its workers\n%s\nthe router alone\n%s", seed, got, want)
	}
	engines := read(p.url + "/engine_metrics")
	if got := read(p.at("prefill-0")+"/metrics", p.at("decode-0")+"/metrics"); got != engines || !strings.Contains(want, "{decode_running 2}") {
		t.Errorf("seed %d: the workers\n%s\nas the router passes them on\n%s\nand with itself\n%s", seed, got, engines, want)
	}
}

func TestLoads(t *testing.T) {
	p := busy().start(t)
	p.fill()
	var one struct {
		Loads []struct {
			Running int `json:"num_running_reqs"`
			Waiting int `json:"num_waiting_reqs"`
			Disagg  *struct {
				Mode     string
				Transfer int `json:"decode_transfer_queue_reqs"`
			} `json:"disaggregation"`
			Queues *struct{ Waiting int }
		}
	}
	_, body := p.get(p.at("decode-0") + "/v1/loads?include=core,disagg,queues")
	if err := json.Unmarshal([]byte(body), &one); err != nil || len(one.Loads) != 1 || one.Loads[0].Running != 2 || one.Loads[0].Disagg == nil ||
		one.Loads[0].Disagg.Mode != "decode" || one.Loads[0].Disagg.Transfer != 1 || one.Loads[0].Queues == nil || one.Loads[0].Queues.Waiting != 2 {
		t.Errorf("seed %d: %v: %s", seed, err, body)
	}
	if _, body := p.get(p.at("decode-0") + "/v1/loads?include=core"); strings.Contains(body, "disaggregation") || strings.Contains(body, "queues") {
		t.Errorf("seed %d: more than the core: %s", seed, body)
	}
	for path, want := range map[string]string{
		"/v1/loads": `"total_workers":2`, "/workers": `"prefill_count":1`, "/server_info": `"worker_type":"decode"`, "/readiness": `{"status":"ready","healthy_workers":2,"total_workers":2}`,
		"/liveness": "OK", "/health": "OK",
	} {
		if status, body := p.get(p.url + path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("seed %d: %s: status %d, %s, want %s", seed, path, status, body, want)
		}
	}
}

// TestAbortRequest: by the beginning of the id, or all of them; clients see the end.
func TestAbortRequest(t *testing.T) {
	p := setup{stack: func(c *serving.Config) { c.Model.OutputTokens, c.Decode.StepBase = 10_000, time.Second }}.start(t)
	ends := make(chan string, 3)
	for _, id := range []string{"a-1", "a-2", "b-1"} {
		conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true), "X-Request-Id", id)
		go func() {
			_, body, _ := readAll(conn)
			ends <- body
		}()
	}
	p.running(3)
	for _, body := range []string{`{"rid":"nobody"}`, `{}`, `{"rid":""}`} {
		if status, _ := p.body(p.exchange("POST", "/abort_request", body)); status != 200 {
			t.Errorf("seed %d: %s: status %d", seed, body, status)
		}
	}
	p.running(3)
	p.exchange("POST", "/abort_request", `{"abort_all":true}`)
	for range 3 {
		if body := <-ends; !strings.Contains(body, "abort") && !strings.Contains(body, "error") {
			t.Errorf("seed %d: the client saw no end: %.300s", seed, body)
		}
	}
	p.running(0)
}

// TestMetricsAddress: the router's own metrics can be had at a port of their own, and nothing else there.
func TestMetricsAddress(t *testing.T) {
	p := setup{api: api.Config{MetricsAddress: "127.0.0.1:0"}}.start(t)
	url := p.api.Addresses().Metrics
	if status, page := p.get(url + "/metrics"); status != 200 || !strings.Contains(page, "smg_worker_health") || strings.Contains(page, "sglang:") {
		t.Errorf("seed %d: status %d,\n%s", seed, status, page)
	}
	if status, _ := p.get(url + "/v1/models"); status != 404 {
		t.Errorf("seed %d: status %d", seed, status)
	}
}

// TestFrozenGauges: an engine that is stuck publishes nothing, and so shows what was.
func TestFrozenGauges(t *testing.T) {
	su := busy()
	stack := su.stack
	su.stack = func(c *serving.Config) {
		stack(c)
		c.Gauges.Exact = false
	}
	su.faults = []fault.Fault{{ID: "transfer", Where: fault.Transfer, What: fault.Hang}}
	p := su.start(t)
	p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	if status, _ := p.get(p.url + "/health_generate"); status != 200 {
		t.Errorf("seed %d: status %d of a pair whose queues are stuck and whose loops spin, want 200", seed, status)
	}
	p.eventually("the prefill engine has published its chunk", func() bool { return p.gauge(serving.GaugePrefillInflight) == 1 })
	_, page := p.get(p.at("decode-0") + "/metrics")
	if !strings.Contains(page, `sglang:num_decode_transfer_queue_reqs{engine_type="decode",model_name="simulated",moe_ep_rank="0",pp_rank="0",tp_rank="0"} 0`+"\n") {
		t.Errorf("seed %d: a decode engine that has never run anything shows\n%s", seed, page)
	}
}
