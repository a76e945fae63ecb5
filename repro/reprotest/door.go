package reprotest

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// door is where requests of the harness go out. It can end them all.
type door struct {
	k    *Kit
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (d *door) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := context.Cause(d.k.life); err != nil {
		d.k.refuse()
		return nil, err
	}
	if d.k.inVain() {
		return nil, context.Cause(d.k.life)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	detach := context.AfterFunc(d.k.life, func() { cancel(context.Cause(d.k.life)) })
	d.k.wentOut()
	over := sync.OnceFunc(func() {
		detach()
		cancel(nil)
		d.k.cameBack()
	})
	resp, err := d.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		d.k.front.failedHere()
		over()
		return nil, d.k.orEnd(err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		d.k.front.failedHere()
	}
	resp.Body = &answer{ReadCloser: resp.Body, k: d.k, over: over}
	return resp, nil
}

// answer is a body that says when it is over.
type answer struct {
	io.ReadCloser
	k     *Kit
	over  func()
	ended bool // for who reads
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = a.k.orEnd(err)
	}
	if err != nil && !a.ended {
		a.ended = true
		if err != io.EOF {
			a.k.front.failedHere()
		}
		a.over()
	}
	return n, err
}

// Close implements io.Closer.
func (a *answer) Close() error {
	err := a.ReadCloser.Close()
	a.over()
	return err
}

// orEnd returns why all requests have been ended, if they have: the servers go at the same time, and then it is
// chance which of the two a request notices.
func (k *Kit) orEnd(err error) error {
	if why := context.Cause(k.life); why != nil {
		return why
	}
	return err
}

func (k *Kit) wentOut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out++
	if k.quiet != nil {
		k.quiet.Stop()
	}
}

func (k *Kit) cameBack() {
	k.mu.Lock()
	k.out--
	idle := k.out == 0
	k.mu.Unlock()
	if idle {
		k.rest()
	}
}

// rest says that no request is under way. That may not last for ever.
func (k *Kit) rest() {
	if k.o.idleAfter < 0 || context.Cause(k.life) != nil {
		return
	}
	after := time.Duration(float64(k.o.idleAfter) / k.o.scale)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.out > 0 {
		return
	}
	if k.quiet == nil {
		k.quiet = time.AfterFunc(after, k.idle)
		return
	}
	k.quiet.Reset(after)
}

// Of requests that come when all is over: each takes a moment, so that who gives up soon is not overtaken by who
// does not, and after so many the goroutines that send them are ended. In a bubble a harness that tries for ever
// would go on for ever.
const (
	refusedMax   = 1000
	refusedAfter = time.Millisecond
)

// refuse is about a request that comes when all is over.
func (k *Kit) refuse() {
	time.Sleep(refusedAfter)
	k.mu.Lock()
	k.refused++
	enough := k.refused > refusedMax
	k.mu.Unlock()
	if enough {
		runtime.Goexit()
	}
}
