package live

import (
	"embed"
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/wedge/repro/serving/api"
)

//go:embed page
var files embed.FS

// tokenCookie is the cookie with the token of a browser.
const tokenCookie = "wedge_token"

// routes returns what is served, without the question of who may have it.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", page("page/index.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /app.css", page("page/app.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /app.js", page("page/app.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /draw.js", page("page/draw.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /icon.svg", page("page/icon.svg", "image/svg+xml"))
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /snapshot.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.o.View.Latest()) })
	mux.HandleFunc("GET /history.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.o.View.History()) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry(), promhttp.HandlerOpts{MaxRequestsInFlight: scrapesMax, Timeout: scrapeWithin}))
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// Scrapes that may be answered at one time, and how long each may take.
const (
	scrapesMax   = 4
	scrapeWithin = 5 * time.Second
)

func healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // a client that has gone
}

func page(name, kind string) http.HandlerFunc {
	text, err := files.ReadFile(name)
	return func(w http.ResponseWriter, _ *http.Request) {
		if err != nil { // cannot be: a test asks for each
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // a client that has gone
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a client that has gone
}

// policy is what the page may do: use what is served beside it, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP decides who may have what.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case s.o.Token == "" && !ownHost(r.Host):
		// A page from elsewhere may have its own name stand for this machine, and then read what is here.
		http.Error(w, "this is served for localhost only, by its address or by that name", http.StatusForbidden)
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		http.Error(w, "not for pages from elsewhere", http.StatusForbidden)
	case r.URL.Path == "/healthz" || s.o.Token == "" || s.bears(r):
		s.handler.ServeHTTP(w, r)
	case r.URL.Query().Has("token") && api.SameToken(r.URL.Query().Get("token"), s.o.Token):
		http.SetCookie(w, &http.Cookie{
			Name: tokenCookie, Value: url.QueryEscape(s.o.Token), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, "/", http.StatusSeeOther) // so that the address can be shown around
	default:
		h.Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: as a bearer, or once as ?token=", http.StatusUnauthorized)
	}
}

// ownHost says whether the host that a client has asked for is this machine by a name that no other can take.
func ownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	return api.Loopback(host)
}

func (s *Server) bears(r *http.Request) bool {
	if api.Bears(r.Header, s.o.Token) {
		return true
	}
	cookie, err := r.Cookie(tokenCookie)
	if err != nil {
		return false
	}
	token, err := url.QueryUnescape(cookie.Value)
	return err == nil && api.SameToken(token, s.o.Token)
}
