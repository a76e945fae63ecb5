package httpbackend_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
)

// TestOpenBodies counts bodies while a stream is open, and after every way in which a call can end.
func TestOpenBodies(t *testing.T) {
	var client *httpbackend.Client
	during := int64(-1)
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		cancel  bool
		open    int64 // while the answer comes, where that can be told
		want    bool  // the call ends well
	}{
		{name: "stream", open: 1, want: true, handler: func(w http.ResponseWriter, r *http.Request) {
			events("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n")(w, r)
		}},
		{name: "whole", open: -1, want: true, handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}`)
		}},
		{name: "status", open: -1, handler: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) }},
		{name: "nonsense", open: -1, handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, "nonsense")
		}},
		{name: "cut", open: 1, handler: func(w http.ResponseWriter, r *http.Request) {
			events("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")(w, r)
		}},
		{name: "cancelled", open: 1, cancel: true, handler: func(w http.ResponseWriter, r *http.Request) {
			events("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			w := sim.NewWall(sim.WallOptions{Seed: 1})
			c, err := httpbackend.New(w, httpbackend.Config{BaseURL: server.URL + "/v1", APIKey: key})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdleConnections()
			client, during = c, -1
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			watch := watcher(func(stage pacer.Stage) {
				if stage == pacer.StageStream {
					during = client.OpenBodies()
					if tt.cancel {
						cancel()
					}
				}
			})
			p, err := pacer.New(w, pacer.DefaultConfig(), policy(), c, watch, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Chat(ctx, identity("agent", 1), request())
			if (err == nil) != tt.want {
				t.Errorf("ends well: got error %v, want it to be %t", err, tt.want)
			}
			if tt.open >= 0 && during != tt.open {
				t.Errorf("open bodies during the stream: got %d, want %d", during, tt.open)
			}
			if got := c.OpenBodies(); got != 0 {
				t.Errorf("open bodies after the call: got %d, want 0", got)
			}
			if _, err := c.Models(t.Context()); err == nil && tt.name == "status" {
				t.Error("models of a server that refuses: got no error")
			}
			if got := c.OpenBodies(); got != 0 {
				t.Errorf("open bodies after a question for models: got %d, want 0", got)
			}
		})
	}
}

// watcher is an observer of stages.
type watcher func(pacer.Stage)

func (f watcher) StageChanged(s *pacer.CallState, _ pacer.Stage)   { f(s.Stage) }
func (watcher) AttemptEnded(*pacer.CallState, pacer.AttemptResult) {}
func (watcher) CallEnded(*pacer.CallState, int, error)             {}
