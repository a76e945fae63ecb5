package bench

import (
	"io"
	"strconv"
)

// A text is a dump of any size, made as it is read: goroutines of a server in
// eight shapes, each with its own ID, addresses and, for some, labels.
type text struct {
	sizeMax    int64 // bytes; the goroutine that reaches it is the last
	plain      bool  // no labels, which not all readers know
	size       int64
	goroutines int
	block      []byte
	rest       []byte
}

// Read implements io.Reader.
func (t *text) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(t.rest) == 0 {
			if t.size >= t.sizeMax {
				if n == 0 {
					return 0, io.EOF
				}
				return n, nil
			}
			t.next()
		}
		m := copy(p[n:], t.rest)
		t.rest = t.rest[m:]
		n += m
	}
	return n, nil
}

// next makes one goroutine.
func (t *text) next() {
	i := t.goroutines
	t.goroutines++
	shape := &shapes[i%len(shapes)]
	b := append(t.block[:0], "goroutine "...)
	b = strconv.AppendInt(b, int64(i)*3+1, 10)
	b = append(b, " ["...)
	b = append(b, shape.state...)
	if i%5 == 0 {
		b = append(b, ", "...)
		b = strconv.AppendInt(b, int64(i%90)+1, 10)
		b = append(b, " minutes"...)
	}
	if shape.labels && !t.plain {
		b = append(b, ` labels:{"agent": "`...)
		b = strconv.AppendInt(b, int64(i%1000), 10)
		b = append(b, `", "call": "`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `"}`...)
	}
	b = append(b, "]:\n"...)
	for _, f := range shape.frames {
		b = append(b, f.name...)
		if f.inlined {
			b = append(b, "(...)\n\t"...)
			b = append(b, f.place...)
			b = append(b, '\n')
			continue
		}
		b = append(b, "(0xc000"...)
		b = strconv.AppendInt(b, int64(i)*64, 16)
		b = append(b, ", {0x7f8a40?, 0xc000"...)
		b = strconv.AppendInt(b, int64(i)*16, 16)
		b = append(b, "})\n\t"...)
		b = append(b, f.place...)
		b = append(b, " +0x9cf\n"...)
	}
	b = append(b, "created by "...)
	b = append(b, shape.creator...)
	b = append(b, " in goroutine 1\n\t/app/internal/server/server.go:3360 +0x485\n\n"...)
	t.size += int64(len(b))
	t.block, t.rest = b, b
}

type shape struct {
	state, creator string
	labels         bool
	frames         []frame
}

type frame struct {
	name, place string
	inlined     bool
}

var (
	poll = []frame{
		{"internal/poll.runtime_pollWait", "/usr/local/go/src/runtime/netpoll.go:351", false},
		{"internal/poll.(*pollDesc).wait", "/usr/local/go/src/internal/poll/fd_poll_runtime.go:84", false},
		{"internal/poll.(*pollDesc).waitRead", "/usr/local/go/src/internal/poll/fd_poll_runtime.go:89", true},
		{"internal/poll.(*FD).Read", "/usr/local/go/src/internal/poll/fd_unix.go:165", false},
		{"net.(*netFD).Read", "/usr/local/go/src/net/fd_posix.go:68", false},
		{"net.(*conn).Read", "/usr/local/go/src/net/net.go:196", false},
	}
	lock = []frame{
		{"internal/sync.runtime_SemacquireMutex", "/usr/local/go/src/runtime/sema.go:95", false},
		{"internal/sync.(*Mutex).lockSlow", "/usr/local/go/src/internal/sync/mutex.go:149", false},
		{"internal/sync.(*Mutex).Lock", "/usr/local/go/src/internal/sync/mutex.go:70", true},
		{"sync.(*Mutex).Lock", "/usr/local/go/src/sync/mutex.go:46", true},
	}
	call = []frame{
		{"example.com/app/internal/agent.(*Runner[...]).step", "/app/internal/agent/runner.go:211", false},
		{"example.com/app/internal/agent.(*Runner[...]).run.func1", "/app/internal/agent/runner.go:98", false},
	}
	serve  = []frame{{"net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go:2092", false}}
	shapes = []shape{
		{"IO wait", "net/http.(*Server).Serve", false, append(poll[:len(poll):len(poll)], serve...)},
		{"IO wait", "net/http.(*Transport).dialConn", false, append(poll[:len(poll):len(poll)], frame{"net/http.(*persistConn).readLoop", "/usr/local/go/src/net/http/transport.go:2217", false})},
		{"select", "net/http.(*Transport).dialConn", false, []frame{{"net/http.(*persistConn).writeLoop", "/usr/local/go/src/net/http/transport.go:2652", false}}},
		{"select", "example.com/app/internal/agent.(*Pool).Start", true, append([]frame{{"net/http.(*persistConn).roundTrip", "/usr/local/go/src/net/http/transport.go:2774", false}}, call...)},
		{"sync.Mutex.Lock", "example.com/app/internal/agent.(*Pool).Start", true, append(lock[:len(lock):len(lock)], call...)},
		{"chan receive", "example.com/app/internal/agent.(*Pool).Start", true, call},
		{"sleep", "example.com/app/internal/agent.(*Pool).Start", true, append([]frame{{"time.Sleep", "/usr/local/go/src/runtime/time.go:363", false}}, call...)},
		{"chan send", "example.com/app/internal/queue.(*Queue).Put.gowrap1", false, []frame{{"example.com/app/internal/queue.(*Queue).Put", "/app/internal/queue/queue.go:77", false}}},
	}
)
