package goroutine

import (
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness/goroutine/container"
)

// A Dump is one snapshot of one process, as far as a text holds it.
type Dump struct {
	// Form is how it was written.
	Form Form
	// Source names the stream that it came in, such as one of two pods in a log;
	// empty where the text does not say.
	Source string
	// Layers are what was undone to read the whole text, not this dump alone.
	Layers []container.Layer
	// Messages are why the process printed it, in order: lines such as "fatal
	// error: all goroutines are asleep - deadlock!" and "SIGQUIT: quit", the
	// first 16 of them.
	Messages []string
	// Tests are those that a test binary says were running when it timed out.
	Tests []RunningTest
	// Goroutines are in the order of the text. A goroutine that a crash printed
	// first without and then with its stack is here once.
	Goroutines []Goroutine
	// Others are the blocks that are not goroutines: the stacks of threads, and
	// frames without a usable header. See Kind.
	Others []Goroutine
	Stats
}

// N is the number of goroutines: each of d.Goroutines may stand for several.
func (d *Dump) N() int {
	n := 0
	for i := range d.Goroutines {
		n += d.Goroutines[i].N()
	}
	return n
}

// A Kind says what a block of a dump describes.
type Kind uint8

const (
	// KindGoroutine is an ordinary goroutine. It is the zero value.
	KindGoroutine Kind = iota
	// KindThread is the scheduler stack of an operating system thread, printed
	// as "goroutine 0" or "runtime stack:". Only crashes print it.
	KindThread
	// KindHeadless is a run of frames whose header is missing, as where a text
	// was cut off at its head, or damaged: then it has what could be read of it.
	KindHeadless
)

// A Goroutine is one block of a dump.
type Goroutine struct {
	Kind Kind
	// Snapshot is the index of its dump among those of the text, and Source of
	// its stream. Both are 0 for a text that holds one dump.
	Snapshot, Source int
	// Again says that the same dump has had this goroutine before: a crash lists
	// those that were running elsewhere without their stacks, then has each
	// thread print its own. Only a Reader shows it; Parse puts the two together.
	Again bool
	// Count is how many goroutines the block stands for, where the text says:
	// profiles and merged dumps. N has it for all.
	Count int
	// Merged are the IDs of the others that the block stands for, where printed.
	Merged []int64
	// ID is the number in the header; 0 for a thread and where it is not known.
	ID int64
	// State is the status or wait reason, such as "chan receive" or "select (no
	// cases)", without the marks that have a field of their own below.
	State string
	// Wait is how long the header says it has been blocked: whole minutes, 0
	// below one. A hint only; see the package comment.
	Wait time.Duration
	// Leaked, Scan and Durable are the marks (leaked), (scan) and (durable):
	// unreachable for good, being scanned by the collector, and blocked on
	// nothing outside its synctest bubble.
	Leaked, Scan, Durable bool
	LockedToThread        bool
	// Bubble is the number of the synctest bubble, 0 for none.
	Bubble int64
	// Labels are the pprof labels in the order printed.
	Labels []Label
	// Extra holds parts of the header that this reader does not know, so that a
	// later Go's addition is neither lost nor taken for the state.
	Extra string
	// G is the address of the runtime's own record, 0 where not printed.
	G uint64
	// Thread is the number of the thread that runs it, -1 where there is none
	// or it is not printed.
	Thread int64
	// NoStack says that the text had no stack, since the goroutine was running
	// on another thread.
	NoStack bool
	// Frames are the calls, the innermost first.
	Frames []Frame
	// Gap is where the runtime left out frames; the zero value is nowhere.
	Gap Gap
	// CreatedBy is the go statement's place, with no Args. Func is empty where
	// it was not printed, as for the main goroutine.
	CreatedBy Frame
	// ParentID is the creator's ID, 0 where not printed (before Go 1.21, and
	// for goroutines that a timer started).
	ParentID int64
	// Ancestors are printed under GODEBUG=tracebackancestors, the parent first.
	Ancestors []Ancestor
}

// A Label is one pprof label.
type Label struct{ Key, Value string }

// A Frame is one call.
type Frame struct {
	// Func is the whole name as printed: type arguments read "[...]" and dots in
	// the last element of an import path read "%2e".
	Func string
	// Args is the text between the parentheses: hexadecimal words, "?" after a
	// stale one, "..." alone for an inlined call.
	Args string
	// File and Line are the place as printed; empty and 0 for a frame outside Go
	// without a known place.
	File string
	Line int
}

// A Gap is a run of frames that the runtime left out of a deep stack.
type Gap struct {
	// Before is the index in Frames of the first frame after the gap, or
	// len(Frames) if the stack ends there.
	Before int
	// Count is the number of frames left out, -1 if the text does not say.
	Count int
}

// An Ancestor is the stack that a goroutine's creator had at the go statement.
type Ancestor struct {
	ID        int64
	Frames    []Frame
	CreatedBy Frame
}

// N is the number of goroutines that g stands for: Count, and 1 for a block of
// an ordinary dump.
func (g *Goroutine) N() int { return max(g.Count, 1) }

// Label returns the value of the label, or "" if g does not have it.
func (g *Goroutine) Label(key string) string {
	for _, l := range g.Labels {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// HasFunc reports whether a frame of g is a call of the function. The name is
// matched from its end, on whole elements: "example.com/app/pacer.(*Pacer).Chat"
// is found by itself, by "pacer.(*Pacer).Chat", by "(*Pacer).Chat" and by "Chat",
// not by "r.(*Pacer).Chat". A closure such as Chat.func1 is another function.
// Type arguments at the end may be left out: "F" finds "F[...]".
func (g *Goroutine) HasFunc(name string) bool {
	return hasFunc(g.Frames, name)
}

func hasFunc(frames []Frame, name string) bool {
	return slices.ContainsFunc(frames, func(f Frame) bool { return isFunc(f.Func, name) })
}

// isFunc is the rule of HasFunc.
func isFunc(full, name string) bool {
	if name == "" {
		return false
	}
	if !strings.HasSuffix(full, name) {
		full = strings.TrimSuffix(full, "[...]")
		if !strings.HasSuffix(full, name) {
			return false
		}
	}
	rest := full[:len(full)-len(name)]
	return rest == "" || rest[len(rest)-1] == '/' || rest[len(rest)-1] == '.'
}
