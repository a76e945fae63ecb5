package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report is all that was measured.
type report struct {
	Machine    string          `json:"machine"`
	Speed      []speedRow      `json:"speed,omitempty"`
	Start      []startRow      `json:"start,omitempty"`
	Slow       []speedRow      `json:"slow,omitempty"`
	FirstToken []firstTokenRow `json:"first_token,omitempty"`
}

// speedRow is a server under load.
type speedRow struct {
	Server string `json:"server"`
	Stream bool   `json:"stream"`
	loaded
	OfBare float64 `json:"of_bare,omitempty"` // rate by that of the bare handler; 0: not compared
}

type startRow struct {
	Server string  `json:"server"`
	Starts int     `json:"starts"`
	MinMS  float64 `json:"min_ms"`
	P50MS  float64 `json:"p50_ms"`
	MaxMS  float64 `json:"max_ms"`
}

type firstTokenRow struct {
	speedRow
	ConfiguredMS float64 `json:"configured_ms"`
	ErrorPercent float64 `json:"error_percent"` // of the median
}

// ofBare compares each rate with that of the bare handler.
func (r *report) ofBare() {
	rates := map[bool]float64{}
	for i := range r.Speed {
		if r.Speed[i].Server == bareName {
			rates[r.Speed[i].Stream] = r.Speed[i].RequestsPerS
		}
	}
	for i := range r.Speed {
		r.Speed[i].OfBare = r.Speed[i].RequestsPerS / rates[r.Speed[i].Stream]
	}
}

// table writes the report for people.
func (r *report) table(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, r.Machine)
	if len(r.Speed) > 0 {
		fmt.Fprint(t, "\nspeed\tkind\tanswers/s\tof bare\tp50 ms\tp99 ms\tfirst token p50 ms\tevents/answer\tserver CPU µs/answer\tserver RSS MiB\n")
		for i := range r.Speed {
			x := &r.Speed[i]
			kind := "whole"
			if x.Stream {
				kind = "stream"
			}
			fmt.Fprintf(t, "%s\t%s\t%.0f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\n", x.Server, kind, x.RequestsPerS, x.OfBare, x.P50MS, x.P99MS,
				x.FirstTokenP50MS, float64(x.Events)/float64(x.Requests), x.CPUPerRequestUS, x.RSSMaxMiB)
		}
	}
	if len(r.Start) > 0 {
		fmt.Fprint(t, "\nstart to first 200 of /health\tstarts\tmin ms\tp50 ms\tmax ms\n")
		for _, x := range r.Start {
			fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\n", x.Server, x.Starts, x.MinMS, x.P50MS, x.MaxMS)
		}
	}
	if len(r.Slow) > 0 {
		fmt.Fprint(t, "\nslow streams at once\tstreams\tserver RSS MiB\tp50 ms\tfirst token p50 ms\tp99 ms\n")
		for i := range r.Slow {
			x := &r.Slow[i]
			fmt.Fprintf(t, "%s\t%d\t%.1f\t%.0f\t%.1f\t%.1f\n", x.Server, x.Requests, x.RSSMaxMiB, x.P50MS, x.FirstTokenP50MS, x.FirstTokenP99MS)
		}
	}
	if len(r.FirstToken) > 0 {
		fmt.Fprint(t, "\nfirst token, steady state\tconfigured ms\tp50 ms\tp99 ms\terror of p50\n")
		for i := range r.FirstToken {
			x := &r.FirstToken[i]
			fmt.Fprintf(t, "%s\t%.0f\t%.1f\t%.1f\t%+.2f %%\n", x.Server, x.ConfiguredMS, x.FirstTokenP50MS, x.FirstTokenP99MS, x.ErrorPercent)
		}
	}
	return t.Flush()
}

// quantile returns the value at share q of a sorted list that is not empty.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
