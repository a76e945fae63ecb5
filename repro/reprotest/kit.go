package reprotest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/serving"
)

// ErrStalled is how requests end once the test has failed, and is told to those that come later.
var ErrStalled = errors.New("reprotest: nothing got on, so that the test has failed and its requests were ended")

// ErrClosed is how requests end that are under way when the test is over, and is told to those that come later.
var ErrClosed = errors.New("reprotest: the test is over")

// TB is what a kit needs of a test: *testing.T has it.
type TB interface {
	Name() string
	Helper()
	Cleanup(f func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Kit is what a test gives to its own harness. Make one with [Start]. It is safe for concurrent use.
type Kit struct {
	// Client sends to the simulated servers, whatever host a URL names. It has no limits; the harness may set its
	// Timeout. A harness that makes its own transport takes [Kit.DialContext] and [Kit.Transport].
	Client  *http.Client
	BaseURL string // ends in /v1
	Model   string // that the servers have; they answer requests for any other too

	t      TB
	o      *options
	w      *sim.Wall
	listen *listener // nil: over loopback
	served *repro.Served
	dog    *embed.Watchdog
	base   *http.Transport
	front  *front
	bubble int64 // of the test; 0: none

	life context.Context // of all requests
	cut  context.CancelCauseFunc
	down sync.Once
	left chan struct{} // closed when nothing of the kit is there any more

	mu      sync.Mutex
	out     int         // requests of Client under way
	quiet   *time.Timer // while none is
	verdict *diagnose.Verdict
	refused int // requests that came when all was over
}

// Start serves a scenario to the test until that is over, and watches. Call it on the test's goroutine: within
// the bubble, if there is one. The test fails at once if an option is no good.
func Start(t TB, given ...Option) *Kit {
	t.Helper()
	o, err := choose(given)
	if err != nil {
		t.Fatalf("reprotest: %v", err)
	}
	k := &Kit{t: t, o: o, bubble: ownBubble(), left: make(chan struct{})}
	if o.loopback && k.bubble != 0 {
		t.Fatalf("reprotest: Loopback in a synctest bubble, where time stands still while somebody waits for a socket: want none of it, or no bubble")
	}
	k.life, k.cut = context.WithCancelCause(context.Background())
	if err := k.start(); err != nil {
		t.Fatalf("reprotest: %v", err)
	}
	t.Cleanup(k.close)
	return k
}

// start makes servers, watchdog and client.
func (k *Kit) start() error {
	s := k.o.scenario
	k.w = sim.NewWall(sim.WallOptions{Seed: s.Seed, Scale: k.o.scale})
	k.front = newFront(k.w)
	router := harness.NewRouterLog(k.w, nil, time.Time{})
	serve := repro.ServeOptions{
		World: k.w, Scale: k.o.scale, AnyModel: true, Observer: k.front, Logs: serving.Logs{Router: router},
	}
	if !k.o.loopback {
		k.listen = newListener()
		serve.Listener = k.listen
	}
	served, err := repro.Serve(s, serve)
	if err != nil {
		return err
	}
	k.served = served
	k.dog, err = embed.Start(embed.Options{
		Name: s.Name, World: k.w, Router: router, Servers: served, Watchdog: k.patience(),
		Setup:   harness.Setup{SimulatedModel: true, Servers: "simulated, for a test"},
		Judge:   func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) },
		OnStall: k.look, DumpOf: k.among,
	})
	if err != nil {
		return errors.Join(err, served.Close())
	}
	k.base = &http.Transport{DialContext: k.DialContext, MaxIdleConnsPerHost: 64}
	k.BaseURL, k.Model = served.BaseURL, s.Servers.Model.ID
	k.Client = &http.Client{Transport: k.Transport(nil)}
	k.rest()
	return nil
}

// patience returns when the watchdog looks: at half the time after which a stall fails the test, so that it can
// be said then what has moved since, and later for those that are only slow.
func (k *Kit) patience() harness.Watchdog {
	return harness.Watchdog{
		StallAfter: k.o.stallAfter / 2, Captures: []int{1, 2, 4, 8, slowTimes * 2},
		SampleEvery: max(10*time.Second, k.o.stallAfter/60), Window: k.o.stallAfter,
	}
}

// slowTimes is for how many times StallAfter those may go on whose servers are only slow.
const slowTimes = 8

// DialContext connects to the simulated servers, whatever the address, for a transport of the harness's own.
func (k *Kit) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := context.Cause(k.life); err != nil {
		return nil, err
	}
	if k.listen == nil {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}
	return k.listen.dial(ctx)
}

// Transport watches the requests that base makes. A transport of the harness's own should have DialContext as
// its own. nil stands for the one of Client.
func (k *Kit) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = k.base
	}
	return &door{k: k, base: k.dog.Transport(base)}
}

// Watchdog takes marks of what the harness is at beyond its requests: agents, slots, tools. They make the
// verdict of a stall better.
func (k *Kit) Watchdog() *embed.Watchdog { return k.dog }

// Counts returns what has become of the requests so far, as the servers see them.
func (k *Kit) Counts() Counts { return k.front.counts() }

// Verdict returns the verdict of the stall that has failed the test. ok is false while there is none.
func (k *Kit) Verdict() (v diagnose.Verdict, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.verdict == nil {
		return diagnose.Verdict{}, false
	}
	return *k.verdict, true
}

// close ends everything at the end of the test: who still waits for an answer gets an error.
func (k *Kit) close() {
	k.mu.Lock()
	out := k.out
	k.mu.Unlock()
	if out > 0 && context.Cause(k.life) == nil {
		k.t.Logf("reprotest: %d requests were under way when the test was over, and have been ended", out)
	}
	k.end(ErrClosed)
	k.leave()
	<-k.left
	k.settle()
}

// settleFor is how long those who are left behind in a bubble may take to end. Their pauses cost nothing; but when
// the test has returned, time stands still in the bubble.
const settleFor = 24 * time.Hour

// settle waits for them. Who is left then is for synctest to tell of.
func (k *Kit) settle() {
	if k.bubble == 0 {
		return
	}
	for pause := time.Millisecond; k.leftBehind() && pause < settleFor; pause *= 10 {
		time.Sleep(pause)
	}
}

// end ends all requests, those that come included.
func (k *Kit) end(why error) {
	k.cut(why)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.quiet != nil {
		k.quiet.Stop()
	}
}

// leave begins to take down servers and watchdog, so that nothing of the kit's is left in the bubble.
func (k *Kit) leave() {
	k.down.Do(func() {
		go func() { // who calls may be a process of the watchdog's
			defer close(k.left)
			k.base.CloseIdleConnections()
			if err := k.served.Close(); err != nil {
				k.t.Errorf("reprotest: %v", err)
			}
			if _, err := k.dog.Close(); err != nil {
				k.t.Errorf("reprotest: %v", err)
			}
		}()
	})
}
