package waits

import (
	"path"
	"strconv"
	"strings"

	"example.com/wedge/harness/goroutine"
)

// A shape is what a stack says of the wait of all goroutines that have it.
type shape struct {
	state string
	class Class
	stage string
	kind  ObjectKind
	waits string
	// place is the innermost frame of interest, -1 for none.
	place int
	// show is the frame to name to people: of a call to the outside it is the
	// innermost of the program's own. It is place otherwise.
	show int
	// address is the frame with the object's address as its first word, -1 for
	// none; the object starts back bytes before it.
	address int
	back    uint64
	role    role
	// writer says that the wait is for the write side of a RWMutex.
	writer bool
	// entry says that the wait is in the function of the go statement itself.
	entry bool
	// finding is what many of such waits are called.
	finding FindingClass
	// companion says that the goroutine serves another one's call.
	companion bool
}

// A role is what a goroutine does in the program, where the stack tells.
type role uint8

const (
	plain    role = iota
	dumper        // takes the dump, and goes on
	observer      // takes the dump for somebody outside, and does nothing else
	dying         // panics or throws: whatever it held stays held
	slot          // waits for a slot of a pool, semaphore or limit
	joiner        // waits for others to end
)

// shapeOf reads the stack of a group by one of its goroutines.
func shapeOf(g *goroutine.Goroutine) shape {
	s := shape{state: stateOf(g), class: Unclear, place: -1, show: -1, address: -1}
	s.place = placeOf(g.Frames)
	s.entry = s.place >= 0 && isEntry(g.Frames[s.place+1:])
	s.companion = goroutine.Inherited(g)
	s.stage, _ = goroutine.StackStage(g.Frames)
	s.byState(s.state)
	s.byFrames(g)
	if s.stage == "backoff" {
		s.class, s.kind, s.waits = SelfEnding, Timer, "the pause before the next attempt to end"
	}
	if s.show < s.place {
		s.show = s.place
	}
	if (s.class == PeerEnding || s.class == SelfEnding) && !s.companion {
		s.showCaller(g.Frames)
	}
	if s.companion {
		s.stage = ""
	}
	if g.State == "select (no cases)" && len(g.Frames) > 0 && g.CreatedBy.Func == "" && hasMain(g.Frames) {
		s.class, s.waits = AtRest, "the end of the program: select without cases in main"
	}
	return s
}

func hasMain(frames []goroutine.Frame) bool {
	for i := range frames {
		if frames[i].Func == "main.main" {
			return true
		}
	}
	return false
}

// byFrames lets the innermost frame that a rule knows decide.
func (s *shape) byFrames(g *goroutine.Goroutine) {
	s.findObject(g)
	if strings.HasPrefix(s.state, "semacquire") && s.address >= 0 {
		s.waits = "a " + s.kind.words()
	}
	if isRuntime(g) {
		s.class, s.waits = Runtime, "work of the runtime"
		return
	}
	if isWatch(g) {
		s.class, s.waits = Runtime, "nothing of the program: it watches"
		return
	}
	for i := range g.Frames {
		for k := range rules {
			if r := &rules[k]; s.allows(r) && r.matches(g, i, s.place) {
				s.apply(r, g.Frames, i)
				return
			}
		}
	}
	s.byName(g.Frames)
}

func (s *shape) apply(r *rule, frames []goroutine.Frame, frame int) {
	s.class, s.waits, s.role, s.finding = r.class, r.waits, r.role, r.finding
	s.showBeyond(frames, frame)
	if r.role == slot && r.class == ProgramEnding && s.stage == "" {
		s.stage = "slot"
	}
	if r.role == slot {
		s.slotPlace(frames, frame)
	}
	if r.kind != "" && (s.kind != r.kind || s.address < 0) {
		s.kind, s.address, s.back = r.kind, -1, 0
		if r.addressed {
			s.address = frame
		}
	}
}

// allows reports whether the rule can be about such a state: a function that
// waits for the network may, at the moment, run, or want a lock.
func (s *shape) allows(r *rule) bool {
	switch {
	case s.class == Running:
		return r.class == Running || r.class == AtRest
	case s.class == ProgramEnding && isLock(s.kind):
		return strings.HasPrefix(r.state, "sync.") || r.kind == WaitGroup && s.state == "semacquire"
	}
	return true
}

// showBeyond names the caller of a library that waits in functions of its own
// further in than the one that the rule knows.
func (s *shape) showBeyond(frames []goroutine.Frame, frame int) {
	if strings.HasPrefix(frames[frame].Func, "testing.") || s.place < 0 || s.place > frame || packageOf(frames[s.place].Func) != packageOf(frames[frame].Func) {
		return
	}
	for i := frame + 1; i < len(frames); i++ {
		if !isPlumbing(frames[i].Func) && packageOf(frames[i].Func) != packageOf(frames[frame].Func) {
			s.show = i
			return
		}
	}
}

// packageOf is the path and name of a function's package.
func packageOf(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		return name[:slash+dot]
	}
	return name
}

// slotPlace moves the place of a wait for a slot to the caller of the pool.
func (s *shape) slotPlace(frames []goroutine.Frame, frame int) {
	for i := frame + 1; i < len(frames); i++ {
		if !isPlumbing(frames[i].Func) && !isPool(frames[i].Func) {
			s.place = i
			return
		}
	}
}

// findObject looks for the frame that shows the address of what is waited for.
// The distances are those of sync's and runtime's structures, the same from Go
// 1.4 to 1.27: a Mutex has its semaphore 4 bytes in, a RWMutex has the writers' at
// 8 and the readers' at 12, a WaitGroup at 8.
func (s *shape) findObject(g *goroutine.Goroutine) {
	inner := false
	for i := range g.Frames {
		name := g.Frames[i].Func
		switch {
		case strings.HasSuffix(name, "sync.(*Mutex).lockSlow"), name == "sync.(*Mutex).Lock" && !inner:
			s.object(Mutex, i, 0)
			inner = true
		case name == "sync.(*WaitGroup).Wait":
			s.object(WaitGroup, i, 0)
		case name == "sync.(*Cond).Wait":
			if _, ok := firstWord(g.Frames[i].Args); ok || s.address < 0 {
				s.object(Cond, i, 0)
			}
		case name == "sync.runtime_notifyListWait":
			s.object(Cond, i, 16)
		case name == "runtime.semacquire1" && s.address < 0:
			s.address = i
		case name == "runtime.chanrecv", name == "runtime.chansend":
			s.object(Channel, i, 0)
		case name == "sync.(*RWMutex).RLock":
			s.rwmutex(g, i, 12)
		case name == "sync.(*RWMutex).Lock":
			s.writer = true
			if !inner { // waits for readers; else for another writer, in the Mutex that a RWMutex starts with
				s.rwmutex(g, i, 8)
			}
			s.kind = RWMutex
		}
	}
}

func (s *shape) object(kind ObjectKind, frame int, back uint64) {
	s.kind = kind
	s.address, s.back = frame, back
}

// rwmutex takes the method's receiver if it is printed, else the semaphore's address.
func (s *shape) rwmutex(g *goroutine.Goroutine, frame int, back uint64) {
	s.kind = RWMutex
	if _, ok := firstWord(g.Frames[frame].Args); ok {
		s.address, s.back = frame, 0
	} else if s.address >= 0 {
		s.back = back
	}
}

// isRuntime reports whether it is a goroutine of the runtime itself.
func isRuntime(g *goroutine.Goroutine) bool {
	if len(g.Frames) == 0 || !strings.HasPrefix(g.CreatedBy.Func, "runtime.") {
		return false
	}
	for i := range g.Frames {
		if !strings.HasPrefix(g.Frames[i].Func, "runtime.") {
			return false
		}
	}
	return true
}

// placeOf finds the innermost frame that is neither the runtime's nor of a
// package that only does the waiting for its caller.
func placeOf(frames []goroutine.Frame) int {
	for i := range frames {
		if !isPlumbing(frames[i].Func) {
			return i
		}
	}
	return -1
}

// showCaller finds the innermost frame that is not of a library for calls.
func (s *shape) showCaller(frames []goroutine.Frame) {
	for i := max(s.place, 0); i < len(frames); i++ {
		if name := frames[i].Func; !isPlumbing(name) && !isLibrary(name) {
			s.show = i
			return
		}
	}
}

// libraries are the packages through which programs call the outside.
var libraries = []string{
	"net.", "net/", "bufio.", "io.", "os.", "os/", "crypto/", "compress/", "encoding/", "database/sql.", "mime/", "log.", "fmt.",
	"golang.org/x/", "google.golang.org/grpc", "github.com/sashabaranov/go-openai.", "github.com/openai/openai-go",
	"github.com/anthropics/anthropic-sdk-go", "github.com/jackc/", "github.com/go-resty/", "github.com/hashicorp/go-retryablehttp.",
}

func isLibrary(name string) bool {
	for _, l := range libraries {
		if strings.HasPrefix(name, l) {
			return true
		}
	}
	return false
}

// plumbing are the packages whose functions wait on behalf of their callers.
var plumbing = []string{"runtime.", "sync.", "internal/", "runtime/", "time.", "syscall.", "io.(", "panic", "golang.org/x/sync/semaphore.", "golang.org/x/time/rate."}

func isPlumbing(name string) bool {
	for _, p := range plumbing {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// isEntry reports whether only what starts every goroutine is further out.
func isEntry(outer []goroutine.Frame) bool {
	for i := range outer {
		if name := outer[i].Func; !isPlumbing(name) && !strings.Contains(name, ".gowrap") {
			return false
		}
	}
	return true
}

// placeText is a frame for people: "main.(*Pool).Get pool.go:31".
func placeText(f *goroutine.Frame) string {
	if f.File == "" {
		return f.Func
	}
	return f.Func + " " + path.Base(strings.ReplaceAll(f.File, `\`, "/")) + ":" + strconv.Itoa(f.Line)
}

// firstWord returns the first argument word if it is exact: a receiver, or a
// pointer. Stale words ("?"), aggregates and small numbers are none.
func firstWord(args string) (uint64, bool) {
	const prefix = "0x"
	if !strings.HasPrefix(args, prefix) {
		return 0, false
	}
	end := len(prefix)
	for end < len(args) && args[end] != ',' {
		end++
	}
	w, err := strconv.ParseUint(args[len(prefix):end], 16, 64)
	if err != nil || w < addressMin {
		return 0, false
	}
	return w, true
}

// addressMin is below every address of a Go program, and above most numbers.
const addressMin = 0x10000
