package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/wedge/repro/serving"
)

// Scraper reads the metrics of servers: simulated ones, or real ones of SGLang, its router, or vLLM.
// It is safe for concurrent use. Make one with [NewScraper].
type Scraper struct {
	urls   []string
	hosts  []string // of the URLs
	client *http.Client
}

// NewScraper returns a reader of all the given metrics URLs together, such as those of a router and
// its engines. It opens no connection yet. The error names the URL that is wrong.
func NewScraper(urls ...string) (*Scraper, error) {
	if len(urls) == 0 {
		return nil, errors.New("api: NewScraper: no URL, want one such as http://localhost:30000/metrics")
	}
	var hosts []string
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return nil, fmt.Errorf("api: NewScraper: %.200q, want a URL such as http://localhost:30000/metrics", withoutUser(u))
		}
		hosts = append(hosts, hostOf(u))
	}
	return &Scraper{urls: urls, hosts: hosts, client: &http.Client{
		// A connection for each scrape: scrapes are rare, and nothing is left when the last one is over.
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		// A redirect would mean that something else than a metrics page is there.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// hostOf returns the host and port of a URL, under one name for one's own machine.
func hostOf(u *url.URL) string {
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, u.Port())
}

// withoutUser returns a URL for a message: without its user and password, if it is one at all.
func withoutUser(u *url.URL) string {
	if u == nil {
		return "(not a URL)"
	}
	stripped := *u
	stripped.User = nil
	return stripped.String()
}

// Gauges reads all URLs and returns what they show, under serving's names and in the order of
// Stack.Gauges. What they do not show is left out, so there may be nothing at all. Numbers of several
// engines are summed up, but for the memory in use, of which it is the largest. It fails if any of
// the URLs cannot be read in full, and with the cause of ctx if that ends first.
func (s *Scraper) Gauges(ctx context.Context) ([]serving.Gauge, error) {
	var pages []page
	for _, u := range s.urls {
		p, err := s.read(ctx, u)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("api: scraping %s: %w", u, err)
		}
		pages = append(pages, p)
	}
	return gaugesOf(pages), nil
}

// pageBytesMax bounds what is read of one URL. Pages of large deployments have some 100 KiB.
const pageBytesMax = 16 << 20

func (s *Scraper) read(ctx context.Context, u string) (page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return page{}, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1")
	resp, err := s.client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // the rest is said already
		}
		return page{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return page{}, fmt.Errorf("HTTP status %d, want 200", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, pageBytesMax+1))
	if err != nil {
		return page{}, err
	}
	if len(text) > pageBytesMax {
		return page{}, fmt.Errorf("more than %d bytes", pageBytesMax)
	}
	return parsePage(text, s.hosts)
}

// page is what one URL shows.
type page struct {
	families map[string]*dto.MetricFamily // by their name
	scraped  []string                     // hosts of all URLs that are read
}

// series returns the series of a family. Routers that pass on what their workers show have underscores
// in the names, where the workers have colons, and the label worker_addr on each; those of a worker
// that is read itself are left out.
func (p *page) series(family string) []*dto.Metric {
	found := p.families[family]
	if found == nil {
		found = p.families[strings.ReplaceAll(family, ":", "_")]
	}
	all := found.GetMetric()
	if !slices.ContainsFunc(all, p.readElsewhere) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), p.readElsewhere)
}

func (p *page) readElsewhere(m *dto.Metric) bool {
	worker := label(m, "worker_addr")
	if worker == "" {
		return false
	}
	u, err := url.Parse(worker)
	return err == nil && slices.Contains(p.scraped, hostOf(u))
}

func parsePage(text []byte, scraped []string) (page, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return page{}, fmt.Errorf("not in Prometheus' text format: %s", cut(err.Error(), 200))
	}
	return page{families, scraped}, nil
}
