package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// busy leaves requests in several stages for as long as their clients stay: the second occasion at
// each place hangs, or is delayed.
func busy() setup {
	return setup{
		stack: func(c *serving.Config) {
			c.Router.QueuedMax = 0
			c.Model.OutputTokens = 1_000_000
			c.Decode.StepBase = 5 * time.Minute
			c.Router.RequestTimeout = 0
			c.Decode.RunningMax = 2
		},
		faults: []fault.Fault{
			{ID: "router", Where: fault.Router, What: fault.Latency, Nth: 4, Delay: 1e4 * time.Hour},
			{ID: "transfer", Where: fault.Transfer, What: fault.Hang, Nth: 3},
		},
	}
}

// fill sends requests one after the other, so that each is in its place when the next one comes.
func (p *play) fill() {
	p.t.Helper()
	for i, gauge := range []string{
		serving.GaugeDecodeRunning, serving.GaugeDecodeRunning, serving.GaugePrefillInflight, serving.GaugeRouterQueued,
		serving.GaugeDecodeQueue, serving.GaugeDecodeQueue,
	} {
		before := p.gauge(gauge)
		p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
		p.eventually(fmt.Sprintf("request %d counts in %s", i+1, gauge), func() bool { return p.gauge(gauge) == before+1 })
	}
}

// changing matches series that change by themselves, or with each scrape.
var changing = regexp.MustCompile(`((?:realtime_tokens_total|kv_used_tokens|kv_available_tokens|num_used_tokens|token_usage|decode_sum_seq_lens|gen_throughput)\{.*\}|path="/metrics"\}|_seconds_(?:bucket|sum|count)(?:\{.*\})?) .*`)

func TestMetrics(t *testing.T) {
	p := busy().start(t)
	p.fill()
	p.exchange("GET", "/nowhere", "")
	p.eventually("two streams have begun", func() bool { return strings.Contains(p.metrics(), `status_code="200"} 2`) })
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	var page bytes.Buffer
	if _, err := page.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	golden(t, "metrics.golden", p.named(changing.ReplaceAllString(page.String(), "$1 N")))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := parser.TextToMetricFamilies(&page); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

// named replaces the addresses of workers in a page by their names, and sorts its series again where
// that makes a difference.
func (p *play) named(page string) string {
	for _, w := range p.api.Addresses().Workers {
		page = strings.ReplaceAll(page, w.URL, "http://"+w.Name)
	}
	lines := strings.Split(page, "\n")
	for i, from := 0, 0; i <= len(lines); i++ {
		if i == len(lines) || !strings.HasPrefix(lines[i], "smg_worker_") && !strings.HasPrefix(lines[i], "sglang:http_") {
			slices.Sort(lines[from:i])
			from = i + 1
		}
	}
	return strings.Join(lines, "\n")
}

// TestScraperSeesAll: nothing is lost between the servers and who scrapes them.
func TestScraperSeesAll(t *testing.T) {
	p := busy().start(t)
	scraper, err := api.NewScraper(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, full := range []bool{false, true} {
		if full {
			p.fill()
		}
		// Tokens are made all the time.
		before := p.stack.Gauges()
		got, err := scraper.Gauges(t.Context())
		after := p.stack.Gauges()
		if err != nil || len(got) < len(before) {
			t.Fatalf("seed %d: got %v, %v, want %v", seed, got, err, before)
		}
		for i, g := range before {
			if got[i].Name != g.Name || got[i].Value < g.Value || got[i].Value > after[i].Value {
				t.Errorf("seed %d: gauge %d is %v, want %v to %v", seed, i, got[i], g, after[i].Value)
			}
		}
		if i := slices.IndexFunc(got, func(g serving.Gauge) bool { return g.Name == serving.GaugeRouterInFlight }); full && got[i].Value != 6 {
			t.Errorf("seed %d: %v, want 6 in flight", seed, got[i])
		}
	}
}

// TestResponsesAreCounted: by status, where one was sent.
func TestResponsesAreCounted(t *testing.T) {
	p := setup{}.start(t)
	p.exchange("POST", chatPath, fmt.Sprintf(sayHello, true))
	p.exchange("POST", chatPath, fmt.Sprintf(sayHello, false))
	p.exchange("POST", chatPath, "{")
	p.exchange("BREW", "/a/b/c", "")
	page := p.metrics()
	for _, line := range []string{
		`smg_http_requests_total{method="POST",path="/v1/chat/completions"} 3`,
		`smg_http_requests_total{method="OTHER",path="other"} 1`,
		`smg_http_responses_total{error_code="",status_code="200"} 2`,
		`smg_http_responses_total{error_code="",status_code="400"} 1`,
		`smg_http_responses_total{error_code="",status_code="404"} 1`,
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("seed %d: no line %s in\n%s", seed, line, page)
		}
	}
}
