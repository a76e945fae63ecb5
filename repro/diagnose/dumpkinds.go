package diagnose

// Classes of findings of goroutine dumps, as package harness/goroutine/waits names them.
const (
	classABBA          = "ab-ba"
	classDoubleLock    = "double-lock"
	classRWRecursive   = "rw-recursive"
	classLockOverCall  = "lock-over-call"
	classSlotExhausted = "slot-exhausted"
	classSlotNested    = "slot-nested"
	classSlotLeaked    = "slot-leaked"
	classSlotLockCycle = "slot-lock-cycle"
	classHTTPPool      = "http-pool"
	classSQLPool       = "sql-pool"
	classStreamStall   = "stream-stall"
	classPipeFull      = "pipe-full"
	classExecPipe      = "exec-pipe"
	classExecWait      = "exec-wait"
)

// dumpKind is what findings of some classes mean here.
type dumpKind struct {
	classes []string
	cause   Cause
	waits   string   // what the agents wait for
	because string   // the stall explained, without a full stop
	next    []string // what to try
}

// dumpKinds lists the classes that a cause stands for. The others are told as they are.
func dumpKinds() []dumpKind {
	return []dumpKind{
		{
			[]string{classABBA, classDoubleLock, classRWRecursive}, CauseLockOrder, "a lock of the program's own",
			"Locks of the program's own are waited for by those who hold them, or hold each other's",
			[]string{"take the locks in one order everywhere, or hold one at a time; and none that a caller holds already"},
		},
		{
			[]string{classLockOverCall}, CauseLockOverCall, "a lock of the program's own",
			"A lock of the program's own is held, it seems, by somebody who waits for the outside or a timer; the others go on when that has ended",
			[]string{"give the lock back before the call and take it again afterwards: it must guard the state, not the work"},
		},
		{
			[]string{classSlotLeaked}, CauseSlotLeak, "a slot of the program's own",
			"Slots of the program's own have run out, and nobody is seen to have one: they were not given back",
			[]string{"look at each way out of a call (error status, time limit, cancel): the slot must be given back on all of them, so in a deferred call"},
		},
		{
			[]string{classSlotNested, classSlotLockCycle}, CauseNestedSlot, "a slot of the program's own",
			"Those who have a slot of the program's own wait for another one, or for somebody who does",
			[]string{"hold a slot for a call only, never while waiting for somebody who needs one; or give sub-agents slots of their own"},
		},
		{
			[]string{classSlotExhausted}, CauseStarvation, "a slot of the program's own",
			"All slots of the program's own are taken; slots come back if those who have one come on",
			[]string{"look at what those who have a slot wait for: the others wait for them", "if servers take more at once, have more slots"},
		},
		{
			[]string{classExecWait}, CauseToolHang, "a child process",
			"A child process has not ended, and its agent waits for it",
			[]string{"look at the child (ps, its own children, its pipes), and put a time limit on it (exec.CommandContext)"},
		},
		{
			[]string{classPipeFull, classExecPipe}, CausePipeFull, "a pipe to another process",
			"A pipe to a child process does not come to its end: it is full and not read, or somebody else holds it open after the child has gone",
			[]string{"read each pipe of a child until its end, both at the same time; set exec.Cmd.WaitDelay, so that a pipe that is held open does not keep Wait"},
		},
		{
			[]string{classHTTPPool, classSQLPool}, CauseConnectionPool, "a connection of a pool",
			"The pool has no connection for those who wait for one",
			[]string{"compare the pool's limit (http.Transport.MaxConnsPerHost, sql.DB.SetMaxOpenConns) with how many use it at once, and see that rows and bodies are closed"},
		},
		{
			[]string{classStreamStall}, CauseSilentStream, "the next bytes of an answer",
			"Answers bring no more bytes, and are waited for",
			[]string{"limit the time between two tokens"},
		},
	}
}
