//go:build integration

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// live opens the live page of runs: it must go with them.
func (b *browser) live(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		seen string // what the page must come to show
		move string // what must change
	}{
		{"soak", []string{"soak", "healthy", "--clock", "wall", "--scale", "60", "--for", "4h"}, "Work gets done", "#calls-total"},
		{"stall", []string{"repro", "silent-stream", "--clock", "wall", "--scale", "600", "--set", "watchdog.give_up_after=0s"}, "silent-stream", "#headline"},
	} {
		run := b.startLive(t, append(test.args, "--out", filepath.Join(t.TempDir(), test.name))...)
		v := b.open(t, "live-"+test.name, run.url, run.url)
		v.until(`document.querySelector("#headline").textContent.includes("` + test.seen + `")`)
		for _, moves := range []string{"#clock", test.move} {
			first := value[string](v, text(moves))
			v.until(fmt.Sprintf("%s !== %q && %s !== ''", text(moves), first, text(moves)))
		}
		v.until(`document.querySelectorAll("#area path, #area polygon").length > 0`)
		v.pictures()
		v.clean()
		run.end(t)
	}
}

// liveHostile opens that of a run against servers that mean ill: what they say, and what models are called, is text
// to the page.
func (b *browser) liveHostile(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/models"):
			_, _ = io.WriteString(w, `{"object": "list", "data": []}`)
		case strings.HasSuffix(r.URL.Path, "/metrics"):
			http.Error(w, hostile, http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				fmt.Fprintf(w, `data: {"choices": [{"index": 0, "delta": {"content": %q}}]}`+"\n\n", hostile)
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done() // the rest does not come
		}
	}))
	t.Cleanup(server.Close)
	run := b.startLive(t, "run", "--base-url", server.URL+"/v1", "--model", hostile, "--metrics-url", server.URL+"/metrics",
		"--set", "watchdog.stall_after=1s", "--out", filepath.Join(t.TempDir(), "run"))
	t.Cleanup(func() { run.end(t) }) // before the server, which waits for its clients
	v := b.open(t, "live-hostile", run.url, run.url)
	v.until(`document.body.textContent.includes("onerror")`)
	v.until(`document.querySelector("#headline").textContent.includes("Stall")`)
	if title := value[string](v, "document.title"); title == "owned" || !strings.Contains(title, "wedge") {
		t.Errorf("the title is %q", title)
	}
	if n := value[int](v, `document.querySelectorAll("img, script:not([src])").length`); n != 0 {
		t.Errorf("%d elements have come from texts", n)
	}
	v.pictures()
	v.clean()
}

func text(selector string) string {
	return fmt.Sprintf("document.querySelector(%q).textContent", selector)
}

// watchedRun is a run that is shown while it goes on.
type watchedRun struct {
	cmd *exec.Cmd
	url string
}

// startLive starts a run with a page, and ends it with the test.
func (b *browser) startLive(t *testing.T, args ...string) *watchedRun {
	t.Helper()
	cmd := exec.Command(b.wedge, append(args, "--listen", "127.0.0.1:0")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("it has ended and not said where it is to be watched: %v", err)
		}
		if _, url, found := strings.Cut(strings.TrimSpace(line), "watched at "); found {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // progress, until it ends
			return &watchedRun{cmd: cmd, url: url}
		}
	}
}

// end interrupts the run.
func (r *watchedRun) end(t *testing.T) {
	t.Helper()
	if r.cmd.ProcessState != nil {
		return
	}
	_ = r.cmd.Process.Signal(syscall.SIGINT)
	_ = r.cmd.Wait() // it was cut off: its exit code says so
}
