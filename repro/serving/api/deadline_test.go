package api

import (
	"net/http"
	"testing"
	"time"
)

// TestRemaining checks which headers say how much time is left.
func TestRemaining(t *testing.T) {
	for _, row := range []struct {
		ms, stainless string
		want          time.Duration
	}{
		{"", "", 0},
		{"1500", "", 1500 * time.Millisecond},
		{"", "600", 10 * time.Minute},
		{"2500", "600", 2500 * time.Millisecond},
		{"soon", "0.5", 500 * time.Millisecond},
		{"-1", "", 0},
		{"0", "", 0},
		{"NaN", "Inf", 0},
		{"1e300", "", 0},
	} {
		h := http.Header{}
		if row.ms != "" {
			h.Set("X-Request-Deadline-Ms", row.ms)
		}
		if row.stainless != "" {
			h.Set("X-Stainless-Timeout", row.stainless)
		}
		if got := remaining(h); got != row.want {
			t.Errorf("%q, %q: got %v, want %v", row.ms, row.stainless, got, row.want)
		}
	}
}
