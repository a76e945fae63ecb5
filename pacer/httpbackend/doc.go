// Package httpbackend is the [pacer.Backend] that talks HTTP: to any OpenAI-compatible server,
// through go-openai and net/http. It is for wall worlds only.
//
// It adds what go-openai leaves out: the x-request-id that ties an attempt to the server's log, the
// instant at which an attempt has its connection, Retry-After, error bodies of the shapes in use,
// error events inside a stream, and counts of what has arrived. It takes SSE comments and keepalives
// for what they are, however many there are.
//
// It sets no time limits of its own: those belong to the pacer's policy. What a server or the
// network says in an error is cut to a sane length, made one line, and stripped of the API key.
//
// The package imports pacer, harness/sim, go-openai and the standard library.
package httpbackend
