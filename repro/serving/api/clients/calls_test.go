//go:build integration

package clients

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// The calls that a client can make. Each has its own form in each client, with the same meaning.
const (
	callStream     = "stream"              // a streamed chat that asks for the usage
	callWhole      = "whole"               // the same in one piece
	callTool       = "tool-stream"         // a streamed chat in which the model calls a tool
	callLoop       = "loop"                // that, with the result sent back, until the model is done
	callOtherModel = "other-model"         // one that the server does not have
	callNegative   = "negative-max-tokens" // a request that makes no sense
	callModels     = "models"
)

// Texts of the calls.
const (
	modelID    = "simulated"
	saying     = "Say something."
	stepwise   = "Go on.\nSteps: read_message."
	toolName   = "read_message"
	toolText   = "Reads the next message."
	toolResult = `{"text":"hello"}`
)

// client is a program that talks to the servers.
type client struct {
	name string
	// helpers are the calls for which the client has a second, more convenient form; see helper.
	helpers []string
	// run makes a call with it and says what it saw, an element for each answer.
	run func(t *testing.T, baseURL, call string, patience time.Duration) []turn
	// helper does the same in the second form.
	helper func(t *testing.T, baseURL, call string, patience time.Duration) []turn
}

// counting is a transport that counts the requests that go through it.
type counting struct {
	requests atomic.Int64
	base     *http.Transport
}

// newCounting returns a transport that is closed with the test.
func newCounting(t *testing.T) *counting {
	c := &counting{base: &http.Transport{}}
	t.Cleanup(c.base.CloseIdleConnections)
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.base.RoundTrip(r)
}

// taken returns the count and begins anew.
func (c *counting) taken() int { return int(c.requests.Swap(0)) }

// end says how a turn ended that has err, given the context of the call.
func (t *turn) end(ctx context.Context, err error, describe func(error) *problem) {
	switch {
	case ctx.Err() != nil:
		t.Waits = true
	case err != nil:
		t.Error = describe(err)
	}
}
