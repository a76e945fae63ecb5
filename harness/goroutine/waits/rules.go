package waits

import (
	"strings"

	"example.com/wedge/harness/goroutine"
)

// A rule names the wait of a goroutine by a function on its stack.
type rule struct {
	// call is the function, matched from its end on whole elements; under, if
	// not empty, is a function further out on the same stack.
	call, under string
	// state is how the header's state has to begin.
	state string

	class Class
	kind  ObjectKind
	waits string
	role  role
	// noHandler asks that no handler of a request is on the stack.
	noHandler bool
	// inmost asks that only plumbing is further in.
	inmost bool
	// finding is what such waits are called if they do not end, empty for those that only
	// stand in relation to others.
	finding FindingClass
	// addressed says that the first word of call is the object's address.
	addressed bool
}

// http2Call is what a HTTP/2 caller waits for; the goroutine that serves it knows which.
const http2Call = "a HTTP/2 slot, window or answer"

// rules are searched for each frame, the innermost first; among those for one
// frame the first counts. Names are those of Go 1.18 to 1.27.
var rules = []rule{
	// Those that take the dump, or end the program.
	{call: "runtime/pprof.writeGoroutineStacks", under: "net/http.serverHandler.ServeHTTP", class: Running, waits: "nothing: it answers the request for this dump", role: observer},
	{call: "runtime/pprof.writeRuntimeProfile", under: "net/http.serverHandler.ServeHTTP", class: Running, waits: "nothing: it answers the request for this dump", role: observer},
	{call: "runtime/pprof.writeGoroutine", under: "net/http.serverHandler.ServeHTTP", class: Running, waits: "nothing: it answers the request for this dump", role: observer},
	{call: "harness/goroutine.(*Capturer).Text", class: Running, waits: "nothing: it takes the dump", role: dumper},
	{call: "runtime.Stack", class: Running, waits: "nothing: it takes the dump", role: dumper},
	{call: "pprof.writeGoroutineStacks", class: Running, waits: "nothing: it takes the dump", role: dumper},
	{call: "runtime/pprof.writeRuntimeProfile", class: Running, waits: "nothing: it takes the dump", role: dumper},
	{call: "panic", state: "running", class: Running, waits: "nothing: it panics", role: dying},
	{call: "testing.(*M).startAlarm.func1", class: Running, waits: "nothing: the tests ran out of time and it ends them", role: dying},
	{call: "runtime.throw", state: "running", class: Running, waits: "nothing: it ends the program", role: dying},
	{call: "runtime.fatal", state: "running", class: Running, waits: "nothing: it ends the program", role: dying},

	// Waits for slots of semaphores, pools and limits.
	{call: "semaphore.(*Weighted).Acquire", class: ProgramEnding, kind: Semaphore, waits: "a slot of a semaphore", role: slot, addressed: true},
	{call: "errgroup.(*Group).Go", state: "chan send", class: ProgramEnding, kind: Semaphore, waits: "a slot of an errgroup's limit", role: slot, addressed: true},
	{call: "errgroup.(*Group).Wait", class: ProgramEnding, kind: WaitGroup, waits: "the goroutines of an errgroup", role: joiner},
	{call: "database/sql.(*DB).conn", state: "select", class: ProgramEnding, kind: Pool, waits: "a connection of the database/sql pool", role: slot, addressed: true},
	{call: "puddle.(*Pool).Acquire", class: ProgramEnding, kind: Pool, waits: "a resource of a puddle pool", role: slot, addressed: true},
	{call: "puddle.(*Pool[...]).Acquire", class: ProgramEnding, kind: Pool, waits: "a resource of a puddle pool", role: slot, addressed: true},
	{call: "puddle/v2.(*Pool[...]).acquire", class: ProgramEnding, kind: Pool, waits: "a resource of a puddle pool", role: slot, addressed: true},

	// Timers.
	{call: "rate.(*Limiter).wait", class: SelfEnding, kind: Timer, waits: "the rate limiter's timer", finding: RateLimit},
	{call: "time.Sleep", class: SelfEnding, kind: Timer, waits: "a sleep to end"},

	// HTTP clients.
	{call: "net/http.(*Transport).getConn", class: PeerEnding, kind: Pool, waits: "a connection: a dial, or one of MaxConnsPerHost", role: slot, finding: HTTPPool},
	{call: "net/http.(*persistConn).roundTrip", class: PeerEnding, kind: Conn, waits: "the response header", finding: HTTPHeaders},
	{call: "net/http.(*persistConn).readLoop", class: AtRest, kind: Conn, waits: "a connection's next bytes, for its users"},
	{call: "net/http.(*persistConn).writeLoop", state: "select", class: AtRest, kind: Conn, waits: "a connection's next request"},
	{call: "net/http.(*persistConn).Read", under: "net/http.(*body).Read", class: PeerEnding, kind: Conn, waits: "the next bytes of a response body", finding: StreamStall},
	{call: "http2clientStream).awaitFlowControl", class: PeerEnding, kind: Conn, waits: "the peer's flow-control window", finding: DeadConnection},
	{call: "http2.(*clientStream).awaitFlowControl", class: PeerEnding, kind: Conn, waits: "the peer's flow-control window", finding: DeadConnection},
	{call: "net/http.(*http2ClientConn).awaitOpenSlotForStreamLocked", class: PeerEnding, kind: Pool, waits: "a stream slot of a HTTP/2 connection", finding: HTTPPool},
	{call: "http2.(*ClientConn).awaitOpenSlotForStreamLocked", class: PeerEnding, kind: Pool, waits: "a stream slot of a HTTP/2 connection", finding: HTTPPool},
	{call: "net/http.(*http2clientStream).writeRequest", state: "select", class: PeerEnding, kind: Conn, waits: "the answer to a HTTP/2 request", finding: HTTPHeaders},
	{call: "http2.(*clientStream).writeRequest", state: "select", class: PeerEnding, kind: Conn, waits: "the answer to a HTTP/2 request", finding: HTTPHeaders},
	{call: "net/http.(*http2ClientConn).roundTrip", state: "select", class: PeerEnding, kind: Conn, waits: http2Call, finding: HTTPHeaders},
	{call: "http2.(*ClientConn).roundTrip", state: "select", class: PeerEnding, kind: Conn, waits: http2Call, finding: HTTPHeaders},
	{call: "net/http.(*http2pipe).Read", class: PeerEnding, kind: Conn, waits: "the next bytes of a HTTP/2 body", finding: StreamStall},
	{call: "http2.(*pipe).Read", class: PeerEnding, kind: Conn, waits: "the next bytes of a HTTP/2 body", finding: StreamStall},
	{call: "http2clientConnReadLoop).run", state: "IO wait", class: AtRest, kind: Conn, waits: "a connection's next bytes, for its users"},
	{call: "http2.(*clientConnReadLoop).run", state: "IO wait", class: AtRest, kind: Conn, waits: "a connection's next bytes, for its users"},
	{call: "http2ClientConn).readLoop", state: "IO wait", class: AtRest, kind: Conn, waits: "a connection's next bytes, for its users"},
	{call: "http2.(*ClientConn).readLoop", state: "IO wait", class: AtRest, kind: Conn, waits: "a connection's next bytes, for its users"},
	{call: "http2.(*serverConn).readFrames", class: AtRest, kind: Conn, waits: "a client's next frame"},
	{call: "http2serverConn).readFrames", class: AtRest, kind: Conn, waits: "a client's next frame"},
	{call: "http2.(*serverConn).serve", state: "select", class: AtRest, kind: Conn, waits: "a client's next frame"},
	{call: "http2serverConn).serve", state: "select", class: AtRest, kind: Conn, waits: "a client's next frame"},
	{call: "internal/poll.(*pollDesc).waitWrite", under: "os.(*File).Write", class: PeerEnding, kind: Pipe, waits: "the other end of a pipe to read", finding: PipeFull},
	{call: "internal/poll.(*pollDesc).waitWrite", class: PeerEnding, kind: Conn, waits: "the peer to take what is written", finding: DeadConnection},
	{call: "internal/poll.(*FD).Write", state: "IO wait", class: PeerEnding, kind: Conn, waits: "the peer to take what is written", finding: DeadConnection},

	// gRPC.
	{call: "grpc.(*pickerWrapper).pick", class: PeerEnding, kind: Pool, waits: "a gRPC connection that is ready", finding: HTTPPool},
	{call: "transport.(*recvBufferReader).readClient", class: PeerEnding, kind: Conn, waits: "the next message of a gRPC stream", finding: StreamStall},
	{call: "transport.(*recvBufferReader).Read", class: PeerEnding, kind: Conn, waits: "the next message of a gRPC stream", finding: StreamStall},
	{call: "transport.(*Stream).waitOnHeader", class: PeerEnding, kind: Conn, waits: "the header of a gRPC stream", finding: HTTPHeaders},
	{call: "transport.(*ClientStream).waitOnHeader", class: PeerEnding, kind: Conn, waits: "the header of a gRPC stream", finding: HTTPHeaders},
	{call: "transport.(*writeQuota).get", class: PeerEnding, kind: Conn, waits: "the peer's flow-control window", finding: DeadConnection},
	{call: "transport.(*controlBuffer).get", class: AtRest, kind: Conn, waits: "frames to send on a gRPC connection"},
	{call: "transport.(*http2Client).reader", state: "IO wait", class: AtRest, kind: Conn, waits: "a gRPC connection's next frame"},
	{call: "transport.(*http2Client).keepalive", class: AtRest, kind: Timer, waits: "the keep-alive timer of a gRPC connection"},
	{call: "grpcsync.(*CallbackSerializer).run", class: AtRest, kind: Channel, waits: "callbacks to run"},

	// Child processes.
	{call: "os/exec.(*Cmd).awaitGoroutines", class: PeerEnding, kind: Pipe, waits: "the pipe of a child that has ended: somebody else holds it open", finding: ExecPipe},
	{call: "os.(*Process).wait", class: PeerEnding, kind: Child, waits: "a child process to end", finding: ExecWait},
	{call: "os.(*Process).Wait", class: PeerEnding, kind: Child, waits: "a child process to end", finding: ExecWait},
	{call: "os/exec.(*Cmd).writerDescriptor.func1", class: PeerEnding, kind: Pipe, waits: "the output of a child process"},
	{call: "os.(*File).Write", class: PeerEnding, kind: Pipe, waits: "the other end of a pipe to read"},
	{call: "os.(*File).Read", class: PeerEnding, kind: Pipe, waits: "input from a file, pipe or terminal"},

	// At rest: their work has yet to come.
	{call: "net.(*netFD).accept", class: AtRest, kind: Conn, waits: "clients to connect"},
	{call: "internal/poll.(*FD).Accept", class: AtRest, kind: Conn, waits: "clients to connect"},
	{call: "os/signal.loop", class: AtRest, waits: "signals"},
	{call: "os/signal.signal_recv", class: AtRest, waits: "signals"},
	{call: "os/signal.NotifyContext.func1", class: AtRest, waits: "signals"},
	{call: "net/http.(*connReader).backgroundRead", class: AtRest, kind: Conn, waits: "a client to go away"},
	{call: "net/http.(*conn).readRequest", class: AtRest, kind: Conn, waits: "a client's next request"},
	{call: "net/http.serverHandler.ServeHTTP", state: "IO wait", class: PeerEnding, kind: Conn, waits: "a client's next bytes"},
	{call: "net/http.(*conn).serve", class: AtRest, kind: Conn, waits: "a client's next request", noHandler: true},
	{call: "net/http.(*connReader).startBackgroundRead.gowrap2", class: AtRest, kind: Conn, waits: "a client to go away"},
	{call: "database/sql.(*DB).connectionOpener", class: AtRest, waits: "connections to open"},
	{call: "database/sql.(*DB).connectionCleaner", class: AtRest, waits: "connections to clean"},
	{call: "database/sql.(*Tx).awaitDone", class: AtRest, waits: "the end of a transaction"},
	{call: "database/sql.(*Rows).awaitDone", class: AtRest, waits: "the end of a query"},
	{call: "context.propagateCancel.func2", class: AtRest, waits: "the end of a context"},
	{call: "context.(*cancelCtx).propagateCancel.func2", class: AtRest, waits: "the end of a context"},
	{call: "os/exec.(*Cmd).watchCtx.func1", class: AtRest, waits: "the end of a context"},
	{call: "os/exec.(*Cmd).Start.func2", class: AtRest, waits: "the end of a context"},
	{call: "go.opencensus.io/stats/view.(*worker).start", class: AtRest, waits: "work"},
	{call: "glog.(*fileSink).flushDaemon", class: AtRest, waits: "a ticker"},
	{call: "klog/v2.(*flushDaemon).run.func1", class: AtRest, waits: "a ticker"},

	// Inside the program.
	{call: "io.(*pipe).write", state: "select", class: ProgramEnding, kind: Pipe, waits: "the reader of an io.Pipe", addressed: true},
	{call: "io.(*pipe).read", state: "select", class: ProgramEnding, kind: Pipe, waits: "the writer of an io.Pipe", addressed: true},
	{call: "testing.(*T).Run", class: ProgramEnding, kind: Channel, waits: "a test to end", role: joiner},
	{call: "testing.(*B).run", class: ProgramEnding, kind: Channel, waits: "a benchmark to end", role: joiner},
	{call: "testing.tRunner.func1", class: ProgramEnding, kind: Channel, waits: "parallel tests to end", role: joiner},
	{call: "testing.(*testState).waitParallel", class: ProgramEnding, kind: Semaphore, waits: "its turn among parallel tests", role: slot},
	{call: "testing.(*testContext).waitParallel", class: ProgramEnding, kind: Semaphore, waits: "its turn among parallel tests", role: slot},
	{call: "harness/sim.(*Semaphore).Acquire", class: ProgramEnding, kind: Semaphore, waits: "a slot of a semaphore", role: slot, addressed: true},
	{call: "harness/sim.(*Gate).WaitLocked", class: ProgramEnding, kind: Semaphore, waits: "a slot of a semaphore", role: slot, addressed: true},
	{call: "harness/sim.(*Mutex).Lock", class: ProgramEnding, kind: Mutex, waits: "a mutex", addressed: true},
	{call: "harness/sim.(*Process).Wait", class: ProgramEnding, kind: WaitGroup, waits: "a process to end", addressed: true},
	{call: "harness/sim.(*Cond).WaitLocked", class: ProgramEnding, kind: Cond, waits: "a condition", addressed: true},
	{call: "harness/sim.(*Latch).Wait", class: ProgramEnding, kind: Cond, waits: "a latch to open", addressed: true},
	{call: "harness/sim.(*Queue[...]).Get", class: ProgramEnding, kind: Channel, waits: "an item of a queue", addressed: true},
	{call: "harness/sim.(*Wall).Sleep", class: SelfEnding, kind: Timer, waits: "a sleep to end"},
	{call: "harness/sim.(*Wall).Run", class: ProgramEnding, kind: WaitGroup, waits: "the processes of a world to end", role: joiner},
	{call: "harness/sim.(*Wall).Run.func2", class: AtRest, waits: "the end of a context"},
	{call: "sync.(*Once).doSlow", state: "sync.Mutex.Lock", class: ProgramEnding, kind: Once, waits: "the function of a sync.Once to return", addressed: true, inmost: true},
}

// matches reports whether the rule fits frame i of g.
func (r *rule) matches(g *goroutine.Goroutine, i, place int) bool {
	if r.noHandler && i > 0 && hasHandler(g.Frames[:i]) {
		return false
	}
	if r.inmost && i > place && place >= 0 {
		return false
	}
	if r.state != "" && !strings.HasPrefix(g.State, r.state) {
		return false
	}
	if !isFunc(g.Frames[i].Func, r.call) {
		return false
	}
	if r.under == "" {
		return true
	}
	for k := i + 1; k < len(g.Frames); k++ {
		if isFunc(g.Frames[k].Func, r.under) {
			return true
		}
	}
	return false
}

// hasHandler reports whether a HTTP server's handler is among the frames.
func hasHandler(frames []goroutine.Frame) bool {
	for i := range frames {
		if frames[i].Func == "net/http.serverHandler.ServeHTTP" {
			return true
		}
	}
	return false
}

// pools are the packages that hand out slots and connections.
var pools = []string{"example.com/wedge/harness/sim.", "golang.org/x/sync/errgroup.", "database/sql.", "net/http.", "golang.org/x/net/http2.", "github.com/jackc/"}

// isPool reports whether a function belongs to one.
func isPool(name string) bool {
	for _, p := range pools {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// isFunc matches a name from its end, on whole elements; "(*" may begin one.
func isFunc(full, name string) bool {
	if !strings.HasSuffix(full, name) {
		return false
	}
	rest := full[:len(full)-len(name)]
	return rest == "" || rest[len(rest)-1] == '/' || rest[len(rest)-1] == '.' || rest[len(rest)-1] == '*'
}
