// Package api puts the simulated servers of package serving on sockets: an OpenAI-compatible HTTP
// server with the shapes of SGLang and its router, or vLLM, and a [Scraper] that reads the metrics of
// such servers, simulated or real. It is for wall worlds only: sockets know no virtual time.
//
// The router's port:
//
//	POST   /v1/chat/completions    streamed as server-sent events, or in one piece
//	GET    /v1/models              and /v1/models/{id}
//	GET    /health, /liveness      always well
//	GET    /readiness              whether there is a healthy worker of each kind
//	GET    /health_generate        asks a worker of each kind
//	GET    /workers, /server_info, /v1/loads?include=core,disagg,queues
//	POST   /abort_request          {"rid": "prefix"} or {"abort_all": true}
//	GET    /metrics                of the router, and of all workers with the label worker_addr
//	GET    /engine_metrics         of the workers alone, as the original passes them on
//	GET    /wedge/state            what the servers show of themselves, all in one
//	GET    /wedge/faults           the faults that are switched on, and how often they have fired
//	PUT    /wedge/faults/{id}      switches one on: see [ParseFault]
//	DELETE /wedge/faults/{id}      switches it off; without an id, all of them
//
// Each worker has a port of its own with /health, /health_generate, /server_info, /v1/loads,
// /abort_request and /metrics. Its gauges are those that the engine has published last, which may be
// old; counters are of the present.
//
// There are two clocks. What is simulated, such as the instants of tokens and the Date header, goes
// by the world's clock, which a scale factor may speed up. What concerns the connection as such,
// such as the time that a client may take to send its request, goes by the machine's.
//
// A handler is not a process of the world. It waits through a serving.Handle with the context of its
// HTTP request, which ends when the client leaves or the server is closed. So the router knows at once
// that a client has left; what the engines make of it is theirs to say.
//
// A stream writes seldom: tokens that become due within a flush interval share an event and a write,
// so that a world that runs sixty times as fast does not need sixty times as many writes. The first
// token and the end of an answer are never held back. How late the server is beyond that is in the
// histogram wedge_write_lag_seconds and in [Server.Overhead].
//
// A client that does not read holds up nobody and holds no memory but its socket's and one write's:
// tokens are counted where they are made, and their text is written when it can be. The original's
// router keeps all of it for such a client instead. After [Config.WriteTimeout] its connection is
// closed.
//
// An answer has two ids, as in the original: that of the router, in the header X-Request-Id and the
// router's log, and that of the engine, in the body.
//
// The package may import harness/sim, harness/fault, pacer, repro/serving, its engine, go-openai (for
// the types that serving speaks), go-yaml and Prometheus' client libraries.
package api
