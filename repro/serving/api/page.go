package api

import (
	"net/url"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"example.com/wedge/repro/serving"
)

// Page is what one metrics URL showed at one instant. Make one with [ParsePage]. It is not changed
// afterwards, so that it may be read by several goroutines.
type Page struct{ page }

// ParsePage reads a page in Prometheus' text format, of any server. beside are the URLs of all pages
// that are read together: what a router passes on of a worker that is among them is left out of
// [GaugesOf], so that nothing counts twice.
func ParsePage(text []byte, beside ...string) (*Page, error) {
	var hosts []string
	for _, u := range beside {
		if parsed, err := url.Parse(u); err == nil {
			hosts = append(hosts, hostOf(parsed))
		}
	}
	p, err := parsePage(text, hosts)
	if err != nil {
		return nil, err
	}
	return &Page{p}, nil
}

// GaugesOf translates what pages show together, as [Scraper.Gauges] does.
func GaugesOf(pages ...*Page) []serving.Gauge {
	all := make([]page, len(pages))
	for i, p := range pages {
		all[i] = p.page
	}
	return gaugesOf(all)
}

// Has says whether the page has a family whose name begins so.
func (p *Page) Has(prefix string) bool {
	for name := range p.families {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Values returns the values of a label over the series whose names begin so, sorted, each once. The
// empty string stands for series without the label.
func (p *Page) Values(prefix, name string) []string {
	var out []string
	for family, f := range p.families {
		if !strings.HasPrefix(family, prefix) {
			continue
		}
		for _, m := range f.GetMetric() {
			if v := label(m, name); !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Sum adds up the series of a family, a gauge or a counter, whose labels are accepted; ok is false if
// there are none. A nil accept takes all.
func (p *Page) Sum(family string, accept func(label func(name string) string) bool) (sum float64, ok bool) {
	for _, m := range p.series(family) {
		v, isNumber := number(m)
		if !isNumber || accept != nil && !accept(labelsOf(m)) {
			continue
		}
		sum, ok = sum+v, true
	}
	return sum, ok
}

func labelsOf(m *dto.Metric) func(string) string {
	return func(name string) string { return label(m, name) }
}
