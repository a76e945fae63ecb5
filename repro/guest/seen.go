package guest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/wedge/harness/sim"
)

// Seen counts what the front has seen, since the start.
type Seen struct {
	Requests  int `json:"requests"` // chat requests, each attempt
	Calls     int `json:"calls"`    // the same without those that were sent again
	Completed int `json:"completed"`
	Refused   int `json:"refused"` // with an error status, or an error event in a stream
	Cut       int `json:"cut_off"` // by the servers
	Left      int `json:"left"`    // by the client
	Failed    int `json:"failed"`  // calls that did not come back after one of these
	PeakOpen  int `json:"peak_open"`
	// Tokens that were written to clients, and what it was written for in vain.
	Tokens       int `json:"tokens"`
	TokensWasted int `json:"tokens_wasted"`
	// Statuses are those of the refused, the first few kinds of them, in the order of their coming.
	Statuses []Status `json:"refused_by_status,omitempty"`
	// Elsewhere are requests to what is not served, the first few kinds of them.
	Elsewhere []Elsewhere `json:"elsewhere,omitempty"`
}

// Elsewhere is a kind of request that is not served.
type Elsewhere struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Status  int    `json:"status"`
	Message string `json:"message"`
	Count   int    `json:"count"`
}

// Status is an HTTP status with which requests were refused.
type Status struct {
	Status int `json:"status"` // 200: an error event in the stream
	Count  int `json:"count"`
}

// refuse counts a refused request.
func (s *Seen) refuse(status int) {
	s.Refused++
	for i := range s.Statuses {
		if s.Statuses[i].Status == status {
			s.Statuses[i].Count++
			return
		}
	}
	if len(s.Statuses) < statusesMax {
		s.Statuses = append(s.Statuses, Status{status, 1})
	}
}

// StatusText names the statuses of the refused, such as "503: 72"; empty: nothing was refused.
func (s *Seen) StatusText() string {
	parts := make([]string, len(s.Statuses))
	for i, one := range s.Statuses {
		parts[i] = fmt.Sprintf("HTTP status %d: %d", one.Status, one.Count)
		if one.Status < http.StatusBadRequest {
			parts[i] = fmt.Sprintf("error in the stream: %d", one.Count)
		}
	}
	return strings.Join(parts, ", ")
}

// Bounds of what is kept of what a client sends.
const (
	elsewhereMax = 16  // kinds of requests
	statusesMax  = 16  // kinds of refusals
	textBytesMax = 300 // of a text
)

// Elsewhere implements api.Observer.
func (t *table) Elsewhere(_ sim.Instant, method, path string, status int, message string) {
	t.w.Lock()
	defer t.w.Unlock()
	method, path, message = cut(method), cut(path), cut(message)
	for i := range t.seen.Elsewhere {
		if e := &t.seen.Elsewhere[i]; e.Method == method && e.Path == path && e.Status == status {
			e.Count++
			return
		}
	}
	if len(t.seen.Elsewhere) < elsewhereMax {
		t.seen.Elsewhere = append(t.seen.Elsewhere, Elsewhere{method, path, status, message, 1})
	}
}

// clone returns a copy that does not change.
func (s *Seen) clone() Seen {
	c := *s
	c.Elsewhere, c.Statuses = slices.Clone(s.Elsewhere), slices.Clone(s.Statuses)
	return c
}

// counts returns what has been seen so far.
func (t *table) counts() Seen {
	t.w.Lock()
	defer t.w.Unlock()
	return t.seen.clone()
}

func cut(s string) string {
	if len(s) <= textBytesMax {
		return s
	}
	return fmt.Sprintf("%.*s…", textBytesMax, s)
}
