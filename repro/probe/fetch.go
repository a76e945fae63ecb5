package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Bounds of an answer. Metrics pages of large deployments have some 100 KiB, a dump some 400 bytes to
// 2 KiB a goroutine.
const (
	pageBytesMax   = 16 << 20
	dumpBytesMax   = 256 << 20
	smallBytesMax  = 1 << 20
	headerBytesMax = 64 << 10
	answerTimeMax  = 5 * time.Second // on the machine's clock, for an answer in full
	dumpTimeMax    = 30 * time.Second
	errorTextMax   = 200
)

// fetcher sends the requests and counts them. It is safe for concurrent use.
type fetcher struct {
	client *http.Client
	key    string        // API key; in nothing that is shown
	within time.Duration // for an answer in full; 0: answerTimeMax, or dumpTimeMax
	mu     sync.Mutex
	made   map[string]int // by place, method and path
}

func newFetcher(key string, within time.Duration) *fetcher {
	return &fetcher{key: key, within: within, made: map[string]int{}, client: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: headerBytesMax,
			DialContext: (&net.Dialer{Timeout: answerTimeMax}).DialContext,
		},
		// A redirect would take the request, and the key, to another place than the one that was named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what came back of a request.
type answer struct {
	status int
	kind   string // the media type
	body   []byte
}

// get asks for a page, which is bounded in bytes and in time on the machine's clock. Any status is no
// error. The error is one line, without the URL.
func (f *fetcher) get(ctx context.Context, t Target, path string, bytesMax int64, within time.Duration) (answer, error) {
	f.count(t, http.MethodGet, path)
	if f.within > 0 {
		within = f.within
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, t.at(path), nil)
	if err != nil {
		return answer{}, err
	}
	if path == pathMetrics {
		req.Header.Set("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1")
	}
	if t.Role.Server() { // a URL of which that is not known might be anybody's
		f.authorize(req)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return answer{}, f.plain(ctx, err, within)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, kind: mediaType(resp.Header)}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, bytesMax+1))
	switch {
	case err != nil:
		return a, f.plain(ctx, err, within)
	case int64(len(a.body)) > bytesMax:
		return a, fmt.Errorf("its answer has more than %d MiB", bytesMax>>20)
	}
	return a, nil
}

func (f *fetcher) authorize(req *http.Request) {
	if f.key != "" {
		req.Header.Set("Authorization", "Bearer "+f.key)
	}
}

func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.TrimSpace(kind)
}

// count notes a request.
func (f *fetcher) count(t Target, method, path string) {
	f.mu.Lock()
	f.made[t.shown()+" "+method+" "+path]++
	f.mu.Unlock()
}

// plain turns the error of a request into one line: without the URL, which is said beside it, and with
// the limit that was hit.
func (f *fetcher) plain(outer context.Context, err error, within time.Duration) error {
	if cause := context.Cause(outer); cause != nil {
		return cause
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var timeout net.Error
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer in full within %v", within)
	case errors.As(err, &unknown):
		return errors.New("its TLS certificate is of an authority that this machine does not trust (SSL_CERT_FILE names another file of authorities)")
	case errors.As(err, &host):
		return fmt.Errorf("its TLS certificate is for another host: %s", cut(host.Error()))
	case errors.As(err, &record):
		return errors.New("it does not speak TLS: want http:// instead of https://")
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return errors.New("it does not speak TLS: want http:// instead of https://")
	}
	return errors.New(cut(f.hide(err.Error())))
}

// hide takes the key out of a text, in case somebody sends it back.
func (f *fetcher) hide(text string) string {
	if len(f.key) < 4 {
		return text
	}
	return strings.ReplaceAll(text, f.key, "(key)")
}

// cut puts a text on one line of bounded length.
func cut(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if r := []rune(text); len(r) > errorTextMax {
		text = string(r[:errorTextMax]) + "…"
	}
	return text
}
