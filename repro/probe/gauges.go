package probe

import (
	"context"
	"fmt"

	"example.com/wedge/harness"
	"example.com/wedge/repro/serving/api"
)

// Gauges reads the metrics of live servers, for whoever watches a program of their own (harness/embed's
// Options.Servers). It is safe for concurrent use. Make one with [NewGauges].
type Gauges struct{ scraper *api.Scraper }

var _ harness.Servers = (*Gauges)(nil)

// NewGauges returns a reader of the metrics pages of SGLang, its router, or vLLM: all of them together,
// such as http://localhost:30000/metrics. It opens no connection yet. The error names the URL that is
// wrong.
func NewGauges(urls ...string) (*Gauges, error) {
	s, err := api.NewScraper(urls...)
	if err != nil {
		return nil, fmt.Errorf("probe: NewGauges: %w", err)
	}
	return &Gauges{s}, nil
}

// Gauges implements harness.Servers.
func (g *Gauges) Gauges(ctx context.Context) ([]harness.Gauge, error) {
	read, err := g.scraper.Gauges(ctx)
	out := make([]harness.Gauge, len(read))
	for i := range read {
		out[i] = harness.Gauge(read[i])
	}
	return out, err
}
