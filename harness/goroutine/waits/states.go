package waits

import "strings"

// byState is what the header alone says.
func (s *shape) byState(state string) {
	for _, w := range states {
		if strings.HasPrefix(state, w.state) {
			s.class, s.kind, s.waits = w.class, w.kind, w.waits
			return
		}
	}
	s.waits = state
}

// states are the beginnings of the states that a header prints; the first that fits counts.
var states = []struct {
	state string
	class Class
	kind  ObjectKind
	waits string
}{
	{"sync.Mutex.Lock", ProgramEnding, Mutex, "a mutex"},
	{"sync.RWMutex.RLock", ProgramEnding, RWMutex, "a RWMutex, to read"},
	{"sync.RWMutex.Lock", ProgramEnding, RWMutex, "a RWMutex, to write"},
	{"sync.WaitGroup.Wait", ProgramEnding, WaitGroup, "a WaitGroup"},
	{"sync.Cond.Wait", ProgramEnding, Cond, "a Cond"},
	{"semacquire", ProgramEnding, Mutex, "a lock or WaitGroup"},
	{"chan receive", ProgramEnding, Channel, "a receive from a channel"},
	{"chan send", ProgramEnding, Channel, "a send to a channel"},
	{"select (no cases)", ProgramEnding, Select, "nothing: select without cases"},
	{"select", ProgramEnding, Select, "the first of several channels"},
	{"sleep", SelfEnding, Timer, "a sleep to end"},
	{"IO wait", PeerEnding, Conn, "the network"},
	{"coroutine", ProgramEnding, "", "its coroutine's other side"},
	{"synctest.Run", ProgramEnding, "", "the goroutines of its bubble"},
	{"synctest.Wait", ProgramEnding, "", "the goroutines of its bubble"},
	{"syscall", PeerEnding, "", "the operating system"},
	{"waiting for cgo callback", PeerEnding, "", "C code"},
	{"running", Running, "", "nothing: it runs"},
	{"runnable", Running, "", "a processor"},
	{"copystack", Running, "", "nothing: it runs"},
	{"preempted", Running, "", "a processor"},
	{"finalizer wait", Runtime, "", "work of the runtime"},
	{"cleanup wait", Runtime, "", "work of the runtime"},
	{"force gc (idle)", Runtime, "", "work of the runtime"},
	{"GOMAXPROCS updater", Runtime, "", "work of the runtime"},
	{"GC assist", Running, "", "the garbage collector, which makes it help"},
	{"GC weak to strong wait", Running, "", "the garbage collector"},
	{"GC ", Runtime, "", "work of the runtime"},
	{"timer goroutine", Runtime, "", "work of the runtime"},
	{"trace reader", Runtime, "", "work of the runtime"},
	{"wait for GC cycle", Running, "", "the garbage collector"},
	{"garbage collection", Running, "", "the garbage collector"},
	{"panicwait", Running, "", "a panic elsewhere"},
	{"stopping the world", Running, "", "the others to stop"},
}

// words is the kind in a sentence.
func (k ObjectKind) words() string {
	switch k {
	case RWMutex:
		return "RWMutex"
	case WaitGroup:
		return "WaitGroup"
	case Cond:
		return "Cond"
	}
	return string(k)
}
