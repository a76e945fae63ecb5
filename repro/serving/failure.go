package serving

import (
	"cmp"
	"net/http"
	"strings"

	"example.com/wedge/repro/serving/engine"
)

// noWorker is the answer if all workers are unhealthy, or their circuits open: those of a kind, or without
// prefill engines the only ones.
func (s *Stack) noWorker(kind string) *Refusal {
	if len(s.prefills.all) == 0 {
		return own(http.StatusServiceUnavailable, "no_available_workers", "No available workers (all circuits open or unhealthy)")
	}
	return own(http.StatusServiceUnavailable, "server_selection_failed",
		"No available servers: No available "+kind+" workers (all circuits open or unhealthy)")
}

// inBand is a failure as an event of a stream.
func inBand(f *engine.Failure) *Refusal {
	return &Refusal{Status: f.Status, Message: f.Message, Type: f.Type}
}

// stopFailure is what an engine fails with because of a fault.
func stopFailure(status int) *engine.Failure {
	f := &engine.Failure{Status: status, Message: "Internal error of the engine", Type: "INTERNAL_SERVER_ERROR"}
	if status != http.StatusInternalServerError {
		f.Type = strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))
		f.Message = cmp.Or(http.StatusText(status), "error")
	}
	return f
}

// upstream is the router's answer for a leg that has failed. Without prefill engines it is the
// engine's own.
func (a *attempt) upstream(side string, f *engine.Failure) *Refusal {
	if a.p == nil {
		return refusal(f.Status, f.Message)
	}
	status, kind := f.Status, "error"
	switch {
	case status == http.StatusInternalServerError:
		kind = "internal_error"
	case status == http.StatusServiceUnavailable:
		kind = "unavailable"
	case status == http.StatusBadRequest:
		kind = "bad_request"
	case status >= 500:
		status, kind = http.StatusBadGateway, "server_error"
	}
	return own(status, side+"_"+kind, f.Message)
}
