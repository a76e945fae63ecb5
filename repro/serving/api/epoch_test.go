package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving/api"
)

// TestEpoch: with an epoch, clients see real dates, and a Retry-After that is one lies ahead of them.
func TestEpoch(t *testing.T) {
	epoch := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	p := setup{
		api:    api.Config{Epoch: epoch},
		faults: []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 503, RetryAfter: "date+600s"}},
	}.start(t)
	resp, err := http.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"simulated","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || at.Before(epoch) || at.After(epoch.Add(24*time.Hour)) {
		t.Errorf("Date: %s, %v", resp.Header.Get("Date"), err)
	}
	after, err := http.ParseTime(resp.Header.Get("Retry-After"))
	if d := after.Sub(at); err != nil || d < 599*time.Second || d > 700*time.Second {
		t.Errorf("Retry-After: %s, %v, which is %v after Date", resp.Header.Get("Retry-After"), err, d)
	}
}
