package pacer

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := func() time.Time { return time.Date(1994, 11, 6, 8, 49, 0, 0, time.UTC) }
	for _, tc := range []struct {
		header string // Retry-After, then Date, then Retry-After-Ms
		want   time.Duration
		ok     bool
	}{
		{"", 0, false},
		{"0", 0, true},
		{"120", 2 * time.Minute, true},
		{" 120 ", 2 * time.Minute, true},
		{"1.5", 1500 * time.Millisecond, true},
		{"-5", 0, false},
		{"soon", 0, false},
		{"1e9", 0, false},
		{"0x10", 0, false},
		{"1.2.3", 0, false},
		{".", 0, false},
		{"12 s", 0, false},
		{"99999999999999999999999999", retryAfterMost, true},
		{strings.Repeat("9", 400), retryAfterMost, true},
		{"Sun, 06 Nov 1994 08:49:37 GMT", 37 * time.Second, true},
		{"Sun, 06 Nov 1994 08:49:37 GMT|Sun, 06 Nov 1994 08:49:30 GMT", 7 * time.Second, true},
		{"Sun, 06 Nov 1994 08:49:37 GMT|Mon, 07 Nov 1994 08:49:30 GMT", 0, true},
		{"Sunday, 06-Nov-94 08:49:37 GMT", 37 * time.Second, true},
		{"Sun Nov  6 08:49:37 1994", 37 * time.Second, true},
		{"Sun, 06 Nov 9994 08:49:37 GMT", retryAfterMost, true},
		{"120||1500", 1500 * time.Millisecond, true},
		{"||0", 0, true},
		{"120||x", 2 * time.Minute, true},
	} {
		h := http.Header{}
		values := strings.Split(tc.header, "|")
		for i, name := range []string{"Retry-After", "Date", "Retry-After-Ms"} {
			if i < len(values) && values[i] != "" {
				h.Set(name, values[i])
			}
		}
		if got, ok := RetryAfter(h, now); got != tc.want || ok != tc.ok {
			t.Errorf("%q: %v, %v, want %v, %v", tc.header, got, ok, tc.want, tc.ok)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "120", "1.5", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "99999999999999999999", "NaN", "Inf"} {
		f.Add(s, "Sun, 06 Nov 1994 08:49:30 GMT", "")
		f.Add("", s, s)
	}
	f.Fuzz(func(t *testing.T, after, date, ms string) {
		h := http.Header{"Retry-After": {after}, "Date": {date}, "Retry-After-Ms": {ms}}
		d, ok := RetryAfter(h, func() time.Time { return time.Time{} })
		if d < 0 || d > retryAfterMost || !ok && d != 0 {
			t.Errorf("%v, %v", d, ok)
		}
	})
}
