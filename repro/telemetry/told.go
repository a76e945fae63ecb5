package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// errRedirected is why nothing was sent to where a receiver points: the headers, which may be secrets, are not for others.
var errRedirected = errors.New("it answered with a redirection, which is not followed: want the URL that it leads to")

// proxyOf is asked for each request, also for those that a redirection would lead to.
func proxyOf(r *http.Request) (*url.URL, error) {
	if r.Response != nil {
		return nil, errRedirected
	}
	return http.ProxyFromEnvironment(r)
}

// plain is what may be told of a failure to send: the URL, which the HTTP client quotes, is not part of it, nor is what a
// receiver repeats of the headers that it got.
func (e *Exporter) plain(err error) string {
	at := new(url.Error)
	switch {
	case errors.Is(err, errRedirected):
		return errRedirected.Error()
	case errors.As(err, &at) && at.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v", sendLimit)
	case at.Err != nil:
		err = at.Err
	}
	text := strings.NewReplacer(e.to.traces, e.to.shown, e.to.metrics, e.to.shown).Replace(err.Error())
	for _, secret := range headerValues() {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// headerValues returns what a text must not have of the headers that the SDK takes from the environment: their values as
// they are written and as they are sent, and each word of them, for a receiver may repeat a token without its scheme.
func headerValues() []string {
	const shortest = 4 // bytes; what is shorter is no secret, and all texts have it
	var out []string
	for _, name := range headerVariables {
		for part := range strings.SplitSeq(os.Getenv(name), ",") {
			_, written, _ := strings.Cut(part, "=")
			values := []string{strings.TrimSpace(written)}
			if sent, err := url.PathUnescape(written); err == nil {
				values = append(values, strings.TrimSpace(sent))
				values = append(values, strings.Fields(sent)...)
			}
			for _, v := range values {
				if len(v) >= shortest && !strings.EqualFold(v, "bearer") && !strings.EqualFold(v, "basic") {
					out = append(out, v)
				}
			}
		}
	}
	return out
}
