package httpbackend

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Config says which server to talk to, and how. BaseURL must be set.
//
// However a Config is printed, the API key and the values of Header are not in it.
type Config struct {
	// BaseURL is what "/chat/completions" is appended to, such as "http://localhost:30000/v1".
	BaseURL string
	// APIKey goes into the Authorization header. Empty: there is none.
	APIKey string `json:"-" yaml:"-"`
	// Header is added to each request. Its values, from six bytes on, are treated as secrets, like the
	// API key.
	Header http.Header `json:"-" yaml:"-"`
	// ConnectionsMax bounds the connections to the server; an attempt that finds none waits in its
	// connect stage. 0: no limit. It must be 0 if HTTPClient is set.
	ConnectionsMax int
	// HTTPClient replaces the client that the package would make, with its transport and its own time
	// limits. It is used as it is. Nil: one without any time limit, which follows no redirects.
	HTTPClient *http.Client `json:"-" yaml:"-"`
}

// Validate says what is wrong with the configuration in one line, or returns nil.
func (c Config) Validate() error {
	if err := validURL(c.BaseURL); err != nil {
		return err
	}
	if hasControl(c.APIKey) {
		return errors.New("API key: it has a line break or another control character in it, want one without")
	}
	for name, values := range c.Header {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }) {
			return fmt.Errorf("header: the name %q, want letters, digits and dashes", name)
		}
		if slices.ContainsFunc(values, hasControl) {
			return fmt.Errorf("header %s: the value has a control character in it, want one without", name)
		}
	}
	switch {
	case c.ConnectionsMax < 0:
		return fmt.Errorf("connections_max: %d, want 0 (no limit) or more", c.ConnectionsMax)
	case c.ConnectionsMax > 0 && c.HTTPClient != nil:
		return fmt.Errorf("connections_max: %d beside an HTTP client, want 0: the limit belongs to the client's transport", c.ConnectionsMax)
	}
	return nil
}

// validURL refuses what cannot be a base URL. Its errors never quote a password.
func validURL(text string) error {
	const want = "want one such as http://localhost:30000/v1"
	u, err := url.Parse(text)
	if err != nil {
		// The parser's own error quotes the text as it is.
		return fmt.Errorf("base URL: %q is not a URL, %s", withoutUserinfo(text), want)
	}
	switch {
	case u.User != nil:
		return fmt.Errorf("base URL: %q has a user or password in it, want them left out: the API key goes into its own field", withoutUserinfo(text))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("base URL: %q is neither http nor https, %s", withoutUserinfo(text), want)
	case u.Hostname() == "":
		return fmt.Errorf("base URL: %q has no host, %s", withoutUserinfo(text), want)
	case !validPort(u):
		return fmt.Errorf("base URL: %q has the port %q, want one from 1 to 65535 or none", withoutUserinfo(text), u.Port())
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		shown, _, _ := strings.Cut(withoutUserinfo(text), "?") // a query may hold a key
		return fmt.Errorf("base URL: %q has a query or fragment, %s", shown, want)
	}
	return nil
}

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.Atoi(u.Port())
	return err == nil && n >= 1 && n <= 65535
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Format implements fmt.Formatter, so that no verb prints a secret.
func (c Config) Format(f fmt.State, _ rune) {
	names := make([]string, 0, len(c.Header))
	for name := range c.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	key := "none"
	if c.APIKey != "" {
		key = redacted
	}
	_, _ = io.WriteString(f, fmt.Sprintf("httpbackend.Config{BaseURL:%q APIKey:%s Header:%v ConnectionsMax:%d HTTPClient:%t}",
		withoutUserinfo(c.BaseURL), key, names, c.ConnectionsMax, c.HTTPClient != nil))
}
