package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// pages serves texts under /0, /1 and so on, and returns the URLs.
func pages(t *testing.T, texts ...string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, texts[i])
	}))
	t.Cleanup(server.Close)
	urls := make([]string, len(texts))
	for i := range urls {
		urls[i] = fmt.Sprintf("%s/%d", server.URL, i)
	}
	return urls
}

// TestScraperReads shows what is made of pages as real servers have them.
func TestScraperReads(t *testing.T) {
	for _, test := range []struct {
		files []string
		want  string
	}{
		{[]string{"sglang-pd-router.prom", "sglang-prefill.prom", "sglang-decode.prom"}, `router_in_flight 5
prefill_bootstrap 2
prefill_queue 3
prefill_running 0
prefill_inflight 1
decode_prealloc 4
decode_transfer 1
decode_queue 0
decode_running 27
decode_token_usage 0.61
prefill_tokens_total 1.2e+06
decode_tokens_total 340011
`},
		{[]string{"sglang-2025.prom"}, `router_in_flight 7
prefill_bootstrap 6
decode_queue 2
decode_running 9
decode_token_usage 0.25
`},
		{[]string{"vllm.prom"}, `decode_queue 3
decode_running 21
decode_token_usage 0.92
prefill_tokens_total 150
decode_tokens_total 4500
`},
		{[]string{"vllm-older.prom"}, "decode_token_usage 0.5\n"},
		{[]string{"other.prom"}, ""},
	} {
		var texts []string
		for _, name := range test.files {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		scraper, err := api.NewScraper(pages(t, texts...)...)
		if err != nil {
			t.Fatal(err)
		}
		gauges, err := scraper.Gauges(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, g := range gauges {
			fmt.Fprintf(&got, "%s %v\n", g.Name, g.Value)
		}
		if got.String() != test.want {
			t.Errorf("%v: got\n%s\nwant\n%s", test.files, got.String(), test.want)
		}
	}
}

// TestScraperCountsOnce: what a router passes on of a worker counts only if the worker is not read too.
func TestScraperCountsOnce(t *testing.T) {
	const family = "# TYPE %s gauge\n%s{engine_type=\"decode\",model_name=\"m\"%s} %d\n"
	for _, name := range []string{"sglang:num_running_reqs", "sglang_num_running_reqs"} {
		worker := pages(t, fmt.Sprintf(family, "sglang:num_running_reqs", "sglang:num_running_reqs", "", 5))[0]
		router := pages(t, fmt.Sprintf(family, name, name, fmt.Sprintf(",worker_addr=%q", strings.TrimSuffix(worker, "/0")), 5)+
			fmt.Sprintf("%s{engine_type=\"decode\",model_name=\"m\",worker_addr=\"http://192.0.2.1:30001\"} 3\n", name))[0]
		for _, test := range []struct {
			urls []string
			want float64
		}{
			{[]string{router}, 8}, {[]string{worker}, 5}, {[]string{router, worker}, 8}, {[]string{worker, router}, 8},
			{[]string{router, strings.Replace(worker, "127.0.0.1", "localhost", 1)}, 8},
		} {
			scraper, err := api.NewScraper(test.urls...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := scraper.Gauges(t.Context())
			if want := []serving.Gauge{{Name: serving.GaugeDecodeRunning, Value: test.want}}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s of %v: got %v, %v, want %v", name, test.urls, got, err, want)
			}
		}
	}
}

// TestScraperReadsRouterState: breakers, health and retries, of which a split request makes two.
func TestScraperReadsRouterState(t *testing.T) {
	got, err := api.ReadPage([]byte(`smg_worker_health{worker="a"} 1
smg_worker_health{worker="b"} 0
smg_worker_health{worker="c"} 0
smg_worker_cb_state{worker="a"} 0
smg_worker_cb_state{worker="b"} 1
smg_worker_cb_state{worker="c"} 2
smg_worker_retries_total{worker_type="prefill",endpoint="/v1/chat/completions"} 7
smg_worker_retries_total{worker_type="decode",endpoint="/v1/chat/completions"} 7
`))
	if want := "[{router_retries_total 7} {router_unhealthy_workers 2} {router_open_breakers 1}]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

func TestScraperErrors(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	moved := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	t.Cleanup(moved.Close)
	for _, test := range []struct {
		urls []string
		want string // in the error
	}{
		{pages(t, "{\"not\": \"metrics\"}\n"), "not in Prometheus' text format"},
		{pages(t, "a 1\n", "b 2"), "/1: not in Prometheus' text format"},
		{pages(t, strings.Repeat("# a long comment\n", 1<<20)), "more than 16777216 bytes"},
		{[]string{gone.URL}, "connection refused"},
		{[]string{moved.URL}, "HTTP status 302, want 200"},
	} {
		scraper, err := api.NewScraper(test.urls...)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := scraper.Gauges(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, %v, want an error with %q", got, err, test.want)
		}
	}
}

func TestScraperURLs(t *testing.T) {
	for _, urls := range [][]string{{}, {""}, {"localhost:30000/metrics"}, {"ftp://a/metrics"}, {"http://"}, {"http://user:secret@a/metrics"}, {"http://a", "%"}} {
		if _, err := api.NewScraper(urls...); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want an error", urls, err)
		}
	}
}

func TestScraperHeedsContext(t *testing.T) {
	entered := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	scraper, err := api.NewScraper(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-entered
		cancel(enough)
	}()
	if _, err := scraper.Gauges(ctx); err != enough {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

func FuzzScrape(f *testing.F) {
	names, err := filepath.Glob("testdata/*.prom")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		gauges, err := api.ReadPage(text)
		if err != nil && len(gauges) > 0 {
			t.Errorf("got %v besides %v", gauges, err)
		}
		for i, g := range gauges {
			if g.Value != g.Value || i > 0 && g.Name == gauges[i-1].Name {
				t.Errorf("got %v", gauges)
			}
		}
	})
}
