package httpbackend

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const redacted = "[redacted]"

// headerSecretMin is from which length on, in bytes, the value of an extra header is treated as a
// secret. To blot out every "1" or "true" would leave no message readable.
const headerSecretMin = 6

// newRedactor returns a function that takes secrets out of a text: the API key and the values of the
// extra headers, also in the form in which a URL or a quoted string shows them, and the userinfo of
// any URL. It is a function so that no printing of a struct can show what it knows.
func newRedactor(c Config) func(string) string {
	var secrets []string
	add := func(s string) {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`)} {
			if form != "" && !slices.Contains(secrets, form) {
				secrets = append(secrets, form)
			}
		}
	}
	add(c.APIKey)
	add(strings.TrimSpace(c.APIKey))
	for _, values := range c.Header {
		for _, value := range values {
			// Also the part after the scheme of "Bearer xyz".
			_, credentials, _ := strings.Cut(value, " ")
			for _, s := range []string{value, strings.TrimSpace(credentials)} {
				if len(s) >= headerSecretMin {
					add(s)
				}
			}
		}
	}
	// A secret that contains another one goes first, or its rest would stay.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return func(s string) string {
		for _, secret := range secrets {
			s = strings.ReplaceAll(s, secret, redacted)
		}
		return withoutUserinfo(s)
	}
}

// withoutUserinfo blots out what stands between "://" and an "@" in the same word.
func withoutUserinfo(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		authority := after
		if end := strings.IndexAny(after, "/?# \"'\n"); end >= 0 {
			authority = after[:end]
		}
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			b.WriteString(redacted)
			after = after[at:]
		}
		s = after
	}
}

// messageMax is the longest text, in bytes, that an error takes over from a server.
const messageMax = 500

// oneLine makes a text from outside fit for an error: valid, without line breaks and control
// characters, and at most messageMax bytes long.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(s) <= messageMax {
		return s
	}
	cut := messageMax
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// networkError is an error of the connection in a form that can be shown.
type networkError struct {
	text  string
	cause error // nil: its text could not be shown
}

func (e *networkError) Error() string { return "httpbackend: " + e.text }

func (e *networkError) Unwrap() error { return e.cause }

// clean makes an error fit to be shown. The error itself stays in the chain if nothing in it had to
// be taken out.
func (c *Client) clean(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr // go-openai adds nothing of use
	}
	e := &networkError{text: oneLine(c.redact(err.Error()))}
	if !c.reveals(err) {
		e.cause = err
	}
	return e
}

// protocolError returns an error about something that the server has sent.
func (c *Client) protocolError(format string, args ...any) error {
	return &networkError{text: oneLine(c.redact(fmt.Sprintf(format, args...)))}
}

// reveals says whether an error, or one that it wraps, has something in its text that must be taken
// out.
func (c *Client) reveals(err error) bool {
	if err == nil {
		return false
	}
	if text := err.Error(); c.redact(text) != text {
		return true
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		return c.reveals(x.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(x.Unwrap(), c.reveals)
	}
	return false
}
