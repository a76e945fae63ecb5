package main

import (
	"iter"
	"sync"

	"traps/ora.v4"
)

// block is never closed; everything here waits for it.
var block = make(chan int)

func init() {
	go func() { func() { <-block }() }()
}

type big struct {
	a int
	b struct {
		c, d, e, f int
		g          struct{ h, i, j, k, l, m int }
	}
	n [3]int
}

//go:noinline
func cut(b big, s string, last any) { <-block }

// seq returns a sequence whose body is a closure in a closure.
func seq() iter.Seq[int] {
	return func(yield func(int) bool) { yield(1) }
}

func ranges() {
	for range seq() {
		<-block
	}
}

type store struct {
	mu sync.Mutex
	n  int
}

// lock is inlined, so that its frame has no receiver.
func (s *store) lock() { s.mu.Lock() }

func (s *store) update() {
	s.lock()
	s.n++
}

func (s *store) wait(n int) { <-block }

type waiter interface{ wait(int) }

// A holder gets its method from the store, by a function that the compiler made.
type holder struct {
	pad int
	*store
}

type list[T any] struct{ of []T }

//go:noinline
func (l *list[T]) each(f func(T)) {
	for _, e := range l.of {
		f(e)
	}
}

//go:noinline
func stale(a, b, c int) int {
	<-block
	return 0
}

func deferred() { <-block }

func parkNames() {
	s := new(store)
	s.mu.Lock()
	var w waiter = holder{store: s}
	method := s.wait
	l := &list[string]{of: []string{"one"}}
	pool := &ora.Pool{C: block}
	go pool.Get()
	go cut(big{}, "text", 7)
	go ranges()
	go s.update()
	go w.wait(1)
	go method(2)
	go l.each(func(string) { <-block })
	go stale(1, 2, 3)
	go func() {
		defer func(n int) { deferred() }(3)
	}()
	go elsewhere()
}

//line C:/Users/Ann Lee/my app/x.go:7
func elsewhere() { <-block }
