//go:build integration

package clients

import (
	"slices"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
)

// episode is something that happens to a client.
type episode struct {
	name    string
	story   string // for the reader of README.md
	call    string
	faults  []fault.Fault
	servers func(*serving.Config) // changes them; nil: no change
	// race says that how much of a stream the client gets to see is a race between its reading and the
	// loss of the connection, so that the amount means nothing.
	race bool
	// hangs says that some clients never come back, so that the test waits for patience only.
	hangs bool
}

// How long the test waits for a client: in vain, and where it is to come back.
const (
	patience = 4 * time.Second
	bound    = 40 * time.Second
)

func (e *episode) patience() time.Duration {
	if e.hangs {
		return patience
	}
	return bound
}

// episodes lists what happens, in the order of README.md.
func episodes() []episode {
	return slices.Concat(wellEpisodes(), refusalEpisodes(), connectionEpisodes(), streamEpisodes())
}

// wellEpisodes are those in which nothing goes wrong.
func wellEpisodes() []episode {
	return []episode{
		{name: "models", story: "The list of models.", call: callModels},
		{name: "chat", story: "A streamed chat that asks for the usage. A model that reasons first.", call: callStream},
		{name: "chat-whole", story: "The same in one piece.", call: callWhole},
		{name: "tool-call", story: "The model calls a tool, streamed.", call: callTool},
		{name: "tool-loop", story: "The model calls a tool, streamed; the result is sent back; it answers. A row for each answer.", call: callLoop},
	}
}

// status returns a fault that refuses requests.
func status(code int, retryAfter string) fault.Fault {
	return fault.Fault{ID: "refuses", Where: fault.Router, What: fault.Status, StatusCode: code, RetryAfter: retryAfter}
}

// refusalEpisodes are those in which the answer is an error.
func refusalEpisodes() []episode {
	once := status(503, "1")
	once.Times = 1
	return []episode{
		{name: "unknown-model", story: "A model that the servers do not have: an error nested under `error`, as OpenAI sends it.", call: callOtherModel},
		{name: "bad-request", story: "A negative `max_tokens`: an error of the engine, flat.", call: callNegative},
		{name: "status-500", story: "Every request fails with status 500.", call: callStream, faults: []fault.Fault{status(500, "")}},
		{name: "status-503-once", story: "The first request is refused with status 503 and `Retry-After: 1`.", call: callStream, faults: []fault.Fault{once}},
		{name: "status-429-retry-0", story: "Status 429 and `Retry-After: 0`.", call: callStream, faults: []fault.Fault{status(429, "0")}},
		{name: "status-429-retry-1", story: "Status 429 and `Retry-After: 1`.", call: callStream, faults: []fault.Fault{status(429, "1")}},
		{name: "status-503-retry-600", story: "Status 503 and `Retry-After: 600`, which is more than any client wants to wait.", call: callStream, faults: []fault.Fault{status(503, "600")}},
		{name: "status-503-retry-date", story: "The same as a date.", call: callStream, faults: []fault.Fault{status(503, "date+600s")}},
	}
}

// connectionEpisodes are those in which the connection fails before there is an answer.
func connectionEpisodes() []episode {
	broken := func(what fault.What) []fault.Fault {
		return []fault.Fault{{ID: "breaks", Where: fault.Connection, What: what}}
	}
	return []episode{
		{name: "connection-reset", story: "The connection is reset as soon as the request has arrived.", call: callStream, faults: broken(fault.Reset)},
		{name: "connection-closed", story: "The server closes the connection, which it takes for idle, just as the request arrives.", call: callStream,
			faults: broken(fault.KeepAliveRace)},
		{name: "connection-half-open", story: "The request vanishes, and the connection stays. No client has a limit that a person would wait for.", call: callStream,
			faults: broken(fault.Hang), hangs: true},
		{name: "proxy-buffering", story: "A proxy keeps the stream to itself until it is complete.", call: callStream, faults: broken(fault.Buffer)},
	}
}

// stream returns a fault of streams.
func stream(what fault.What, afterTokens int) fault.Fault {
	return fault.Fault{ID: "breaks", Where: fault.Stream, What: what, AfterTokens: afterTokens}
}

// midText is a place in the midst of the text.
const midText = reasoningTokens + 8

// streamEpisodes are those in which a stream begins well.
func streamEpisodes() []episode {
	return []episode{
		{name: "stream-reset", story: "The connection is reset in the midst of the text.", call: callStream,
			faults: []fault.Fault{stream(fault.Reset, midText)}, race: true},
		{name: "stream-silence", story: "In the midst of the text nothing more arrives. No client has a limit on silence.", call: callStream,
			faults: []fault.Fault{stream(fault.Silence, midText)}, hangs: true},
	}
}
