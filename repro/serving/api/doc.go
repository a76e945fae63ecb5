// Package api puts the simulated servers of package serving on a socket: an OpenAI-compatible HTTP
// server with the shapes of SGLang and its router, and a [Scraper] that reads the metrics of such a
// server, simulated or real. It is for wall worlds only: sockets know no virtual time.
//
//	POST /v1/chat/completions      streamed as server-sent events, or in one piece
//	GET  /v1/models                and /v1/models/{id}
//	GET  /health, /health_generate
//	GET  /metrics                  of the router and of both engines, on this one port
//
// There are two clocks. What is simulated, such as the instants of tokens and the Date header, goes
// by the world's clock, which a scale factor may speed up. What concerns the connection as such,
// such as the time that a client may take to send its request, goes by the machine's.
//
// A handler is not a process of the world. It waits through a serving.Handle with the context of its
// HTTP request, which ends when the client leaves or the server is closed. So a client that leaves is
// known to the servers at once.
//
// A stream writes seldom: tokens that become due within a flush interval share an event and a write,
// so that a world that runs sixty times as fast does not need sixty times as many writes. The first
// token and the end of an answer are never held back.
//
// What this first form leaves out: it listens on loopback only and speaks HTTP/1.1; errors come as
// statuses, never as events within a stream; the id of an answer is that of its request, which real
// engines do not know; gauges are true at each instant, where those of a stuck engine freeze.
//
// The package may import harness/sim, repro/serving, go-openai (for the types that serving speaks)
// and Prometheus' client libraries.
package api
