// Command old parks goroutines in what releases since Go 1.18 can build, and prints
// its stacks; with an argument it waits for a signal. ../../README.md has the releases.
package main

import (
	"os"
	"runtime"
	"sync"
	"time"
)

type store[K comparable] struct {
	mu   sync.Mutex
	rw   sync.RWMutex
	data map[K]string
}

func (s *store[K]) get(k K) string {
	s.mu.Lock()
	return s.data[k]
}

func deep(n int, block chan int) int {
	if n == 0 {
		return <-block
	}
	return deep(n-1, block) + 1
}

func main() {
	s := &store[string]{}
	s.mu.Lock()
	s.rw.Lock()
	block := make(chan int)
	var group sync.WaitGroup
	group.Add(1)
	go s.get("a")
	go s.rw.RLock()
	go group.Wait()
	go deep(120, block)
	go func() {
		runtime.LockOSThread()
		func() { <-block }()
	}()
	time.AfterFunc(0, func() { <-block })
	time.Sleep(100 * time.Millisecond)
	if len(os.Args) > 1 {
		time.Sleep(time.Hour)
	}
	buf := make([]byte, 1<<20)
	os.Stdout.Write(buf[:runtime.Stack(buf, true)])
}
