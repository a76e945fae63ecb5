package telemetry

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// endpoint is where a receiver is.
type endpoint struct {
	traces  string // URLs
	metrics string
	shown   string // host and port: what may be told
}

// parseEndpoint reads the URL of a receiver. Its errors never quote it, for it may hold a password.
func parseEndpoint(text string) (endpoint, error) {
	const want = "want one such as http://127.0.0.1:4318"
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
		return endpoint{}, errors.New("found nothing, " + want)
	case err != nil:
		return endpoint{}, errors.New("found no URL, " + want)
	case u.User != nil:
		return endpoint{}, errors.New("found a user or password in the URL (not shown), want it without: headers are taken from OTEL_EXPORTER_OTLP_HEADERS")
	case u.RawQuery != "" || u.Fragment != "":
		return endpoint{}, errors.New("found a query or fragment in the URL (not shown), want it without: headers are taken from OTEL_EXPORTER_OTLP_HEADERS")
	case u.Scheme != "http" && u.Scheme != "https":
		return endpoint{}, errors.New("found a URL that does not begin with http:// or https://, " + want + " (OTLP over HTTP; gRPC is not spoken)")
	case u.Hostname() == "":
		return endpoint{}, errors.New("found a URL without a host, " + want)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return endpoint{}, fmt.Errorf("found port %s, want one from 1 to 65535", port)
		}
	}
	base := strings.TrimSuffix(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	for _, path := range []string{tracesPath, metricsPath} { // the URL of one of the two is as good
		base = strings.TrimSuffix(base, path)
	}
	return endpoint{traces: base + tracesPath, metrics: base + metricsPath, shown: u.Host}, nil
}

// Paths under a receiver's URL.
const (
	tracesPath  = "/v1/traces"
	metricsPath = "/v1/metrics"
)

// headerVariables are the environment variables that the SDK takes headers from.
var headerVariables = [...]string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS"}

// checkHeaders refuses headers that the SDK would complain about, for its complaint quotes them.
func checkHeaders() error {
	for _, name := range headerVariables {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		for i, part := range strings.Split(text, ",") {
			key, value, ok := strings.Cut(part, "=")
			key = strings.TrimSpace(key)
			_, err := url.PathUnescape(value)
			if !ok || key == "" || strings.ContainsFunc(key, notToken) || err != nil {
				return fmt.Errorf("found in %s an entry (number %d, not shown) that is no header, want key=value,key=value with values escaped as in URLs", name, i+1)
			}
		}
	}
	return nil
}

// notToken says whether a character may not be in the name of a header.
func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
