package goroutine

import "strings"

// StageLabel is the pprof label in which a goroutine may say its stage itself.
const StageLabel = "stage"

// A recognizer names the stage of a goroutine by the functions on its stack.
type recognizer struct {
	stage string
	// call is a function that is being called, in the form of HasFunc.
	call string
	// under, if not empty, is a function further out on the same stack.
	under string
	// inmost asks that no frame further in is outside the runtime and its helpers, so
	// that the function itself waits.
	inmost bool
}

// recognizers is searched for each frame, the innermost frame first: a call that
// holds a slot and reads a body is streaming. The stages are wedge's words:
// think, tool, slot, rate, backoff, connect, headers, first_token, stream. Some
// cannot be told from frames: backoff and think look like any sleep, first_token
// like stream. Names are those of Go 1.18 to 1.27 with golang.org/x/net, x/sync
// and x/time; packages match also where they are vendored, and http2 is x/net's
// and, since 1.27, net/http/internal's.
var recognizers = []recognizer{
	{stage: "slot", call: "golang.org/x/sync/semaphore.(*Weighted).Acquire"},
	{stage: "slot", call: "golang.org/x/sync/errgroup.(*Group).Go"},
	{stage: "slot", call: "database/sql.(*DB).conn", inmost: true},
	{stage: "slot", call: "puddle/v2.(*Pool[...]).acquire"},
	{stage: "slot", call: "puddle.(*Pool).Acquire"},
	{stage: "rate", call: "golang.org/x/time/rate.(*Limiter).wait"},

	// The clients' own pauses between two attempts.
	{stage: "backoff", call: "requestconfig.(*RequestConfig).Execute", inmost: true},
	{stage: "backoff", call: "github.com/hashicorp/go-retryablehttp.(*Client).Do", inmost: true},
	{stage: "backoff", call: "github.com/cenkalti/backoff/v4.doRetryNotify[...]", inmost: true},
	{stage: "backoff", call: "github.com/cenkalti/backoff/v5.Retry[...]", inmost: true},

	{stage: "connect", call: "net/http.(*Transport).getConn"},
	{stage: "connect", call: "net.(*Dialer).DialContext"},
	{stage: "headers", call: "net/http.(*persistConn).roundTrip"},
	// The connection's own read loop calls persistConn.Read too, with no body.
	{stage: "stream", call: "net/http.(*persistConn).Read", under: "net/http.(*body).Read"},

	// The caller sits in roundTrip for a stream slot, the peer's window and the
	// answer alike; the one that knows which is a goroutine of its own.
	{stage: "headers", call: "net/http.(*http2ClientConn).roundTrip"},
	{stage: "headers", call: "http2.(*ClientConn).roundTrip"},
	// A server's handler reads its request through a pipe too.
	{stage: "stream", call: "net/http.(*http2pipe).Read", under: "net/http.http2transportResponseBody.Read"},
	{stage: "stream", call: "http2.(*pipe).Read", under: "http2.transportResponseBody.Read"},

	{stage: "connect", call: "google.golang.org/grpc.(*pickerWrapper).pick"},
	{stage: "headers", call: "google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader"},
	{stage: "headers", call: "google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader"},
	{stage: "stream", call: "google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient"},

	{stage: "tool", call: "os/exec.(*Cmd).Wait"},
	{stage: "tool", call: "os/exec.(*Cmd).Start"},
}

// Stage says what the goroutine waits for, in wedge's words. The label "stage"
// wins, whatever its value; without it the stack decides. ok is false if neither
// tells, and for goroutines whose labels are Inherited: they serve a call and
// are not the call.
func Stage(g *Goroutine) (stage string, ok bool) {
	if Inherited(g) {
		return "", false
	}
	if stage := g.Label(StageLabel); stage != "" {
		return stage, true
	}
	return StackStage(g.Frames)
}

// StackStage says what a goroutine with such a stack waits for; the innermost
// frame comes first. ok is false if no frame tells. Prefer Stage, which knows
// more of the goroutine.
func StackStage(frames []Frame) (stage string, ok bool) {
	inmost := true
	for i := range frames {
		for _, r := range recognizers {
			if isFunc(frames[i].Func, r.call) && (inmost || !r.inmost) && (r.under == "" || hasFunc(frames[i+1:], r.under)) {
				return r.stage, true
			}
		}
		inmost = inmost && isHelper(frames[i].Func)
	}
	return "", false
}

// isHelper reports whether the function only waits on behalf of its caller.
func isHelper(name string) bool {
	for _, start := range []string{"runtime.", "sync.", "internal/", "time.", "context."} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// companionCreators start the names of functions, of the standard library, that
// start goroutines to serve a call: connection loops, dials, HTTP/2 streams,
// look-ups, copiers of a command's output. Those of a connection go on serving
// later calls with the labels of the first.
var companionCreators = []string{
	"net/http.(*Transport).",
	"net/http.(*persistConn).",
	"net/http.setRequestCancel",
	"net/http.(*http2Transport).",
	"net/http.(*http2ClientConn).",
	"net/http.(*http2clientConnPool).",
	"net/http.(*http2clientStream).",
	"net/http/internal/http2.(*Transport).",
	"net/http/internal/http2.(*ClientConn).",
	"net/http/internal/http2.(*clientConnPool).",
	"net/http/internal/http2.(*clientStream).",
	"golang.org/x/net/http2.(*Transport).",
	"golang.org/x/net/http2.(*ClientConn).",
	"golang.org/x/net/http2.(*clientConnPool).",
	"golang.org/x/net/http2.(*clientStream).",
	"net.",
	"context.",
	"internal/singleflight.",
	"os/exec.",
}

// Inherited reports whether g was started by the standard library in the service
// of a call, so that its labels are copies of somebody else's.
func Inherited(g *Goroutine) bool {
	for _, start := range companionCreators {
		if strings.HasPrefix(g.CreatedBy.Func, start) {
			return true
		}
	}
	return false
}
