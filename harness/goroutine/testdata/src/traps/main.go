// Command traps prints what readers of dumps stumble over: see the test that
// makes the dumps of ../../traps, and its table.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

const settle = 100 * time.Millisecond // let goroutines block

func main() {
	os.Setenv("GODEBUG", "tracebacklabels=1")
	switch mode := strings.Join(os.Args[1:], " "); mode {
	case "names":
		parkNames()
		time.Sleep(settle)
		os.Stdout.Write(stacks())
	case "names quit":
		parkNames()
		time.Sleep(settle)
		quit()
	case "labels":
		parkLabels()
		os.Stdout.Write(stacks())
	case "profile":
		parkLabels()
		pprof.Lookup("goroutine").WriteTo(os.Stdout, 1)
	case "binary":
		parkLabels()
		pprof.Lookup("goroutine").WriteTo(os.Stdout, 0)
	case "leak profile":
		parkLeaks()
		pprof.Lookup("goroutineleak").WriteTo(os.Stdout, 1)
	case "leak":
		parkLeaks()
		pprof.Lookup("goroutineleak").WriteTo(os.Stdout, 2)
	case "usr1":
		go worker()
		go worker()
		time.Sleep(settle)
		fmt.Printf("=== received SIGUSR1 ===\n*** goroutine dump...\n%s\n*** end\n", stacks())
		fmt.Println("app: still stuck after 10s")
		quit()
	case "deep":
		go deep(130)
		time.Sleep(settle)
		os.Stdout.Write(stacks())
	case "parents":
		parkParents()
		os.Stdout.Write(stacks())
	default:
		fmt.Fprintf(os.Stderr, "traps: unknown mode %q\n", mode)
		os.Exit(2)
	}
}

func stacks() []byte {
	buf := make([]byte, 1<<20)
	return append(bytes.TrimSpace(buf[:runtime.Stack(buf, true)]), '\n')
}

// quit has a child send the signal: one from itself would find this goroutine in
// one state or another.
func quit() {
	if err := exec.Command("sh", "-c", "sleep 0.3; kill -QUIT $PPID").Start(); err != nil {
		panic(err)
	}
	time.Sleep(time.Hour)
}

//go:noinline
func worker() { <-block }

//go:noinline
func deep(n int) int {
	if n == 0 {
		return <-block
	}
	return deep(n-1) + 1
}

// parkLabels blocks goroutines with the same stack and labels that hold what
// ends a header.
func parkLabels() {
	for _, kv := range [][]string{
		{"note", "x], 9 minutes]:"},
		{"note", "]:\n\ngoroutine 9 [sleep]:\nmain.fake()\n\t/fake.go:1 +0x1"},
		{"", "\"quoted\\\" \x01 \u2028 \U0001f600 \xff"},
		{"b", "}]:", "a", `", "c": "d`},
		{"note", "x], 9 minutes]:"},
	} {
		go pprof.Do(context.Background(), pprof.Labels(kv...), func(context.Context) { worker() })
	}
	time.Sleep(settle)
}

func parkLeaks() {
	go func() {
		runtime.LockOSThread()
		select {}
	}()
	go func() { <-make(chan int) }()
	go func() {
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	}()
	var none chan int
	go func() { none <- 1 }()
	time.Sleep(settle)
	for range 3 { // one collection does not find them all
		pprof.Lookup("goroutineleak").WriteTo(io.Discard, 0)
	}
}

// parkParents has a goroutine whose parent has ended, one that a timer started,
// and one started by a helper.
func parkParents() {
	go func() { go worker() }()
	time.AfterFunc(0, worker)
	var group sync.WaitGroup
	group.Go(worker)
	time.Sleep(settle)
}
