package repro

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// ServeOptions say how the simulated servers of a scenario listen. The zero value listens on any free
// port of loopback, with the defaults of package api.
type ServeOptions struct {
	Listen string // host and port of the router; "" means 127.0.0.1:0
	// Listener is where the router accepts instead, such as one in memory; whoever gives it says by that who may
	// reach the servers. Engines have no ports of their own then. nil: Listen.
	Listener net.Listener
	Scale    float64 // of the wall clock; 0 means 1
	HTTP2    bool    // also HTTP/2 without TLS, with prior knowledge
	Token    string  // that every request must bear; needed to listen for others than this machine
	// WorkerPort is the port of the first engine; the others follow. 0 means any free ports.
	WorkerPort int
	// MetricsListen is where the router's own metrics are served by themselves too; "" means nowhere.
	MetricsListen string
	Logs          serving.Logs
	// PlainModel gives every answer the length in servers.model. Otherwise it is that of the scenario's
	// workflow, so that agents of wedge get the answers that they would get in one process.
	PlainModel bool
	// AnyModel answers requests for any model; otherwise another name than the scenario's gets status 404.
	AnyModel bool
	// Observer is told of the chat requests as they come and go; nil: nobody is.
	Observer api.Observer
	// World is the clock of the servers, which the caller then runs and ends; Scale is not used. nil: one
	// of their own.
	World *sim.Wall
}

// Served is simulated servers that listen. Close must follow.
type Served struct {
	BaseURL string // for clients; ends in /v1
	Front   *api.Server

	stack  *serving.Stack
	gauges inMemory
	over   chan struct{}
	end    context.CancelFunc
}

var _ harness.Servers = (*Served)(nil)

// Serve has the servers of a scenario listen, with its faults. Nothing else of the scenario is used but
// its seed and, for the lengths of answers, its workflow. The error is an *InputError for bad input.
func Serve(s *Scenario, o ServeOptions) (*Served, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	if err := ValidScale(o.Scale); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	_, tasks, err := s.load()
	if err != nil {
		return nil, err
	}
	w := o.World
	if w == nil {
		w = sim.NewWall(sim.WallOptions{Seed: s.Seed, Scale: o.Scale})
	}
	var epoch time.Time // of a clock that goes faster no date makes sense to a client
	if w.Scale() == 1 {
		epoch = time.Now()
	}
	faults, err := fault.NewSet(w, s.allFaults())
	if err != nil {
		return nil, fmt.Errorf("repro: %w", err)
	}
	var model serving.Model
	if !o.PlainModel {
		model.Output = agents.Outputs(w, &s.Workflow, tasks)
	}
	stack, err := serving.New(w, s.Servers, model, faults, o.Logs)
	if err != nil {
		return nil, fmt.Errorf("repro: %w", err)
	}
	front, err := api.New(w, stack, api.Config{
		HTTP2: o.HTTP2, Token: o.Token, Anywhere: o.Token != "",
		Epoch: epoch, WorkerPort: o.WorkerPort, MetricsAddress: o.MetricsListen,
		AnyModel: o.AnyModel, Observer: o.Observer,
		// A client that leaves in the midst of an answer is what the servers are there for, not news.
		ErrorLog: log.New(io.Discard, "", 0),
	})
	if err != nil {
		return nil, &InputError{Source: "serve", Msg: strings.TrimPrefix(err.Error(), "api: New: ")}
	}
	base, err := listen(front, &o)
	if err != nil {
		return nil, &InputError{Source: "--listen", Msg: strings.TrimPrefix(err.Error(), "api: Listen: ")}
	}
	served := &Served{BaseURL: base, Front: front, stack: stack, gauges: inMemory{stack: stack}, over: make(chan struct{})}
	ctx, end := context.WithCancel(context.Background())
	served.end = end
	if o.World != nil {
		close(served.over)
		return served, nil
	}
	go func() {
		defer close(served.over)
		// The world's own end is that of its main process, which waits for Close.
		_ = w.Run(ctx, func(ctx context.Context) { <-ctx.Done() })
	}()
	return served, nil
}

func listen(front *api.Server, o *ServeOptions) (baseURL string, err error) {
	if o.Listener != nil {
		return front.ListenOn(o.Listener)
	}
	return front.Listen(o.Listen)
}

// Gauges implements harness.Servers: it reads what the servers show, without a request.
func (s *Served) Gauges(ctx context.Context) ([]harness.Gauge, error) { return s.gauges.Gauges(ctx) }

// LogErr returns the first error of writing a log of the servers, or nil. They go on without the log.
func (s *Served) LogErr() error {
	errs := []error{s.stack.LogErr()}
	for _, w := range s.stack.Workers() {
		errs = append(errs, w.LogErr())
	}
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("a log of the servers is cut short: %w", err)
		}
	}
	return nil
}

// Close ends the servers; answers under way are cut off.
func (s *Served) Close() error {
	err := s.Front.Close()
	s.end()
	<-s.over
	return err
}
