//go:build integration

package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestIntegrationBench measures for a moment only, to see that every part works.
func TestIntegrationBench(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"-connections", "4", "-seconds", "0.2", "-rounds", "1", "-starts", "1", "-streams", "20", "-tokens", "3", "-first-token", "50ms", "-json", "-"}
	if err := run(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var r report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v in\n%s", err, stdout.Bytes())
	}
	if len(r.Speed) != 5 || len(r.Start) != 1 || len(r.Slow) != 1 || len(r.FirstToken) != 1 {
		t.Fatalf("rows are missing:\n%s", stdout.Bytes())
	}
	for _, row := range append(r.Speed, r.Slow[0], r.FirstToken[0].speedRow) {
		if row.Requests == 0 || row.Stream && row.Events < 2*row.Requests {
			t.Errorf("%+v", row)
		}
	}
	if r.Slow[0].Requests != 20 || r.FirstToken[0].Requests != 12 {
		t.Errorf("%d and %d streams, want 20 and 12", r.Slow[0].Requests, r.FirstToken[0].Requests)
	}
	// It cannot come early, be the machine as busy as it will.
	if got := r.FirstToken[0].FirstTokenP50MS; got < 50 {
		t.Errorf("first token after %v ms, want 50 or more", got)
	}
}
