package repro

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
	"example.com/wedge/repro/serving/api"
)

// How long a real server may take to say that it is there, and to show its gauges at the usual place.
const (
	answerWithin = 10 * time.Second
	gaugesWithin = 3 * time.Second
)

// check finds out whether the server answers at all, before anything is written. Any HTTP answer will
// do: not every server lists its models. If the context is cancelled, the error is its cause.
func (srv *Server) check(outer context.Context) error {
	if srv == nil {
		return nil
	}
	client, err := srv.client(sim.NewWall(sim.WallOptions{}), 0)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(outer, answerWithin)
	defer cancel()
	_, err = client.Models(ctx)
	var status *pacer.StatusError
	if err == nil || errors.As(err, &status) {
		return nil
	}
	if cause := context.Cause(outer); cause != nil {
		return cause
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // the rest is said already
	}
	tried := fmt.Sprintf("GET %s/models for up to %v", strings.TrimRight(srv.BaseURL, "/"), answerWithin)
	return &ServerError{Tried: tried, Err: err}
}

// validMetricsURL says what is wrong with the URL of the gauges, before anything is written.
func (srv *Server) validMetricsURL() error {
	if srv == nil || srv.MetricsURL == "" {
		return nil
	}
	if _, err := api.NewScraper(srv.MetricsURL); err != nil {
		return &InputError{Source: "--metrics-url", Msg: strings.TrimPrefix(err.Error(), "api: NewScraper: ")}
	}
	return nil
}

// client returns a client of the server.
func (srv *Server) client(w sim.World, connectionsMax int) (*httpbackend.Client, error) {
	client, err := httpbackend.New(w, httpbackend.Config{BaseURL: srv.BaseURL, APIKey: srv.APIKey, ConnectionsMax: connectionsMax})
	if err != nil {
		return nil, &InputError{Source: "--base-url", Msg: strings.TrimPrefix(err.Error(), "httpbackend: New: ")}
	}
	return client, nil
}

// connect makes the way to a real server.
func (a *assembly) connect(ctx context.Context) error {
	client, err := a.o.Server.client(a.w, a.s.Pacer.ConnectionsMax)
	if err != nil {
		return err
	}
	a.closes = append(a.closes, client.CloseIdleConnections)
	a.backend = client
	if a.o.Server.MetricsURL != "" {
		return a.scrapeFrom(a.o.Server.MetricsURL)
	}
	return a.scrapeIfThere(ctx)
}

// scrapeIfThere reads the gauges at the usual place if there are any. Many servers have none, or have
// them elsewhere; the verdict then says what is missing.
func (a *assembly) scrapeIfThere(ctx context.Context) error {
	if err := a.scrape(a.o.Server.BaseURL); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if read, err := a.gauges.Gauges(ctx); err != nil || len(read) == 0 {
		a.gauges = nil
	}
	return nil
}
