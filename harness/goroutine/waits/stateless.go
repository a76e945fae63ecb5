package waits

import "example.com/wedge/harness/goroutine"

// stateOf is the state of the header. Profiles have none; there the function of the
// runtime in which the stack ends tells most waits apart.
func stateOf(g *goroutine.Goroutine) string {
	if g.State != "" || len(g.Frames) == 0 {
		return g.State
	}
	for i := range g.Frames {
		name := g.Frames[i].Func
		for _, w := range byRuntime {
			if name == w.call {
				return w.state
			}
		}
		if !isPlumbing(name) {
			break
		}
	}
	return ""
}

// byRuntime are the functions in which goroutines wait. The innermost counts;
// gopark and other steps below them have no row.
var byRuntime = []struct{ call, state string }{
	{"runtime.chanrecv1", "chan receive"}, {"runtime.chanrecv2", "chan receive"}, {"runtime.chanrecv", "chan receive"},
	{"runtime.chansend1", "chan send"}, {"runtime.chansend", "chan send"},
	{"runtime.selectgo", "select"}, {"runtime.block", "select (no cases)"},
	{"time.Sleep", "sleep"}, {"runtime.netpollblock", "IO wait"}, {"internal/poll.runtime_pollWait", "IO wait"},
	{"sync.runtime_notifyListWait", "sync.Cond.Wait"},
	{"sync.runtime_SemacquireWaitGroup", "sync.WaitGroup.Wait"},
	{"sync.runtime_SemacquireRWMutexR", "sync.RWMutex.RLock"}, {"sync.runtime_SemacquireRWMutex", "sync.RWMutex.Lock"},
	{"internal/sync.runtime_SemacquireMutex", "sync.Mutex.Lock"}, {"sync.runtime_SemacquireMutex", "sync.Mutex.Lock"},
	{"sync.runtime_Semacquire", "semacquire"},
	{"syscall.Syscall", "syscall"}, {"syscall.Syscall6", "syscall"}, {"runtime.notetsleepg", "syscall"},
}
