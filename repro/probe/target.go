package probe

import (
	"fmt"
	"net/url"
	"strings"
)

// Role says what a target is.
type Role string

// The roles. The empty Role is one that is to be found out.
const (
	RoleRouter  Role = "router"  // SGLang's router
	RolePrefill Role = "prefill" // an SGLang engine that only prefills
	RoleDecode  Role = "decode"  // an SGLang engine that only decodes
	RoleEngine  Role = "engine"  // an engine that does both: SGLang without the split, or vLLM
	RoleClient  Role = "client"  // a Go program with /debug/pprof
)

// Roles returns the roles in the order in which a request passes them.
func Roles() []Role { return []Role{RoleClient, RoleRouter, RolePrefill, RoleDecode, RoleEngine} }

// Server says whether it is one of the servers' side.
func (r Role) Server() bool { return r != "" && r != RoleClient }

// Target is one thing to look at.
type Target struct {
	Role Role
	URL  string // as it was given
}

// ParseTarget reads URL or ROLE=URL. A URL without a scheme is taken for http. The error says what is
// wanted instead.
func ParseTarget(text string) (Target, error) {
	t := Target{URL: text}
	if name, rest, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(name, ":/?") {
		t = Target{Role: Role(name), URL: rest}
		if !knownRole(t.Role) {
			return t, fmt.Errorf("found the role %.40q, want one of %s", name, roleNames())
		}
	}
	_, err := t.place()
	return t, err
}

func knownRole(r Role) bool {
	for _, known := range Roles() {
		if r == known {
			return true
		}
	}
	return false
}

func roleNames() string {
	var names []string
	for _, r := range Roles() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// place is the URL of a target, checked.
func (t Target) place() (*url.URL, error) {
	text := t.URL
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	const want = "want a URL such as http://127.0.0.1:30000"
	u, err := url.Parse(text)
	switch {
	case t.URL == "":
		return nil, fmt.Errorf("found nothing, %s", want)
	case err != nil:
		return nil, fmt.Errorf("found something that is no URL, %s", want)
	case u.User != nil:
		return nil, fmt.Errorf("found a URL with a user or a password in it, want none: the API key is taken from the environment")
	case !plainQuery(u):
		return nil, fmt.Errorf("found a URL with a query or a fragment in it, want none: wedge asks for pages of its own, and a key in it would be printed")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("found the scheme %.40q, %s", u.Scheme, want)
	case u.Hostname() == "" || strings.ContainsAny(u.Hostname(), " <>\"'"):
		return nil, fmt.Errorf("found %.200q without a usable host, %s", t.URL, want)
	}
	return u, nil
}

// plainQuery says whether there is no query but the one of a page of goroutines.
func plainQuery(u *url.URL) bool {
	level, ok := strings.CutPrefix(u.RawQuery, "debug=")
	return u.Fragment == "" && !u.ForceQuery && (u.RawQuery == "" || ok && len(level) == 1)
}

// Paths that are asked for.
const (
	pathMetrics = "/metrics"
	pathHealth  = "/health"
	pathModels  = "/v1/models"
	pathChat    = "/v1/chat/completions"
	pathDump    = "/debug/pprof/goroutine"
)

// at returns the URL of a path of a target: its host's, with what stands before /v1 or /metrics in the
// URL that was given, for servers that are not at the root of theirs.
func (t Target) at(path string) string {
	u, err := t.place()
	if err != nil {
		return ""
	}
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: t.root(u) + path}
	if path == pathDump {
		out.RawQuery = "debug=2"
	}
	return out.String()
}

func (t Target) root(u *url.URL) string {
	path := strings.TrimRight(u.Path, "/")
	for _, end := range [...]string{pathDump, "/debug/pprof", pathMetrics, pathHealth, pathChat, pathModels, "/v1"} {
		if root, ok := strings.CutSuffix(path, end); ok {
			return root
		}
	}
	return path
}

// saysClient says whether the URL itself names a page of goroutines.
func (t Target) saysClient() bool { return strings.Contains(t.URL, "/debug/pprof") }

// shown is the URL of a target for messages: scheme, host and root.
func (t Target) shown() string { return t.at("") }
