package main

import (
	"context"
	"sync"
)

// lastRites is what has to be done at an interrupt: at the first, before anything is said of it, since a screen may
// hide what is said; at the second even when wedge ends at once, without waiting for anything, since programs that it
// has started must not be left behind. The zero value has nothing to do. Its methods may be called by several
// goroutines.
type lastRites struct {
	mu    sync.Mutex
	first []func()
	do    []func()
}

type lastRitesKey struct{}

// beforeExit has f called if wedge ends at once. Without main, as in tests, it does nothing.
func beforeExit(ctx context.Context, f func()) {
	if l, ok := ctx.Value(lastRitesKey{}).(*lastRites); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.do = append(l.do, f)
	}
}

// onInterrupt has f called at the first interrupt. It must not wait. Without main, as in tests, it does nothing.
func onInterrupt(ctx context.Context, f func()) {
	if l, ok := ctx.Value(lastRitesKey{}).(*lastRites); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.first = append(l.first, f)
	}
}

// prepare does what is to be done at the first interrupt.
func (l *lastRites) prepare() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.first {
		f()
	}
}

func (l *lastRites) perform() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.do {
		f()
	}
}
