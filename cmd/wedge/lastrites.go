package main

import (
	"context"
	"sync"
)

// lastRites is what has to be done even when wedge ends at once, without waiting for anything: programs
// that it has started must not be left behind. The zero value has nothing to do. Its methods may be
// called by several goroutines.
type lastRites struct {
	mu sync.Mutex
	do []func()
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

func (l *lastRites) perform() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.do {
		f()
	}
}
