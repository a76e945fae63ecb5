package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/wedge/harness/sim"
)

// prober is a probe under way, and in the end all that was seen.
type prober struct {
	o       Options
	fetch   *fetcher
	start   time.Time
	targets []Target
	places  []string // of targets

	firstErr    []error // of the first look, by target
	refusedWith []int   // status of targets that want a key
	health      []Health
	readings    []*reading
	clients     []*watched
	waits       []ClientWaits // by client
	logs        [2]*logView   // at the start and the end of the window; nil: not read
	logErr      error
	reply       *Reply
	replyErr    string // why no request was sent
	interrupted bool
}

// Health is what a server says to GET /health.
type Health struct {
	Asked  bool   `json:"asked"`
	Status int    `json:"status"` // 0: it did not answer
	Error  string `json:"error,omitempty"`
}

// OK says whether the server calls itself healthy.
func (h Health) OK() bool { return h.Status == http.StatusOK }

// ForeignError says which URLs answer and are nothing that can be probed.
type ForeignError struct {
	URL string
	Err error
}

func (e *ForeignError) Error() string { return e.URL + ": " + e.Err.Error() }
func (e *ForeignError) Unwrap() error { return e.Err }

// KeyError says that a server wants an API key, or another one.
type KeyError struct {
	URL    string
	Status int
	Had    bool // a key was sent
	Kept   bool // there is one, which was not sent, since nobody says that this is a server
}

func (e *KeyError) Error() string {
	switch {
	case e.Kept:
		return fmt.Sprintf("%s: HTTP status %d (%s): it wants an API key, which is sent only to URLs that are named as servers, as router=%s", e.URL, e.Status, http.StatusText(e.Status), e.URL)
	case e.Had:
		return fmt.Sprintf("%s: HTTP status %d (%s): it does not take the key", e.URL, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s: HTTP status %d (%s): it wants an API key", e.URL, e.Status, http.StatusText(e.Status))
}

// Run probes. The error is an *[OptionError] for a mistake in the options, *[ForeignError]s joined for
// URLs that are nothing to probe, or a *[KeyError]; whatever else goes wrong is in the report. If ctx
// ends first, the report is of what was seen by then.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &prober{o: o, fetch: newFetcher(o.APIKey, o.AnswerTime), start: time.Now(), targets: append([]Target(nil), o.Targets...)}
	for _, t := range p.targets {
		p.places = append(p.places, t.shown())
	}
	if err := p.firstLog(); err != nil {
		return nil, err
	}
	for _, line := range planBefore(&o) {
		o.say("%s", line)
	}
	defer p.fetch.client.CloseIdleConnections()
	if err := p.lookAround(ctx); err != nil {
		return nil, err
	}
	if p.anythingThere() {
		for _, line := range p.plan().lines() {
			o.say("%s", line)
		}
		p.checkHealth(ctx)
		p.watch(ctx)
		p.request(ctx)
	}
	p.interrupted = ctx.Err() != nil
	return p.report(), nil
}

// firstLog reads the router's log before anything is asked.
func (p *prober) firstLog() error {
	if p.logs[0], p.logErr = p.readLog(); p.logErr != nil {
		return &OptionError{"router-log", p.logErr.Error()}
	}
	return nil
}

// lookAround takes the first look at all targets, which is the first reading and the first dump too.
func (p *prober) lookAround(ctx context.Context) error {
	got := make([]found, len(p.targets))
	at := p.now()
	var group sync.WaitGroup
	for i := range p.targets {
		group.Go(func() { got[i] = p.fetch.look(ctx, &p.targets[i], p.places) })
	}
	group.Wait()
	p.firstErr, p.refusedWith = make([]error, len(got)), make([]int, len(got))
	var wrong []error
	for i := range got {
		t := p.targets[i]
		switch {
		case got[i].refused != 0:
			wrong = append(wrong, &KeyError{t.shown(), got[i].refused, p.o.APIKey != "" && t.Role.Server(), p.o.APIKey != "" && !t.Role.Server()})
		case got[i].foreign:
			wrong = append(wrong, &ForeignError{t.shown(), got[i].err})
		case got[i].dump != nil:
			s, err := readDump(at, got[i].dump)
			if err != nil {
				wrong = append(wrong, &ForeignError{t.shown(), err})
				continue
			}
			p.clients = append(p.clients, &watched{target: t, first: s})
		}
		p.firstErr[i] = got[i].err
	}
	p.readings = append(p.readings, readingOf(at, p.targets, got))
	return errors.Join(wrong...)
}

// anythingThere says whether anything answered.
func (p *prober) anythingThere() bool {
	return len(p.clients) > 0 || p.readings[0].read > 0
}

func (p *prober) checkHealth(ctx context.Context) {
	p.health = make([]Health, len(p.targets))
	var group sync.WaitGroup
	for i, t := range p.targets {
		if !t.Role.Server() {
			continue
		}
		group.Go(func() {
			a, err := p.fetch.get(ctx, t, pathHealth, smallBytesMax, answerTimeMax)
			p.health[i] = Health{Asked: true, Status: a.status}
			if err != nil {
				p.health[i].Error = err.Error()
			}
		})
	}
	group.Wait()
}

// watch reads the gauges over the window, and the clients' goroutines and the router's log at its end.
func (p *prober) watch(ctx context.Context) {
	begin := p.readings[0].at
	for i := 1; i < p.o.readings(); i++ {
		at := begin.Add(min(time.Duration(i)*p.o.Every, p.o.For))
		if p.sleepUntil(ctx, at) != nil {
			break
		}
		if i == p.o.readings()-1 {
			break // the last one is taken with the dumps
		}
		p.readings = append(p.readings, p.readAll(ctx))
		p.tell(i+1, at.Sub(begin))
	}
	if ctx.Err() != nil {
		return
	}
	var group sync.WaitGroup
	for _, c := range p.clients {
		group.Go(func() { c.takeLast(ctx, p) })
	}
	last := p.readAll(ctx)
	group.Wait()
	p.readings = append(p.readings, last)
	p.logs[1], p.logErr = p.readLog()
	for _, c := range p.clients {
		c.compare()
	}
}

// tell says how far the window is.
func (p *prober) tell(n int, at time.Duration) {
	p.o.say("reading %d of %d, at %s of %s", n, p.o.readings(), span(at), span(p.o.For))
}

// takeLast takes the dump at the end of the window.
func (w *watched) takeLast(ctx context.Context, p *prober) {
	at := p.now()
	got := p.fetch.goroutines(ctx, w.target)
	if w.lastErr = got.err; got.err != nil {
		return
	}
	w.last, w.lastErr = readDump(at, got.dump)
}

// request sends the one request, if there is somebody to send it to.
func (p *prober) request(ctx context.Context) {
	if !p.o.Request || ctx.Err() != nil {
		return
	}
	t, ok := p.entrance()
	if !ok {
		p.replyErr = "no router and no engine that takes whole requests is among the URLs"
		return
	}
	model := p.o.Model
	if model == "" {
		var err error
		if model, err = p.fetch.models(ctx, t); err != nil {
			p.replyErr = fmt.Sprintf("the model to ask for is not known: %s%s: %v", t.shown(), pathModels, strings.TrimPrefix(err.Error(), "GET "+pathModels+" "))
			return
		}
	}
	at := p.now()
	p.o.say("sending one request of at most %s, for up to %s", plural(p.o.MaxTokens, "token"), span(p.o.Limit))
	p.reply = p.fetch.ask(ctx, t, &p.o, model)
	p.reply.SentAtS = round(at.Seconds())
}

// entrance is where requests go in: the router, or an engine that does all.
func (p *prober) entrance() (Target, bool) {
	for _, role := range [...]Role{RoleRouter, RoleEngine} {
		for _, t := range p.targets {
			if t.Role == role {
				return t, true
			}
		}
	}
	return Target{}, false
}

// window is how long was watched, on the servers' clock.
func (p *prober) window() (from, to sim.Instant) {
	from = p.readings[0].at
	to = p.readings[len(p.readings)-1].at
	for _, c := range p.clients {
		to = max(to, c.now().at)
	}
	return from, to
}
