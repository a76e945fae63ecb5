package probe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
)

// counting serves and counts requests by method and path.
type counting struct {
	mu     sync.Mutex
	counts map[string]int
	keys   map[string]string // Authorization by path
	pages  map[string]string
}

func newCounting(t *testing.T, pages map[string]string) (*counting, string) {
	c := &counting{counts: map[string]int{}, keys: map[string]string{}, pages: pages}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return c, s.URL
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.counts[r.Method+" "+r.URL.Path]++
	c.keys[r.URL.Path] = r.Header.Get("Authorization")
	c.mu.Unlock()
	text, ok := c.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, text)
}

// Pages of small servers.
const (
	routerPage = "# TYPE smg_http_connections_active gauge\nsmg_http_connections_active 0\n"
	decodePage = "# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs{engine_type=\"decode\"} 0\n"
	modelsPage = `{"data":[{"id":"m"}]}`
	chatPage   = "data: {\"choices\":[{\"delta\":{\"content\":\"one\"}}]}\n\ndata: [DONE]\n\n"
	dumpPage   = "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1d\n"
)

func quick(t *testing.T, targets ...string) probe.Options {
	t.Helper()
	o := options(t, targets...)
	o.For, o.Every, o.Scale = 300*time.Millisecond, 100*time.Millisecond, 1
	o.AnswerTime = 20 * time.Second
	return o
}

// What is asked is what was said, and no more.
func TestRequestsAreCounted(t *testing.T) {
	router, routerURL := newCounting(t, map[string]string{
		"/metrics": routerPage, "/health": "OK", "/v1/models": modelsPage, "/v1/chat/completions": chatPage,
	})
	decode, decodeURL := newCounting(t, map[string]string{"/metrics": decodePage, "/health": "OK"})
	client, clientURL := newCounting(t, map[string]string{"/debug/pprof/goroutine": dumpPage})
	var said []string
	o := quick(t, routerURL, decodeURL, "client="+clientURL)
	o.APIKey = "secret-key-of-the-test"
	o.Say = func(line string) { said = append(said, line) }
	r := run(t, o)
	for _, x := range []struct {
		c    *counting
		want map[string]int
	}{
		{router, map[string]int{"GET /metrics": 4, "GET /health": 1, "GET /v1/models": 1, "POST /v1/chat/completions": 1}},
		{decode, map[string]int{"GET /metrics": 4, "GET /health": 1}},
		{client, map[string]int{"GET /debug/pprof/goroutine": 2}},
	} {
		if fmt.Sprint(x.c.counts) != fmt.Sprint(x.want) {
			t.Errorf("asked for %v, want %v", x.c.counts, x.want)
		}
	}
	for _, one := range r.Part.Requests {
		if one.Made != one.Most {
			t.Errorf("%s %s%s: %d made, %d said", one.Method, one.URL, one.Path, one.Made, one.Most)
		}
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"router " + routerURL + ": 4 x GET /metrics, 1 x GET /health, 1 x GET /v1/models, 1 chat request", "client " + clientURL + ": 2 goroutine dumps", "1 chat request of at most 8 tokens"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing was said of %q in:\n%s", want, text)
		}
	}
	if router.keys["/v1/chat/completions"] != "Bearer secret-key-of-the-test" || client.keys["/debug/pprof/goroutine"] != "" {
		t.Error("the key goes to servers, and not to clients")
	}
	if r.Part.Finding != probe.FoundIdle {
		t.Errorf("found %s, want idle", r.Part.Finding)
	}
}

func TestNoRequest(t *testing.T) {
	router, url := newCounting(t, map[string]string{"/metrics": routerPage, "/health": "OK"})
	o := quick(t, url)
	o.Request = false
	r := run(t, o)
	if n := router.counts["POST /v1/chat/completions"] + router.counts["GET /v1/models"]; n != 0 || r.Part.Reply != nil {
		t.Errorf("%d requests, want none", n)
	}
}

// Each mistake is one line.
func TestWrongPlaces(t *testing.T) {
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html><body>hello</body></html>")
	}))
	defer html.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer locked.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			_, _ = io.WriteString(w, "go_goroutines 7\n")
			return
		}
		http.NotFound(w, r)
	}))
	defer other.Close()
	redirect := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	defer redirect.Close()
	_, router := newCounting(t, map[string]string{"/metrics": routerPage})
	_, decode := newCounting(t, map[string]string{"/metrics": decodePage})
	for _, x := range []struct{ name, target, want string }{
		{"HTML", html.URL, "page of HTML"},
		{"HTML, named", "router=" + html.URL, "page of HTML"},
		{"HTML as a client", "client=" + html.URL, "something else than goroutines"},
		{"a key is wanted", locked.URL, "HTTP status 401 (Unauthorized): it wants an API key"},
		{"another program", other.URL, "none of SGLang's router, SGLang's engines or vLLM"},
		{"another program, named", "decode=" + other.URL, "is it a decode?"},
		{"a redirect", redirect.URL, "HTTP status 302"},
		{"a router as an engine", "decode=" + router, "its metrics are those of a router: want router=" + router},
		{"an engine as a router", "router=" + decode, "its metrics are those of a decode engine: want decode=" + decode},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := probe.Run(context.Background(), quick(t, x.target))
			if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, x.want)
			}
		})
	}
}

// The key goes to servers only: to a URL that nobody calls one it does not.
func TestKeyIsKept(t *testing.T) {
	const key = "sk-a-key-of-somebody"
	seen := make(chan string, 16)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer locked.Close()
	for target, want := range map[string]struct{ header, err string }{
		locked.URL:             {"", "it wants an API key, which is sent only to URLs that are named as servers, as router=" + locked.URL},
		"router=" + locked.URL: {"Bearer " + key, "it does not take the key"},
		"client=" + locked.URL: {"", "HTTP status 401"},
	} {
		o := quick(t, target)
		o.APIKey = key
		_, err := probe.Run(context.Background(), o)
		if err == nil || !strings.Contains(err.Error(), want.err) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v, want %q", target, err, want.err)
		}
		if got := <-seen; got != want.header {
			t.Errorf("%s: was sent %q, want %q", target, got, want.header)
		}
		for len(seen) > 0 {
			<-seen
		}
	}
}

// What does not answer is told with its reason, and nothing is claimed.
func TestUnreachable(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "#")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}))
	defer slow.Close()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // that nobody trusts it
	tls.StartTLS()
	defer tls.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	giant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block := []byte(strings.Repeat("# giant\n", 1<<13))
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer giant.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, x := range []struct {
		name, target, want string
		answer             time.Duration
	}{
		{"nobody listens", closedPort(t), "connection refused", 0},
		{"no such host", "http://no-such-host.invalid", "no such host", 0},
		{"bytes that trickle", slow.URL, "no answer in full within 300ms", 300 * time.Millisecond},
		{"nothing at all", "http://" + silent.Addr().String(), "no answer in full within 300ms", 300 * time.Millisecond},
		{"an unknown authority", tls.URL, "does not trust", 0},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "does not speak TLS", 0},
		{"a giant page", giant.URL, "more than 16 MiB", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			o := quick(t, x.target)
			if x.answer > 0 {
				o.AnswerTime = x.answer
			}
			r := run(t, o)
			if r.Part.Finding != probe.FoundUnreachable || r.Verdict.Outcome != diagnose.Failed {
				t.Errorf("found %s, %s", r.Part.Finding, r.Verdict.Outcome)
			}
			if got := r.Part.Targets[0].Error; !strings.Contains(got, x.want) || strings.Contains(got, "\n") {
				t.Errorf("error %q, want one line with %q", got, x.want)
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	for _, x := range []struct {
		text, want string
	}{
		{"", "found nothing"},
		{"http://", "without a usable host"},
		{"ftp://host", `scheme "ftp"`},
		{"http://user:secret@host", "a user or a password"},
		{"http://[::1", "no URL"},
		{"boss=http://host", "want one of client, router, prefill, decode, engine"},
		{"http://a b/", "no URL"},
	} {
		if _, err := probe.ParseTarget(x.text); err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v, want one with %q", x.text, err, x.want)
		}
	}
	change := func(f func(*probe.Options)) probe.Options {
		o := probe.DefaultOptions()
		o.Targets = []probe.Target{{URL: "http://127.0.0.1:1"}}
		f(&o)
		return o
	}
	for _, x := range []struct {
		field string
		o     probe.Options
	}{
		{"URL", change(func(o *probe.Options) { o.Targets = nil })},
		{"URL", change(func(o *probe.Options) { o.Targets = append(o.Targets, o.Targets[0]) })},
		{"for", change(func(o *probe.Options) { o.For = 0 })},
		{"every", change(func(o *probe.Options) { o.Every = time.Hour })},
		{"every", change(func(o *probe.Options) { o.Every = time.Millisecond })},
		{"scale", change(func(o *probe.Options) { o.Scale = -1 })},
		{"max-tokens", change(func(o *probe.Options) { o.MaxTokens = 100_000 })},
		{"limit", change(func(o *probe.Options) { o.Limit = -time.Second })},
		{"router-log", change(func(o *probe.Options) { o.RouterLog = "no/such/file" })},
	} {
		_, err := probe.Run(context.Background(), x.o)
		var wrong *probe.OptionError
		if !errors.As(err, &wrong) || wrong.Field != x.field {
			t.Errorf("error %v, want one about %s", err, x.field)
		}
	}
}

// An interrupted probe reports what it has seen.
func TestInterrupted(t *testing.T) {
	_, url := newCounting(t, map[string]string{"/metrics": routerPage, "/health": "OK"})
	o := quick(t, url)
	o.For = time.Hour
	o.Every = time.Minute
	ctx, cancel := context.WithCancel(context.Background())
	o.Say = func(line string) {
		if strings.HasPrefix(line, "router ") {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	r, err := probe.Run(ctx, o)
	if err != nil || !r.Part.Interrupted || r.Part.Reply != nil {
		t.Errorf("interrupted %v, reply %v, error %v", r.Part.Interrupted, r.Part.Reply, err)
	}
}
