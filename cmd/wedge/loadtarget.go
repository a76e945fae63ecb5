package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
	"example.com/wedge/repro"
	"example.com/wedge/repro/load"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// options returns where the load goes, and how the result names that.
func (f *loadFlags) options(cmd *cobra.Command) (load.Options, string, error) {
	o := load.Options{Seed: f.seed, Wall: f.clockOf() == repro.ClockWall, Scale: 1}
	given := cmd.Flags().Changed
	if given("base-url") {
		for _, name := range []string{"preset", "set", "fault", "clock", "scale"} {
			if given(name) {
				return o, "", &repro.InputError{Source: "--" + name, Msg: "found it together with --base-url, want it for simulated servers only"}
			}
		}
		err := f.reach(cmd.Context())
		o.Server = &f.server
		return o, f.server.BaseURL + ", model " + f.server.Model, err
	}
	if f.server.Model != "" || len(f.server.MetricsURLs) > 0 {
		return o, "", &repro.InputError{Source: "--base-url", Msg: "found --model or --metrics-url without it, want the server's base URL too"}
	}
	about := "simulated servers in memory"
	switch f.clockOf() {
	case repro.ClockVirtual:
		if given("scale") {
			return o, "", &repro.InputError{Source: "--scale", Msg: "found a scale of the virtual clock, want --clock wall with it"}
		}
	case repro.ClockWall:
		if err := repro.ValidScale(f.scale); err != nil {
			return o, "", err
		}
		o.Scale, about = f.scale, "simulated servers over HTTP"
	default:
		return o, "", &repro.InputError{Source: "--clock", Msg: fmt.Sprintf("found %q, want virtual or wall", f.clock)}
	}
	s, err := f.simulated()
	if err != nil {
		return o, "", err
	}
	o.Simulated = &load.Simulated{Config: s.Servers, Faults: s.Faults}
	return o, about + ", preset " + cmp.Or(s.Servers.Preset, presetDefault), nil
}

// simulated puts the servers together. They are a scenario in which nothing but servers and faults may
// be set, so that fields, units and mistakes are those of scenario files.
func (f *loadFlags) simulated() (*repro.Scenario, error) {
	s := repro.Default()
	s.Name = "load"
	var err error
	if s.Servers, err = presetConfig(f.preset); err != nil {
		return nil, err
	}
	for _, text := range f.faults {
		if err := s.AddFaults(text); err != nil {
			return nil, err
		}
	}
	for _, set := range f.set {
		path, value, ok := strings.Cut(set, "=")
		path = strings.TrimSpace(path)
		if !ok || !strings.HasPrefix(path, "servers.") && !strings.HasPrefix(path, "faults.") {
			return nil, &repro.InputError{Source: "--set " + set, Msg: "want a field of servers or faults, such as servers.decode.running_max=8"}
		}
		if err := s.Set(path, value); err != nil {
			return nil, err
		}
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	for _, one := range s.Faults {
		if one.Where == fault.Tool || one.Where == fault.Pacer || one.Where == fault.Harness {
			return nil, &repro.InputError{Source: "--fault", Msg: fmt.Sprintf("found the fault %s at the %s, want one of the servers or the connection: a load has no tools, no pacer and no agents", one.ID, one.Where)}
		}
	}
	return s, nil
}

// presetConfig returns the servers of a preset; "" is the default one.
func presetConfig(name string) (serving.Config, error) {
	if name == "" {
		name = presetDefault
	}
	config, err := serving.Preset(name)
	if err != nil {
		return config, &repro.InputError{Source: "--preset", Msg: fmt.Sprintf("found %q, want one of %s", name, presetNames())}
	}
	return config, nil
}

// How long a real server may take to list its models, and to show its gauges at the usual place.
const (
	modelsWithin = 10 * time.Second
	gaugesWithin = 3 * time.Second
)

// reach finds out whether the real server answers, which model to ask for, and where its gauges are.
func (f *loadFlags) reach(outer context.Context) error {
	f.server.APIKey = apiKey()
	client, err := httpbackend.New(sim.NewWall(sim.WallOptions{}), httpbackend.Config{BaseURL: f.server.BaseURL, APIKey: f.server.APIKey})
	if err != nil {
		return &repro.InputError{Source: "--base-url", Msg: strings.TrimPrefix(err.Error(), "httpbackend: New: ")}
	}
	defer client.CloseIdleConnections()
	if len(f.server.MetricsURLs) > 0 {
		if _, err := api.NewScraper(f.server.MetricsURLs...); err != nil {
			return &repro.InputError{Source: "--metrics-url", Msg: strings.TrimPrefix(err.Error(), "api: NewScraper: ")}
		}
	}
	ctx, cancel := context.WithTimeout(outer, modelsWithin)
	defer cancel()
	models, err := client.Models(ctx)
	var status *pacer.StatusError
	switch {
	case context.Cause(outer) != nil:
		return &exitError{code: exitInterrupted}
	case err != nil && !errors.As(err, &status):
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // the rest is said already
		}
		tried := fmt.Sprintf("GET %s/models for up to %v", strings.TrimRight(f.server.BaseURL, "/"), modelsWithin)
		return &exitError{code: exitFailed, err: &repro.ServerError{Tried: tried, Err: err}}
	case f.server.Model != "": // not every server lists its models
	case status != nil && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden):
		return &exitError{code: exitFailed, err: fmt.Errorf("the server answers %d (%s): want its key in %s",
			status.Status, http.StatusText(status.Status), strings.Join(keyVariables[:], " or "))}
	case len(models) == 0:
		return &repro.InputError{Source: "--model", Msg: "found none, and the server lists none: want the name of a model"}
	default:
		f.server.Model = models[0]
	}
	if len(f.server.MetricsURLs) == 0 {
		f.server.MetricsURLs = usualMetrics(outer, f.server.BaseURL)
	}
	return nil
}

// usualMetrics returns /metrics at the host of a base URL if gauges can be read there.
func usualMetrics(ctx context.Context, base string) []string {
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	metrics := u.Scheme + "://" + u.Host + "/metrics"
	scraper, err := api.NewScraper(metrics)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gaugesWithin)
	defer cancel()
	if read, err := scraper.Gauges(ctx); err != nil || len(read) == 0 {
		return nil
	}
	return []string{metrics}
}
