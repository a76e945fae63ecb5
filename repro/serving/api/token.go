package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// allowed says whether the headers have the token, if there is one.
func (s *Server) allowed(h http.Header) bool { return s.cfg.Token == "" || Bears(h, s.cfg.Token) }

// Bears says whether the headers have the token, as "Authorization: Bearer TOKEN". It takes the same time
// whatever they have instead.
func Bears(h http.Header, token string) bool {
	scheme, got, _ := strings.Cut(h.Get("Authorization"), " ")
	return SameToken(strings.TrimSpace(got), token) && strings.EqualFold(scheme, "Bearer")
}

// SameToken says whether two tokens are the same. It takes the same time whatever they are.
func SameToken(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// CheckAddress returns an error that says what is wrong with an address, a host and a port. Unless others may reach
// the server from anywhere, the host must be one that only this machine can reach.
func CheckAddress(address string, anywhere bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: want a host and a port such as 127.0.0.1:0", address)
	}
	if anywhere || Loopback(host) {
		return nil
	}
	return fmt.Errorf("address %q: want a loopback host such as 127.0.0.1: others must not reach the server", address)
}

// Loopback says whether a host, without a port, is localhost or a loopback address.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
