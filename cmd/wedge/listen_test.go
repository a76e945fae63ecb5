package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro/live"
)

// TestListenAddress shows what --listen refuses, before anything runs.
func TestListenAddress(t *testing.T) {
	for _, command := range [][]string{{"repro", "starvation"}, {"soak", "starvation", "--for", "1h"}, {"exec", "--", "true"}} {
		for address, want := range map[string]string{
			"8080":       `wedge: --listen: address "8080": want a host and a port such as 127.0.0.1:0`,
			"0.0.0.0:80": `wedge: --listen: address "0.0.0.0:80": want a loopback host such as 127.0.0.1: others must not reach the server without a token in WEDGE_LISTEN_TOKEN`,
		} {
			var stdout, stderr bytes.Buffer
			args := append([]string{command[0], "--listen", address, "--out", "-"}, command[1:]...)
			if code := run(t.Context(), args, &stdout, &stderr); code != exitUsage || strings.TrimSpace(stderr.String()) != want || stdout.Len() > 0 {
				t.Errorf("%v: exit code %d, %s%s", args, code, stdout.String(), stderr.String())
			}
		}
	}
}

// TestListenChangesNothing shows that a run that is watched says what one says that is not, and where it may be watched.
func TestListenChangesNothing(t *testing.T) {
	dir := t.TempDir() + "/run"
	outputs := make([]string, 2)
	for i, more := range [][]string{nil, {"--listen", "127.0.0.1:0"}} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"repro", "starvation", "--out", dir}, more...)
		if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if said := strings.HasPrefix(stderr.String(), "wedge: to be watched at http://127.0.0.1:"); said != (i == 1) {
			t.Errorf("%v: %s", args, stderr.String())
		}
		outputs[i] = stdout.String()
	}
	if outputs[0] != outputs[1] {
		t.Errorf("watched:\n%s\nnot watched:\n%s", outputs[1], outputs[0])
	}
}

// TestWatching shows a run by --listen from its start to its end, and that nothing is left of it.
func TestWatching(t *testing.T) {
	var said bytes.Buffer
	root := newRoot()
	root.SetErr(&said)
	root.SetContext(context.Background())
	m := manner{listen: "127.0.0.1:0", screen: true} // and no terminal
	w, err := m.show(root, live.Run{Command: "run", Scenario: "x"})
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		t.Helper()
		resp, err := http.Get(w.server.URL() + "snapshot.json")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var s live.Snapshot
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		return string(s.State)
	}
	if got := state(); got != "starting" {
		t.Errorf("before it begins: %s", got)
	}
	news, forget := w.view.Watch()
	defer forget()
	w.begin(func() harness.Progress { return watched() }, func() string { return "a line" }, nil)
	<-news
	if got := state(); got != "running" {
		t.Errorf("running: %s", got)
	}
	w.say("wedge: a word")
	for range 2 {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := http.Get(w.server.URL()); err == nil {
		t.Error("it is served after its end")
	}
	if got := said.String(); got != "wedge: to be watched at "+w.server.URL()+"\nwedge: a word\n" {
		t.Errorf("said %q", got)
	}
}
