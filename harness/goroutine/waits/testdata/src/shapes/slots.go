package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// A limiter hands out slots.
type limiter struct{ slots *semaphore.Weighted }

var errBad = errors.New("bad request")

// callLeaky forgets its slot when the call fails.
func (l *limiter) callLeaky(n int) error {
	if err := l.slots.Acquire(context.Background(), 1); err != nil {
		return err
	}
	if n < 3 {
		return errBad
	}
	defer l.slots.Release(1)
	return nil
}

func slotLeak() {
	l := &limiter{semaphore.NewWeighted(3)}
	var wg sync.WaitGroup
	for n := range 3 {
		l.callLeaky(n)
	}
	for n := 3; n < 12; n++ {
		wg.Go(func() { l.callLeaky(n) })
	}
	wg.Wait()
}

// A pool is a channel of slots.
type pool chan struct{}

// fetch keeps its slot until the body is read.
func (p pool) fetch(url string) {
	p <- struct{}{}
	defer func() { <-p }()
	resp, err := http.Get(url)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
}

func slotStream() {
	url := server("stream")
	p, wg := make(pool, 3), sync.WaitGroup{}
	for range 10 {
		wg.Go(func() { p.fetch(url) })
	}
	wg.Wait()
}

// slotSlow is the same with a server that is slow and answers.
func slotSlow() {
	url := server("slow")
	p, wg := make(pool, 3), sync.WaitGroup{}
	for range 10 {
		wg.Go(func() {
			for {
				p.fetch(url)
			}
		})
	}
	wg.Wait()
}

// run does a task in a slot, and sub-tasks in slots of their own.
func (l *limiter) run(depth int) {
	l.slots.Acquire(context.Background(), 1)
	defer l.slots.Release(1)
	if depth == 0 {
		return
	}
	time.Sleep(50 * time.Millisecond)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { l.run(depth - 1) })
	}
	wg.Wait()
}

func slotNested() {
	l := &limiter{semaphore.NewWeighted(4)}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { l.run(1) })
	}
	wg.Wait()
}

// A journal is locked over the wait for a slot by one, and by another while it has one.
type journal struct {
	mu    sync.Mutex
	slots *semaphore.Weighted
}

func (j *journal) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	j.slots.Acquire(context.Background(), 1)
	defer j.slots.Release(1)
}

func (j *journal) call() {
	j.slots.Acquire(context.Background(), 1)
	defer j.slots.Release(1)
	time.Sleep(50 * time.Millisecond)
	j.note()
}

func (j *journal) note() {
	j.mu.Lock()
	defer j.mu.Unlock()
}

func slotLock() {
	j := &journal{slots: semaphore.NewWeighted(2)}
	var wg sync.WaitGroup
	wg.Go(j.call)
	wg.Go(j.call)
	time.Sleep(20 * time.Millisecond)
	wg.Go(j.flush)
	wg.Wait()
}

func errgroupNested() {
	var g errgroup.Group
	g.SetLimit(2)
	for range 2 {
		g.Go(func() error {
			time.Sleep(50 * time.Millisecond)
			g.Go(func() error { return nil })
			return nil
		})
	}
	g.Wait()
}

// noDB is a database without data.
type noDB struct{}

func (noDB) Open(string) (driver.Conn, error)    { return noDB{}, nil }
func (noDB) Prepare(string) (driver.Stmt, error) { return nil, errBad }
func (noDB) Close() error                        { return nil }
func (noDB) Begin() (driver.Tx, error)           { return noDB{}, nil }
func (noDB) Commit() error                       { return nil }
func (noDB) Rollback() error                     { return nil }

func transfer(db *sql.DB) {
	tx, err := db.Begin()
	if err != nil {
		return
	}
	defer tx.Rollback()
	time.Sleep(50 * time.Millisecond)
	db.Exec("update") // outside the transaction: needs a second connection
}

func sqlPool() {
	sql.Register("none", noDB{})
	db, _ := sql.Open("none", "")
	db.SetMaxOpenConns(3)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { transfer(db) })
	}
	wg.Wait()
}

func rateLimited() {
	l := rate.NewLimiter(20, 1)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			for {
				l.Wait(context.Background())
			}
		})
	}
	wg.Wait()
}

func rateZero() {
	l := rate.NewLimiter(rate.Every(1000*time.Hour), 1)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { l.Wait(context.Background()) })
	}
	wg.Wait()
}
