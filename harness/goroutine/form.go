package goroutine

import "time"

// A Form says how a dump was written. The zero value is that of a text without
// any.
type Form string

const (
	// FormDump is the runtime's own text: runtime.Stack, the debug=2 profile of
	// goroutines or of leaked ones, and what a crash or a failed test prints.
	FormDump Form = "dump"
	// FormProfileText is the debug=1 profile: counts by stack.
	FormProfileText Form = "profile text"
	// FormProfile is the same in pprof's format, compressed or not.
	FormProfile Form = "profile"
	// FormDelve is what the debugger's command goroutines prints.
	FormDelve Form = "delve"
	// FormGDB is a backtrace of that debugger.
	FormGDB Form = "gdb"
	// FormPanicparse is the output of panicparse, which merges like goroutines.
	FormPanicparse Form = "panicparse"
	// FormInspect is the runtime's text with equal stacks merged, as
	// goroutine-inspect prints it.
	FormInspect Form = "goroutine-inspect"
)

// Lacks lists, in plain words, what no text of the form can tell. It is nil for
// a form that can tell all that a dump can.
func (f Form) Lacks() []string {
	switch f {
	case FormProfileText:
		return []string{"no ids", "no states", "no waits", "no arguments", "no creators"}
	case FormProfile:
		return []string{"no ids and states but where labels hold them", "no waits", "no arguments", "no creators"}
	case FormDelve:
		return []string{"no arguments", "no creators", "only one frame each without -t"}
	case FormGDB:
		return []string{"no states", "no waits", "no creators", "no labels", "often only threads, not goroutines"}
	case FormPanicparse:
		return []string{"no ids", "waits only as ranges", "no labels", "base names of files only"}
	case FormInspect:
		return []string{"arguments of one goroutine of those merged"}
	}
	return nil
}

// A RunningTest is a test that had not ended when its binary ran out of time.
type RunningTest struct {
	Name string
	// Age is how long it had been running, as printed.
	Age time.Duration
}
