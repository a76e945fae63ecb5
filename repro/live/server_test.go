package live

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestWho shows who gets what: by the host that is asked for, by token, and by who asks.
func TestWho(t *testing.T) {
	v := viewOf(t, stalled())
	open, closed := serve(t, Options{View: v}), serve(t, Options{View: v, Token: "s3cret"})
	_, port, err := net.SplitHostPort(strings.Trim(strings.TrimPrefix(open.URL(), "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		server  *Server
		path    string
		headers []string
		want    int
	}{
		"its address":              {open, "/", nil, 200},
		"localhost":                {open, "/", []string{"Host", "localhost:" + port}, 200},
		"through a tunnel":         {open, "/", []string{"Host", "localhost:9999"}, 200},
		"the other loopback":       {open, "/", []string{"Host", "[::1]:" + port}, 200},
		"a name that was rebound":  {open, "/snapshot.json", []string{"Host", "evil.example:" + port}, 403},
		"no name":                  {open, "/metrics", []string{"Host", "10.0.0.7"}, 403},
		"a script of another page": {open, "/debug/pprof/profile", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		"a link of another page":   {open, "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		"nothing there":            {open, "/etc/passwd", nil, 404},
		"no token":                 {closed, "/metrics", nil, 401},
		"no token for health":      {closed, "/healthz", nil, 200},
		"a bearer":                 {closed, "/metrics", []string{"Authorization", "Bearer s3cret"}, 200},
		"a wrong one":              {closed, "/metrics", []string{"Authorization", "Bearer s3cres"}, 401},
		"any host, with a token":   {closed, "/", []string{"Host", "wedge.example", "Authorization", "Bearer s3cret"}, 200},
		"the address with a token": {closed, "/?token=s3cret", nil, 303},
		"with a wrong one":         {closed, "/?token=", nil, 401},
		"a cookie":                 {closed, "/events.js", []string{"Cookie", "wedge_token=s3cret"}, 404},
		"a wrong cookie":           {closed, "/", []string{"Cookie", "wedge_token="}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			resp, text := get(t, tc.server, tc.path, tc.headers...)
			if resp.StatusCode != tc.want {
				t.Errorf("%s: status %d, want %d: %s", tc.path, resp.StatusCode, tc.want, text)
			}
			if csp := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'") {
				t.Errorf("Content-Security-Policy: %q", csp)
			}
			if strings.Contains(text, "s3cret") {
				t.Errorf("the token is in the answer: %s", text)
			}
		})
	}
}

// TestAddresses shows where a server will not listen.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"8080":         "want a host and a port",
		"0.0.0.0:0":    "want a loopback host",
		":0":           "want a loopback host",
		"10.0.0.7:0":   "want a loopback host",
		"127.0.0.1:1x": "1x",
	} {
		if _, err := Listen(Options{Listen: address, View: NewView(Run{})}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", address, err, want)
		}
	}
	s := serve(t, Options{Listen: "0.0.0.0:0", View: NewView(Run{}), Token: "x"})
	if resp, _ := get(t, s, "/healthz"); resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// TestFiles shows that all that the page wants is there, by paths of its own, and that nothing in it is a script or a
// style of its own, which the policy would not let be.
func TestFiles(t *testing.T) {
	s := serve(t, Options{View: viewOf(t, stalled())})
	_, page := get(t, s, "/")
	for _, path := range []string{"/app.css", "/app.js", "/icon.svg"} {
		if !strings.Contains(page, `"`+path+`"`) {
			t.Errorf("the page does not want %s", path)
		}
	}
	for path, kind := range map[string]string{"/app.css": "text/css", "/app.js": "text/javascript", "/draw.js": "text/javascript", "/icon.svg": "image/svg+xml"} {
		resp, text := get(t, s, path)
		if resp.StatusCode != 200 || len(text) < 100 || !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: status %d, %s, %d bytes", path, resp.StatusCode, resp.Header.Get("Content-Type"), len(text))
		}
		for _, never := range []string{"innerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://"} {
			if strings.Contains(strings.ReplaceAll(text, `"http://www.w3.org/2000/svg"`, ""), never) {
				t.Errorf("%s has %s", path, never)
			}
		}
	}
	for _, never := range []string{"<style", " style=", " onclick=", "<script>", "http"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// TestEvents shows what who follows a run is sent, from the start to its end.
func TestEvents(t *testing.T) {
	v := viewOf(t, stalled())
	s := serve(t, Options{View: v})
	resp, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	from := bufio.NewReader(resp.Body)
	name, data := event(t, from)
	var h History
	if err := json.Unmarshal([]byte(data), &h); err != nil || name != "history" || len(h.Points) != 1 || len(h.Stages) != 9 || !h.Points[0].Stalled {
		t.Errorf("event %s %s: %v", name, data, err)
	}
	for _, want := range []struct {
		name  string
		state State
	}{{"snapshot", Running}, {"snapshot", Running}, {"end", Ended}} {
		if want.name == "end" {
			v.Stop()
			go s.Close()
		}
		name, data := event(t, from)
		for want.name == "end" && name == "snapshot" { // one that was under way
			name, data = event(t, from)
		}
		var got Snapshot
		if err := json.Unmarshal([]byte(data), &got); err != nil || name != want.name || got.State != want.state || got.Calls.Completed != 204 {
			t.Errorf("event %s %s: %v, want %v", name, data, err, want)
		}
		if strings.Contains(data, "<") { // encoding/json writes <
			t.Errorf("event with markup: %s", data)
		}
	}
}

// TestManyWatchers shows that so many may watch, and the next is told to come back; and that one who leaves makes room.
func TestManyWatchers(t *testing.T) {
	s := serve(t, Options{View: viewOf(t, stalled())})
	watch := func() *http.Response {
		t.Helper()
		resp, err := http.Get(s.URL() + "events")
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var watchers []*http.Response
	for range clientsMax {
		resp := watch()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("watcher %d: status %d", len(watchers), resp.StatusCode)
		}
		watchers = append(watchers, resp)
	}
	late := watch()
	if late.StatusCode != http.StatusServiceUnavailable || late.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: status %d", late.StatusCode)
	}
	_ = late.Body.Close()
	for _, resp := range watchers {
		_ = resp.Body.Close()
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		resp := watch()
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("those who have left still take up room")
		}
	}
}

// stuckWriter is a connection's end that takes nothing until its deadline, as a slow client's.
type stuckWriter struct {
	header   http.Header
	mu       sync.Mutex
	deadline time.Time
	flushes  int
}

func (w *stuckWriter) Header() http.Header         { return w.header }
func (w *stuckWriter) WriteHeader(int)             {}
func (w *stuckWriter) Write(p []byte) (int, error) { return len(p), nil }

func (w *stuckWriter) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = t
	return nil
}

// FlushError fails at the second snapshot, as a connection does whose deadline has passed.
func (w *stuckWriter) FlushError() error {
	if w.flushes++; w.flushes > 2 {
		return http.ErrHandlerTimeout
	}
	return nil
}

// TestSlowWatcher shows that one who takes nothing is dropped, and makes room.
func TestSlowWatcher(t *testing.T) {
	s := serve(t, Options{View: viewOf(t, stalled())})
	w := &stuckWriter{header: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.events(w, r) // returns by itself
	if w.flushes != 3 || len(s.places) != 0 {
		t.Errorf("%d flushes, %d places taken", w.flushes, len(s.places))
	}
	if left := time.Until(w.deadline); left <= 0 || left > writeWithin {
		t.Errorf("the deadline of a write is in %v", left)
	}
}
