package api_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/wedge/repro/serving/api"
)

func TestToken(t *testing.T) {
	const token = "s3cret"
	p := setup{api: api.Config{Token: token}}.start(t)
	for _, path := range []string{"/health", "/metrics", "/v1/models", "/wedge/state", "/nowhere"} {
		for _, test := range []struct {
			header string
			in     bool
		}{{"", false}, {"Bearer " + token, true}, {"bearer  " + token, true}, {"Bearer other", false}, {"Basic " + token, false}, {token, false}, {"Bearer", false}} {
			answer := p.exchange("GET", path, "", "Authorization", test.header)
			status, body := p.body(answer)
			if (status != http.StatusUnauthorized) != test.in {
				t.Errorf("seed %d: %s with %q: status %d, %s", seed, path, test.header, status, body)
			}
			if strings.Contains(answer, token) {
				t.Errorf("seed %d: %s shows the token: %s", seed, path, answer)
			}
		}
	}
	for _, w := range p.api.Addresses().Workers {
		resp, err := http.Get(w.URL + "/metrics")
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("seed %d: worker %s: %v, %v", seed, w.Name, resp, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestAnywhere: others may reach the server only if that is wanted, and then only with a token.
func TestAnywhere(t *testing.T) {
	w := wall()
	if _, err := api.New(w, stackOf(t, w), api.Config{Anywhere: true}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("got %v, want an error about the token", err)
	}
	s := newServer(t, api.Config{Anywhere: true, Token: "a"})
	url, err := s.Listen("0.0.0.0:0")
	if err != nil || !strings.HasSuffix(url, "/v1") {
		t.Errorf("got %q, %v", url, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
