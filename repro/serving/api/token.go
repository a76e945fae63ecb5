package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// allowed says whether the headers have the token, if there is one. It takes the same time whatever
// they have instead.
func (s *Server) allowed(h http.Header) bool {
	if s.cfg.Token == "" {
		return true
	}
	scheme, got, _ := strings.Cut(h.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(got))), sha256.Sum256([]byte(s.cfg.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
