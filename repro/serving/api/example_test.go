package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// A server on a free port, on a clock that is a hundred times as fast as the machine's, a question to
// it, and a look at its gauges over HTTP.
func ExampleServer_Listen() {
	w := sim.NewWall(sim.WallOptions{Seed: 1, Scale: 100})
	cfg := serving.Default()
	cfg.Gauges.Exact = true // those of a real engine may be half a minute old
	stack, err := serving.New(w, cfg, serving.Model{}, nil, serving.Logs{})
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := api.New(w, stack, api.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	baseURL, err := server.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	question := `{"model":"simulated","stream":true,"max_tokens":8,"messages":[{"role":"user","content":"Well?"}]}`
	resp, err := http.Post(baseURL+"/chat/completions", "application/json", strings.NewReader(question))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	stream, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, strings.HasSuffix(string(stream), "data: [DONE]\n\n"), err)

	scraper, err := api.NewScraper(strings.TrimSuffix(baseURL, "/v1") + "/metrics")
	if err != nil {
		fmt.Println(err)
		return
	}
	gauges, err := scraper.Gauges(context.Background())
	for _, g := range gauges {
		if g.Value > 0 {
			fmt.Println(g.Name, g.Value)
		}
	}
	fmt.Println(err)
	// Output:
	// 200 OK true <nil>
	// prefill_tokens_total 2
	// decode_tokens_total 8
	// <nil>
}
