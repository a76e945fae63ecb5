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
	held    bool                  // the holder's request is there before the client comes
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

// holder is an agent whose request is kept at the router; see [served.hold].
const holder = "holder"

// full has the router's limiter take an hour for its next token once a request has the first.
func full(c *serving.Config) {
	c.Router.Limit = serving.LimitConfig{ConcurrentMax: 1, PerSecond: 1. / 3600}
}

// status returns a fault that refuses requests.
func status(code int, retryAfter string) fault.Fault {
	return fault.Fault{ID: "refuses", Where: fault.Router, What: fault.Status, StatusCode: code, RetryAfter: retryAfter}
}

// refusalEpisodes are those in which the answer is an error.
func refusalEpisodes() []episode {
	prefillFails := fault.Fault{ID: "fails", Where: fault.Prefill, What: fault.Status, StatusCode: 500}
	held := fault.Fault{ID: "holds", Where: fault.Router, What: fault.Latency, Delay: time.Hour, Agent: holder}
	once := status(503, "1")
	once.Times = 1
	return []episode{
		{name: "unknown-model", story: "A model that the servers do not have: an error nested under `error`, as OpenAI sends it.", call: callOtherModel},
		{name: "bad-request", story: "A negative `max_tokens`: an error of the engine, flat.", call: callNegative},
		{name: "bad-request-vllm", story: "The same of vLLM: nested, with the status as a number.", call: callNegative,
			servers: func(c *serving.Config) { c.Flavor = serving.VLLM }},
		{name: "prompt-too-long", story: "The prompt is longer than the context: an error of the engine, flat.", call: callStream,
			servers: func(c *serving.Config) { c.Model.ContextTokensMax = 3 }},
		{name: "prefill-fails", story: "The prefill engine fails every request: an error of the router, nested, with a code as text. The router tries each five times, and after ten failures its circuit breaker is open.", call: callWhole,
			faults: []fault.Fault{prefillFails}},
		{name: "prefill-fails-stream", story: "The same, streamed: the router takes it for well, and decode's complaint comes as an event.", call: callStream,
			faults: []fault.Fault{prefillFails}},
		{name: "no-worker", story: "The router's circuit breakers are open.", call: callWhole, faults: []fault.Fault{prefillFails},
			servers: func(c *serving.Config) { c.Router.Breaker.Failures = 1 }},
		{name: "router-full", story: "The router's limiter lets nobody in, and its queue is full: status 429 without a body.", call: callStream,
			faults: []fault.Fault{held}, servers: full, held: true},
		{name: "router-queue-timeout", story: "The router's limiter lets nobody in for as long as requests wait in its queue: status 408 without a body.", call: callStream,
			faults: []fault.Fault{held}, held: true, servers: func(c *serving.Config) {
				full(c)
				c.Router.Limit.QueueMax, c.Router.Limit.QueueTimeout = 1, 100*time.Millisecond
			}},
		{name: "status-500", story: "Every request fails with status 500.", call: callStream, faults: []fault.Fault{status(500, "")}},
		{name: "status-503-once", story: "The first request is refused with status 503 and `Retry-After: 1`.", call: callStream, faults: []fault.Fault{once}},
		{name: "status-429-retry-0", story: "Status 429 and `Retry-After: 0`.", call: callStream, faults: []fault.Fault{status(429, "0")}},
		{name: "status-429-retry-1", story: "Status 429 and `Retry-After: 1`.", call: callStream, faults: []fault.Fault{status(429, "1")}},
		{name: "status-503-retry-600", story: "Status 503 and `Retry-After: 600`, which is more than any client wants to wait.", call: callStream, faults: []fault.Fault{status(503, "600")}},
		{name: "status-503-retry-date", story: "The same as a date, but one of the servers' clock, which begins with the year 2026: to a client it is long past, and so nothing.", call: callStream, faults: []fault.Fault{status(503, "date+600s")}},
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
	streamError := func(afterTokens int) fault.Fault {
		f := stream(fault.Error, afterTokens)
		f.StatusCode = 503
		return f
	}
	comments := stream(fault.Comments, midText)
	comments.Every = time.Millisecond
	truncateOnce := stream(fault.TruncateCall, 0)
	truncateOnce.Times = 1
	return []episode{
		{name: "stream-reset", story: "The connection is reset in the midst of the text.", call: callStream,
			faults: []fault.Fault{stream(fault.Reset, midText)}, race: true},
		{name: "stream-silence", story: "In the midst of the text nothing more arrives. No client has a limit on silence.", call: callStream,
			faults: []fault.Fault{stream(fault.Silence, midText)}, hangs: true},
		{name: "stream-comments", story: "From the midst of the text on only comments arrive, a thousand a second. go-openai has enough after 300 lines without data.", call: callStream,
			faults: []fault.Fault{comments}, hangs: true},
		{name: "stream-cut", story: "The body ends in the midst of the text as if that were all, without finish reason and `[DONE]`. Only Node's helper notices.", call: callStream,
			faults: []fault.Fault{stream(fault.Cut, midText)}},
		{name: "stream-error-first", story: "Status 200, and the first event is an error, as SGLang says that its queue is full. No client tries again.", call: callStream,
			faults: []fault.Fault{streamError(0)}},
		{name: "stream-error", story: "An error event in the midst of the text.", call: callStream, faults: []fault.Fault{streamError(midText)}},
		{name: "stream-malformed", story: "An event in the midst of the text is no JSON.", call: callStream, faults: []fault.Fault{stream(fault.Malformed, midText)}},
		{name: "stream-no-done", story: "Everything arrives but `[DONE]`.", call: callStream, faults: []fault.Fault{stream(fault.NoDone, 0)}},
		{name: "stream-open-after-done", story: "The body stays open after `[DONE]`. All clients stop there.", call: callStream, faults: []fault.Fault{stream(fault.OpenAfterDone, 0)}},
		{name: "stream-no-usage", story: "The usage that was asked for does not arrive.", call: callStream, faults: []fault.Fault{stream(fault.NoUsage, 0)}},
		{name: "tool-truncated", story: "The arguments of the tool call end early, and the answer as if it were complete.", call: callTool,
			faults: []fault.Fault{stream(fault.TruncateCall, 0)}},
		{name: "tool-truncated-loop", story: "The same in a loop of tool calls, once: the broken call goes back into the conversation.", call: callLoop, faults: []fault.Fault{truncateOnce}},
	}
}
