package embed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/repro/diagnose"
)

// programVariable has the name of the program that the test binary is to be, in a process of its own: what
// hangs in it is in no other program's dump.
const programVariable = "WEDGE_EMBED_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch name := os.Getenv(programVariable); name {
	case "":
		os.Exit(m.Run())
	case "stay":
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		runProgram(name)
	}
}

// What ends the name of a program whose main function waits for a channel that another goroutine closes when
// the agents have ended, and of one whose agents mark what they do as a tool.
const (
	awaited = ", awaited"
	inTool  = ", in a tool"
)

// runProgram is the main function of a program that hangs in its own code, which no mark tells. It writes
// the verdict on each capture but the first to its standard output, and ends with the last of them.
func runProgram(name string) {
	dog, err := embed.Start(embed.Options{
		Name: name, Watchdog: harness.Watchdog{StallAfter: 200 * time.Millisecond, Captures: []int{1, 3, 10, 50}},
		Judge: func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) },
		OnStall: func(s embed.Stall) {
			if s.Evidence.Capture > 1 {
				_ = json.NewEncoder(os.Stdout).Encode(s.Verdict)
			}
			if s.Evidence.Capture == 4 || s.Ended() {
				os.Exit(0)
			}
		},
	})
	if err != nil {
		panic(err)
	}
	var agents sync.WaitGroup
	for i, work := range programs()[strings.TrimSuffix(strings.TrimSuffix(name, inTool), awaited)] {
		agents.Go(func() {
			ctx, agent := dog.Agent(context.Background(), fmt.Sprintf("agent-%d", i+1), "task")
			returned := func() {}
			if strings.HasSuffix(name, inTool) {
				returned = agent.Tool("edit")
			}
			work(ctx)
			returned()
			agent.End(nil)
		})
	}
	if !strings.Contains(name, awaited) {
		agents.Wait()
		return
	}
	done := make(chan struct{})
	go func() { agents.Wait(); close(done) }()
	<-done
}

// article and index are what the agents of a program share; each locks itself in its methods, and calls the
// other meanwhile.
type article struct {
	sync.Mutex
	index *index
	ready *sync.WaitGroup
}

type index struct {
	sync.Mutex
	article *article
	ready   *sync.WaitGroup
}

func (a *article) save() {
	a.Lock()
	defer a.Unlock()
	meet(a.ready)
	a.index.add()
}

func (a *article) read() { a.Lock(); defer a.Unlock() }

// print works for long with the article locked.
func (a *article) print() {
	a.Lock()
	defer a.Unlock()
	meet(a.ready)
	time.Sleep(time.Hour)
}

func (x *index) add() { x.Lock(); defer x.Unlock() }

func (x *index) rebuild() {
	x.Lock()
	defer x.Unlock()
	meet(x.ready)
	x.article.read()
}

// lockBoth takes two locks, the second when two agents have come this far.
func lockBoth(one, other *sync.Mutex, ready *sync.WaitGroup) {
	one.Lock()
	defer one.Unlock()
	meet(ready)
	other.Lock()
	defer other.Unlock()
}

// pool is a semaphore, as programs write it.
type pool chan struct{}

func (p pool) acquire() { p <- struct{}{} }
func (p pool) release() { <-p }

// ask waits for an answer that never comes.
//
//go:noinline
func ask(answer chan string) { <-answer }

// meet waits until all have come here.
func meet(all *sync.WaitGroup) {
	all.Done()
	all.Wait()
}

// programs returns what the agents of each program do.
func programs() map[string][]func(context.Context) {
	type work = func(context.Context)
	var ready sync.WaitGroup
	ready.Add(2)
	a := &article{ready: &ready}
	x := &index{article: a, ready: &ready}
	a.index = x
	var first, second sync.Mutex
	both := func(one, other *sync.Mutex) work {
		return func(context.Context) {
			one.Lock()
			defer one.Unlock()
			meet(&ready)
			other.Lock()
			defer other.Unlock()
		}
	}
	// Two of the agents have each a lock, and the others queue behind them.
	edit := func(one, other *sync.Mutex) work {
		return func(context.Context) { lockBoth(one, other, &ready) }
	}
	slots, answer := make(pool, 2), make(chan string)
	call := func(context.Context) {
		slots <- struct{}{}
		defer func() { <-slots }()
		ask(answer)
	}
	fail := func(context.Context) { slots.acquire(); meet(&ready) } // and no release
	again := func(context.Context) {
		ready.Wait()
		slots.acquire()
		slots.release()
	}
	send := func(context.Context) { answer <- "nobody reads this" }
	child := func(context.Context) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), programVariable+"=stay")
		if _, err := cmd.StdinPipe(); err != nil {
			panic(err)
		}
		if err := cmd.Run(); err != nil {
			panic(err)
		}
	}
	think := func(context.Context) { time.Sleep(time.Hour) }
	return map[string][]work{
		"locks of structs":     {func(context.Context) { a.save() }, func(context.Context) { x.rebuild() }},
		"locks of functions":   {both(&first, &second), both(&second, &first)},
		"locks of many":        {edit(&first, &second), edit(&second, &first), edit(&first, &second), edit(&second, &first), edit(&first, &second)},
		"slots without answer": {call, call, call, call, call},
		"slots leaked":         {fail, fail, again, again},
		"send":                 {send, send},
		"child":                {child, child},
		"thought":              {think, think, think},
		"lock over work":       {func(context.Context) { a.print() }, func(context.Context) { meet(&ready); a.read() }},
	}
}

// TestOwnCode runs programs that hang in their own code, and such as do not, until a verdict is the right one:
// a busy machine may take long to get a program to where it hangs.
func TestOwnCode(t *testing.T) {
	for name, c := range map[string]struct {
		want string // outcome, layer, cause; one of several
		text string // in the summary
	}{
		"locks of structs":                  {"deadlocked harness lock-order", "inferred with 80 %"},
		"locks of functions":                {"deadlocked harness lock-order", "inferred with"}, // nobody is left who could end it
		"locks of many, awaited":            {"wedged harness lock-order", "inferred with"},     // main might be woken by a timer
		"locks of many, awaited, in a tool": {"wedged harness lock-order", "inferred with"},
		"locks of many, in a tool":          {"deadlocked harness lock-order", "inferred with"},
		"locks of structs, in a tool":       {"deadlocked harness lock-order", "inferred with 80 %"},
		"locks of functions, in a tool":     {"deadlocked harness lock-order", "inferred with"},
		"slots without answer":              {"wedged harness unknown", "2 wait for a receive from a channel at example.com/wedge/harness/embed_test.ask"},
		"slots leaked":                      {"wedged pacer slot-leak", "nobody is seen to have one"},
		"send":                              {"deadlocked harness unknown", "Cannot tell the mechanism; the dump shows: nobody receives what is sent"},
		"child":                             {"slow tool unknown", "a child process"},
		"thought":                           {"slow none none", "3 agents think"},
		// How sure it is depends on what the compiler keeps of receivers and arguments, here and above.
		"lock over work": {"slow none none, starved harness lock-over-call", "a lock is held by one that waits for the outside or a timer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env, cmd.Stderr = append(os.Environ(), programVariable+"="+name), os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
			var last string
			for verdicts := json.NewDecoder(out); ; {
				var v diagnose.Verdict
				if err := verdicts.Decode(&v); err != nil {
					t.Fatalf("want %s with %q; at last %s", c.want, c.text, last)
				}
				got := fmt.Sprintf("%s %s %s", v.Outcome, v.Layer, v.Cause)
				if strings.Contains(c.want, got) && strings.Contains(v.Summary, c.text) {
					return
				}
				if last = got + ": " + v.Summary; v.Outcome == diagnose.Deadlocked && !strings.Contains(c.want, "deadlocked") {
					t.Fatal(last)
				}
			}
		})
	}
}
