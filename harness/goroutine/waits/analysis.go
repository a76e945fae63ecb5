package waits

import (
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/waitgraph"
)

// An Analysis is what one dump tells. It is plain data: safe for concurrent
// reading. All lists are in a stable order.
type Analysis struct {
	// Goroutines is their number, without the threads of a crash.
	Goroutines int
	// Groups are the goroutines with the same state and stack, the largest first,
	// as goroutine.Group orders them.
	Groups []Group
	// Objects are the locks, channels, pools and connections that are waited for,
	// those with the most waiters first.
	Objects []Object
	// Findings are the shapes of trouble that the dump shows, the root first: a
	// finding that another one explains comes after it.
	Findings []Finding
	// Stuck are the goroutines, in the order of the dump, whose wait nobody in
	// the dump is seen to be able to end.
	Stuck []int64
	// Stages counts the goroutines in each stage of a call.
	Stages  []StageCount
	Verdict Verdict

	partial bool // as Builder.Partial

	facts  []fact
	marks  []flags
	order  []int32 // group numbers of the facts, in the order of Groups
	shapes []shape // by group number, as keys
	keys   []key
	graph  func() waitgraph.Graph
}

// A Class says who can end a wait.
type Class string

// The classes.
const (
	SelfEnding    Class = "self-ending"    // a timer: sleep, back-off, rate limiter
	PeerEnding    Class = "peer-ending"    // something outside the program: a peer, a child process
	ProgramEnding Class = "program-ending" // another goroutine: lock, channel, WaitGroup, Cond
	Running       Class = "running"        // it runs or could run
	Runtime       Class = "runtime"        // a goroutine of the Go runtime
	AtRest        Class = "at rest"        // it waits for work, as its job is
	Unclear       Class = "unclear"        // the text does not say
)

// A Group is the goroutines with the same state and stack, and what they wait for.
type Group struct {
	goroutine.StackGroup
	// Class says who can end the wait.
	Class Class
	// Stage is the stage of a call in wedge's words (think, tool, slot, rate,
	// backoff, connect, headers, first_token, stream), empty for one in none.
	Stage string
	// Waits says in words what the goroutines wait for, such as "a mutex".
	Waits string
	// Place is the innermost call outside the Go runtime and the libraries that
	// do the waiting: "main.(*Pool).Get pool.go:31".
	Place string
	// Stuck is how many of the goroutines are in Analysis.Stuck.
	Stuck int
}

// An ObjectKind says what is waited for.
type ObjectKind string

// The kinds of objects.
const (
	Mutex     ObjectKind = "mutex"
	RWMutex   ObjectKind = "rwmutex"
	WaitGroup ObjectKind = "waitgroup"
	Cond      ObjectKind = "cond"
	Channel   ObjectKind = "channel"
	Select    ObjectKind = "select" // channels that the dump does not name
	Semaphore ObjectKind = "semaphore"
	Pool      ObjectKind = "pool" // of connections
	Once      ObjectKind = "once"
	Pipe      ObjectKind = "pipe"
	Conn      ObjectKind = "conn" // a network connection
	Child     ObjectKind = "child process"
	Timer     ObjectKind = "timer"
)

// An Object is something that goroutines wait for.
type Object struct {
	Kind ObjectKind
	// Address is where it lies in memory, 0 if the text does not say; then all
	// that wait at one place for one kind are taken together.
	Address uint64
	// Name is for people: "mutex 0xc000012080", "channel at main.work x.go:7".
	Name string
	// Waiters are the goroutines that wait for it, in the order of the dump.
	Waiters []int64
	// Holders are those who may hold it, or are to signal it, the likeliest first.
	Holders []Holder
}

// A Holder is a goroutine that may hold an object. No dump says so: it is inferred.
type Holder struct {
	Goroutine int64
	// Confidence is above 0 and below 1.
	Confidence float64
	// Why says what it was inferred from.
	Why string
}

// A FindingClass names a shape of trouble.
type FindingClass string

// The classes of findings.
const (
	DoubleLock       FindingClass = "double-lock"         // a lock taken again by its holder, or never given back
	ABBA             FindingClass = "ab-ba"               // locks taken in different orders
	RWRecursive      FindingClass = "rw-recursive"        // a read lock taken twice with a writer between
	LockOverChannel  FindingClass = "lock-over-channel"   // a lock held over a channel operation
	LockOverWait     FindingClass = "lock-over-waitgroup" // a lock held over WaitGroup.Wait
	LockOverCond     FindingClass = "lock-over-cond"      // a lock held over Cond.Wait
	LockOverCall     FindingClass = "lock-over-call"      // a lock held over a network or child process wait
	LockWait         FindingClass = "lock-wait"           // a lock that is waited for, in a program that goes on; who holds it is not shown
	SendNoReceiver   FindingClass = "send-no-receiver"
	RecvNoSender     FindingClass = "receive-no-sender"
	ChannelCycle     FindingClass = "channel-cycle"          // goroutines that wait for each other's channels
	WaitGroupChannel FindingClass = "waitgroup-over-channel" // a WaitGroup waits for those who wait for a message
	SelectForever    FindingClass = "select-forever"
	NilChannel       FindingClass = "nil-channel"
	WaitGroupStuck   FindingClass = "waitgroup" // nobody is left to call Done
	CondStuck        FindingClass = "cond"      // nobody is left to signal
	OnceStuck        FindingClass = "once"      // the function in sync.Once does not return
	PipeStuck        FindingClass = "pipe-no-peer"
	SlotExhausted    FindingClass = "slot-exhausted"
	SlotNested       FindingClass = "slot-nested" // holders wait for another of the same slots
	SlotLeaked       FindingClass = "slot-leaked" // waiters, and no holder in the dump
	SlotLockCycle    FindingClass = "slot-lock-cycle"
	HTTPPool         FindingClass = "http-pool"
	HTTPHeaders      FindingClass = "http-headers"
	StreamStall      FindingClass = "stream-stall"
	DeadConnection   FindingClass = "dead-connection" // a write that the peer does not take
	PipeFull         FindingClass = "pipe-full"       // a write to a pipe that nobody reads
	RateLimit        FindingClass = "rate-limit"
	ExecWait         FindingClass = "exec-wait"
	ExecPipe         FindingClass = "exec-pipe" // the child is gone, its pipe is held open
	SQLPool          FindingClass = "sql-pool"
	Leak             FindingClass = "leak" // the runtime proved it unreachable
)

// A Finding is one shape of trouble.
type Finding struct {
	Class FindingClass
	// Members are the goroutines in it, in the order of the dump.
	Members []int64
	// Objects are indexes into Analysis.Objects.
	Objects []int
	// Confidence is above 0, and 1 for what the text proves.
	Confidence float64
	// Text is one sentence with counts, units and places.
	Text string
	// Because says what was inferred and from what; empty if nothing was.
	Because string
	// Symptom says that another finding explains this one.
	Symptom bool
}

// A StageCount is how many goroutines are in a stage.
type StageCount struct {
	Stage string
	Count int
}

// An Outcome is the word for the state of the whole program.
type Outcome string

// The outcomes. Only two dumps can tell slow from wedged; see Compare.
const (
	Deadlocked Outcome = "deadlocked"
	Wedged     Outcome = "wedged"
	Starved    Outcome = "starved"
	Slow       Outcome = "slow"
	Idle       Outcome = "idle"
	Unknown    Outcome = "unknown"
)

// A Verdict is the answer for the whole program.
type Verdict struct {
	Outcome Outcome
	// Reason is one sentence with counts and places.
	Reason string
	// Decided names the step of the diagnosis that decided: "movement", "slots",
	// "holders", "locks", or "nothing".
	Decided string
	// Missing says what the text cannot tell and what would.
	Missing []string
	// Next says what to do next, in words with commands.
	Next []string
}
