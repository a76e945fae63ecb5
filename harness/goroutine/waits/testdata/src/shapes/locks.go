package main

import (
	"io"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// An account is locked in the order of the transfer: two transfers in opposite
// directions deadlock.
type account struct {
	mu      sync.Mutex
	balance int
}

func (a *account) move(to *account, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	to.add(n)
	a.balance -= n
}

func (a *account) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}

func abba() {
	a, b := &account{}, &account{}
	http.HandleFunc("/move", func(w http.ResponseWriter, r *http.Request) {})
	go a.move(b, 1)
	go b.move(a, 1)
	for range 4 {
		go a.add(1)
	}
	select {}
}

// The catalog and the ledger are locked in two orders by the agents, and another
// goroutine waits for all of them.
var catalog, ledger sync.Mutex

func write(first, second *sync.Mutex) {
	first.Lock()
	defer first.Unlock()
	time.Sleep(50 * time.Millisecond)
	second.Lock()
	defer second.Unlock()
}

func abbaWaiter() {
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if i%2 == 0 {
				write(&catalog, &ledger)
			} else {
				write(&ledger, &catalog)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	<-done
}

func once() {
	var o sync.Once
	ready := make(chan int)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { o.Do(func() { <-ready }) })
	}
	wg.Wait()
}

func pipe() {
	_, w := io.Pipe()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			w.Write([]byte("line\n"))
		})
	}
	wg.Wait()
}

// A store is locked while it asks a server.
type store struct {
	mu  sync.Mutex
	url string
}

func (s *store) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
}

func (s *store) load() {
	resp, err := http.Get(s.url)
	if err == nil {
		resp.Body.Close()
	}
}

func (s *store) get() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

func lockCall() {
	s := &store{url: server("silent")}
	var wg sync.WaitGroup
	wg.Go(s.refresh)
	time.Sleep(50 * time.Millisecond)
	for range 6 {
		wg.Go(s.get)
	}
	wg.Wait()
}

// A client of a tool server writes requests to its standard input under a lock
// that its reader needs as well.
type client struct {
	mu sync.Mutex
	in io.Writer
}

func (c *client) send(request []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.Write(request)
}

func (c *client) read(out io.Reader) {
	buf := make([]byte, 4096)
	for {
		if _, err := out.Read(buf); err != nil {
			return
		}
		c.deliver()
	}
}

func (c *client) deliver() {
	c.mu.Lock()
	defer c.mu.Unlock()
}

func lockWrite() {
	cmd := exec.Command("sh", "-c", "echo hello; exec sleep 600")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	c := &client{in: in}
	go c.send(make([]byte, 1<<20))
	time.Sleep(50 * time.Millisecond)
	cmd.Start()
	go c.read(out)
	for range 3 {
		go c.send([]byte("{}\n"))
	}
	cmd.Wait()
}

// lockSleep is a lock that is contended and comes free all the time.
func lockSleep() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				mu.Lock()
				time.Sleep(5 * time.Millisecond)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// A table reads itself while it is read.
type table struct{ mu sync.RWMutex }

func (t *table) size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return 1
}

func (t *table) print() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	time.Sleep(100 * time.Millisecond)
	t.size()
}

func (t *table) set() {
	t.mu.Lock()
	defer t.mu.Unlock()
}

func rwRecursive() {
	var t table
	var wg sync.WaitGroup
	wg.Go(t.print)
	time.Sleep(50 * time.Millisecond)
	wg.Go(t.set)
	wg.Wait()
}
