package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro/probe"
)

// A probe of idle servers finds nothing wrong and says that this proves nothing.
func TestProbeIdle(t *testing.T) {
	s := serve(t, "--scale", "60", "-q")
	defer s.end()
	dir := filepath.Join(t.TempDir(), "evidence")
	base := strings.TrimSuffix(s.line.BaseURL, "/v1")
	out, errs, code := wedge(t, "probe", base, "decode="+s.line.Workers["decode-0"], "--prefill", s.line.Workers["prefill-0"],
		"--scale", "60", "--for", "10s", "--out", dir, "--json")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var doc probe.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "wedge.verdict/1" || doc.Probe.Schema != probe.Schema || doc.Probe.Finding != probe.FoundIdle || !doc.Probe.Reply.Answered() {
		t.Errorf("schema %s and %s, found %s, reply %+v", doc.Schema, doc.Probe.Schema, doc.Probe.Finding, doc.Probe.Reply)
	}
	for _, role := range []probe.Role{probe.RoleRouter, probe.RoleDecode, probe.RolePrefill} {
		if !strings.Contains(errs, string(role)+" http://") {
			t.Errorf("nothing was said of what is asked of the %s: %s", role, errs)
		}
	}
	for _, one := range doc.Probe.Requests {
		if one.Made != one.Most {
			t.Errorf("%s %s%s: %d made, %d said", one.Method, one.URL, one.Path, one.Made, one.Most)
		}
	}
	ev, err := harness.ReadEvidence(os.DirFS(dir), harness.EndDir, 0)
	if err != nil || len(ev.Samples) != len(doc.Probe.Readings) {
		t.Errorf("evidence %v, error %v", ev, err)
	}
	if _, errs, code := wedge(t, "probe", base, "--out", dir); code != exitUsage || !strings.Contains(errs, "which exists") {
		t.Errorf("a second time at the same place: exit code %d, %s", code, errs)
	}
}

// The text says what to do next.
func TestProbeText(t *testing.T) {
	s := serve(t, "--scale", "60", "-q")
	defer s.end()
	out, errs, code := wedge(t, "probe", s.line.BaseURL, "--scale", "60", "--for", "10s", "-q")
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{"IDLE", "idle engines prove nothing without load", "What answered", "3 of 3 read", "0 in every reading", "was answered in", "What to try next", "again     wedge probe"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestProbeExitCodes(t *testing.T) {
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html></html>")
	}))
	defer html.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer locked.Close()
	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "smg_http_connections_active 0\n")
	}))
	defer sick.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEDGE_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // on standard error, or output
	}{
		{"no URL", nil, exitUsage, "found none, want the URL of a router"},
		{"no such role", []string{"boss=http://127.0.0.1:1"}, exitUsage, "want one of client, router, prefill, decode, engine"},
		{"no URL at all", []string{"http://%zz"}, exitUsage, "no URL"},
		{"a page of HTML", []string{html.URL}, exitUsage, "page of HTML"},
		{"a window of nothing", []string{html.URL, "--for", "0s"}, exitUsage, "--for: found 0s"},
		{"a log that is not there", []string{html.URL, "--router-log", "no/such.log"}, exitUsage, "--router-log: no/such.log: no such file or directory"},
		{"a scale of 0", []string{html.URL, "--scale", "0"}, exitUsage, "--scale: found 0, want 0.001 to 1000"},
		{"a key in a query", []string{html.URL + "?key=sk-secret"}, exitUsage, "a query or a fragment in it"},
		{"a short window", []string{sick.URL, "--for", "200ms", "--no-request", "-q"}, exitFailed, "0.2 s watched"},
		{"evidence that cannot be written", []string{sick.URL, "--for", "200ms", "--no-request", "-q", "--out", filepath.Join(file, "evidence")}, exitFailed, "says that it is not healthy"},
		{"quiet and verbose", []string{html.URL, "-q", "-v"}, exitUsage, "want one of them"},
		{"a key is missing", []string{locked.URL}, exitFailed, "it wants an API key; want its key in WEDGE_API_KEY or OPENAI_API_KEY"},
		{"nobody there", []string{"http://127.0.0.1:1", "-q"}, exitFailed, "nothing is reachable"},
		{"a sick server", []string{sick.URL, "--for", "200ms", "--every", "100ms", "--no-request", "-q"}, exitFailed, "says that it is not healthy: GET /health gives HTTP status 503"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := wedge(t, append([]string{"probe"}, c.args...)...)
			text := strings.Join(strings.Fields(out+errs), " ")
			if code != c.code || !strings.Contains(strings.ToLower(text), strings.ToLower(c.want)) {
				t.Errorf("exit code %d, want %d, with %q:\n%s", code, c.code, c.want, text)
			}
			if lines := strings.Count(errs, "\n"); c.code == exitUsage && lines > 4 {
				t.Errorf("%d lines of errors:\n%s", lines, errs)
			}
		})
	}
}
