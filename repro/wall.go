package repro

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/url"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/httpbackend"
	"example.com/wedge/repro/serving/api"
)

// listen puts the simulated servers behind a socket on loopback, and makes the way there.
func (a *assembly) listen(w *sim.Wall) error {
	front, err := api.New(w, a.stack, api.Config{
		ConnectionsMax: connectionsFor(a.s, a.agentsAtOnce()),
		// A client that leaves in the middle of an answer is part of the run, not news.
		ErrorLog: log.New(io.Discard, "", 0),
	})
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	base, err := front.Listen("")
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	a.closes = append(a.closes, func() { _ = front.Close() }) // the run is over: nobody misses an answer
	client, err := httpbackend.New(w, httpbackend.Config{BaseURL: base, ConnectionsMax: a.s.Pacer.ConnectionsMax})
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	a.closes = append(a.closes, client.CloseIdleConnections)
	a.backend = client
	return a.scrape(base)
}

// connectionsFor returns how many connections a fleet may need: one for each call at most, and some
// for the gauges. 0: that is not known, nor how many tasks there are at once.
func connectionsFor(s *Scenario, tasks int) int {
	if tasks == 0 {
		return 0
	}
	return tasks*(1+s.Workflow.SubAgents.PerRound) + 64
}

// scrape reads the gauges from /metrics at the host of a base URL.
func (a *assembly) scrape(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	return a.scrapeFrom(u.Scheme + "://" + u.Host + "/metrics")
}

func (a *assembly) scrapeFrom(metricsURL string) error {
	s, err := api.NewScraper(metricsURL)
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	a.gauges = overHTTP{s}
	return nil
}

// overHTTP reads the gauges of servers behind a socket.
type overHTTP struct{ scraper *api.Scraper }

var _ harness.Servers = overHTTP{}

// Gauges implements harness.Servers.
func (h overHTTP) Gauges(ctx context.Context) ([]harness.Gauge, error) {
	read, err := h.scraper.Gauges(ctx)
	return appendGauges(nil, read), err
}
