// Command shapes parks goroutines in as many shapes as a dump can show and then
// dumps itself or dies, in the way its argument names. Its output is the source
// of dump fixtures; ../../README.md has the commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type store[K comparable] struct {
	mu   sync.Mutex
	rw   sync.RWMutex
	cond *sync.Cond
	data map[K]string
}

func (s *store[K]) get(k K) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data[k]
}

func (s *store[K]) waitChange() {
	s.cond.L.Lock()
	s.cond.Wait()
}

func deep(n int, block chan int) int {
	if n == 0 {
		return <-block
	}
	return deep(n-1, block) + 1
}

func each(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func worker(jobs <-chan int) {
	for range jobs {
	}
}

func coroutine(block chan int) {
	next, stop := iter.Pull(func(yield func(int) bool) { yield(1) })
	defer stop()
	next()
	<-block
}

func accept() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	l.Accept()
}

var burnt atomic.Int64

func burn() {
	for {
		burnt.Add(1)
	}
}

// parkLocks starts goroutines that wait for locks and the like.
func parkLocks() {
	s := &store[string]{data: map[string]string{}}
	s.cond = sync.NewCond(&sync.Mutex{})
	s.mu.Lock()
	s.rw.Lock()
	var group sync.WaitGroup
	group.Add(1)
	go func() { s.get("key") }()
	go func() { s.rw.RLock() }()
	go func() { s.rw.Lock() }()
	go s.waitChange()
	go group.Wait()
}

// parkChannels starts goroutines that wait for channels.
func parkChannels(block chan int) {
	var none chan int
	go func() { <-block }()
	go func() { make(chan int) <- 1 }()
	go func() { <-none }()
	go func() { none <- 1 }()
	go func() { select {} }()
	go func() {
		select {
		case <-block:
		case none <- 1:
		}
	}()
	for range 3 {
		go worker(block)
	}
}

// parkOthers starts one goroutine for each remaining shape.
func parkOthers(block chan int) {
	go time.Sleep(time.Hour)
	go func() {
		runtime.LockOSThread()
		<-block
	}()
	go deep(120, block)
	go func() {
		for i := range each {
			if i == 3 {
				<-block
			}
		}
	}()
	go coroutine(block)
	go accept()
	var group sync.WaitGroup
	group.Go(func() { <-block })
	labels := pprof.Labels("agent", "7", "note", "x], 9 minutes]:\n\ngoroutine 9 [sleep]:",
		"ü", "tab\tand \"quote\" \x01 \U0001f600")
	go pprof.Do(context.Background(), labels, func(context.Context) { <-block })
	time.AfterFunc(0, func() { <-block })
}

func park() {
	block := make(chan int)
	parkLocks()
	parkChannels(block)
	parkOthers(block)
	time.Sleep(100 * time.Millisecond) // let them block
}

func main() {
	mode := strings.Join(os.Args[1:], " ")
	if rest, ok := strings.CutSuffix(mode, " labels"); ok {
		os.Setenv("GODEBUG", "tracebacklabels=1")
		mode = rest
	}
	switch mode {
	case "stack":
		park()
		buf := make([]byte, 1<<20)
		os.Stdout.Write(buf[:runtime.Stack(buf, true)])
	case "leak":
		park()
		runtime.GC()
		pprof.Lookup("goroutineleak").WriteTo(os.Stdout, 2)
	case "quit":
		park()
		syscall.Kill(os.Getpid(), syscall.SIGQUIT)
		select {}
	case "quit running":
		runtime.GOMAXPROCS(4)
		for range 3 {
			go burn()
		}
		time.Sleep(100 * time.Millisecond) // let them get threads
		syscall.Kill(os.Getpid(), syscall.SIGQUIT)
		burn()
	case "panic":
		panic(errors.New("first line\ngoroutine 1 [running]:\nmain.fake()"))
	case "repanic":
		defer func() { panic(fmt.Sprint("again: ", recover())) }()
		panic("once")
	case "nil":
		debug.SetTraceback("all")
		go time.Sleep(time.Hour)
		time.Sleep(time.Millisecond)
		var s *store[int]
		s.data[1] = "x"
	case "overflow":
		debug.SetMaxStack(1 << 16)
		deep(1<<30, nil)
	case "asleep":
		s := store[int]{}
		s.mu.Lock()
		go s.get(1)
		runtime.Gosched()
		s.mu.Lock()
	case "concurrent map":
		m := map[int]int{}
		for range 4 {
			go func() {
				for {
					m[1]++
				}
			}()
		}
		select {}
	default:
		fmt.Fprintf(os.Stderr, "shapes: unknown mode %q\n", mode)
		os.Exit(2)
	}
}
