package repro

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestIncidentPicture looks at a run of idle-engines as the incident's people looked at theirs (I-3):
// gauges every 5 s for 30 s, and the router's log, from which they took started lines without a finished one.
func TestIncidentPicture(t *testing.T) {
	s, err := Lookup("idle-engines")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Run(context.Background(), s, Options{Out: dir}); err != nil {
		t.Fatal(err)
	}
	const from, to = 890 * time.Second, 920 * time.Second
	t.Logf("seconds  agents waiting  sent  prefill inflight  prefill bootstrap  decode running  prealloc  transfer")
	rows := 0
	for _, line := range linesOf(t, filepath.Join(dir, "samples.jsonl")) {
		var at struct {
			Seconds float64            `json:"t_s"`
			Sent    int                `json:"sent"`
			Calls   int                `json:"calls"`
			Gauges  map[string]float64 `json:"gauges"`
		}
		if err := json.Unmarshal([]byte(line), &at); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if at.Seconds < from.Seconds() || at.Seconds > to.Seconds() {
			continue
		}
		rows++
		g := at.Gauges
		t.Logf("t+%-6.0f %-15d %-5d %-17v %-18v %-15v %-9v %v", at.Seconds-from.Seconds(), at.Calls, at.Sent,
			g["prefill_inflight"], g["prefill_bootstrap"], g["decode_running"], g["decode_prealloc"], g["decode_transfer"])
		inflight := 1.0
		if at.Seconds >= from.Seconds()+25 {
			inflight = 0
		}
		if g["prefill_inflight"] != inflight || g["prefill_bootstrap"]+g["prefill_queue"]+g["decode_running"]+g["decode_prealloc"]+g["decode_transfer"]+g["decode_queue"] != 0 {
			t.Errorf("t+%.0f: want prefill inflight %v and nothing else, found %v", at.Seconds-from.Seconds(), inflight, g)
		}
		if at.Calls < 20 {
			t.Errorf("t+%.0f: %d agents wait, want tens of them", at.Seconds-from.Seconds(), at.Calls)
		}
	}
	if rows != 7 {
		t.Errorf("%d samples in 30 s, want 7", rows)
	}
	open := map[string]bool{}
	id := regexp.MustCompile(`request_id="([^"]+)"`)
	for _, line := range linesOf(t, filepath.Join(dir, "router.log")) {
		m := id.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no request id in %q", line)
		}
		if strings.Contains(line, "started processing request") {
			open[m[1]] = true
		} else {
			delete(open, m[1])
		}
	}
	t.Logf("requests started and not finished in the router's log: %d", len(open))
	if len(open) != 2 {
		t.Errorf("the router's log has %d requests started and not finished, want 2: %v", len(open), open)
	}
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
