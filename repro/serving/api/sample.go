package api

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// sample is one series at one instant.
type sample struct {
	name, help string
	kind       prometheus.ValueType
	value      float64
	tally      *tally // of a histogram; nil: it is none
	labels     []pair
}

type pair struct{ name, value string }

// form is how samples look on a page.
type form struct {
	// worker is the value of the label worker_addr, which the router puts on what it passes on of its
	// workers. Empty: no such label.
	worker string
	// plain has underscores in the place of colons, as the router's parser wants it.
	plain bool
}

// metric returns the sample as Prometheus' library wants it. The labels are sorted there.
func (s *sample) metric(f form) prometheus.Metric {
	name := s.name
	if f.plain {
		name = strings.ReplaceAll(name, ":", "_")
	}
	names, values := make([]string, 0, len(s.labels)+1), make([]string, 0, len(s.labels)+1)
	for _, l := range s.labels {
		names, values = append(names, l.name), append(values, strings.ToValidUTF8(l.value, "\ufffd")) // it takes no other text
	}
	if f.worker != "" {
		names, values = append(names, "worker_addr"), append(values, f.worker)
	}
	desc := prometheus.NewDesc(name, s.help, names, nil)
	if s.tally != nil {
		return prometheus.MustNewConstHistogram(desc, s.tally.n, s.tally.sum, s.tally.cumulative(), values...)
	}
	return prometheus.MustNewConstMetric(desc, s.kind, s.value, values...)
}

// collector shows samples that are taken anew at each scrape. It describes nothing in advance, so that
// a registry checks what it is given then.
type collector func(out chan<- prometheus.Metric)

var _ prometheus.Collector = collector(nil)

// Describe implements prometheus.Collector.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) { c(out) }
