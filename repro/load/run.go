package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// Options say where a plan is carried out. Exactly one of Simulated and Server must be set.
type Options struct {
	Seed uint64 // of every draw
	// Wall runs simulated servers on the machine's clock, behind a socket on loopback. A real server is
	// always on it.
	Wall  bool
	Scale float64 // how much faster than the machine's the wall clock goes; 0 means 1

	Simulated *Simulated
	Server    *Server

	// NumbersFrom is how many requests earlier plans have sent to the same server, so that no id is
	// used twice.
	NumbersFrom int
	// Watch, if not nil, is told now and then how far the run has come, on a goroutine of the run.
	Watch func(Progress)
}

// Simulated are servers that are made for the run.
type Simulated struct {
	Config serving.Config
	Faults []fault.Fault
}

// Server is an OpenAI-compatible server.
type Server struct {
	BaseURL     string // such as "http://127.0.0.1:30000/v1"
	Model       string // as requests name it
	APIKey      string // stays out of everything that is shown
	MetricsURLs []string
}

// Run carries out a plan. If ctx is cancelled it returns what there is by then, marked as
// interrupted. A request that fails is a figure in the row; an error says that the run itself could
// not be made, and is a *FieldError if the plan is wrong.
func Run(ctx context.Context, plan Plan, o Options) (*Row, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	if (o.Simulated == nil) == (o.Server == nil) {
		return nil, errors.New("load: Run: want either simulated servers or a server")
	}
	g := &generator{plan: &plan, numbersFrom: o.NumbersFrom, watch: o.Watch, sampler: &sampler{}}
	if o.Server == nil && !o.Wall {
		return g.virtual(ctx, o)
	}
	return g.wall(ctx, o)
}

// virtual runs against servers in memory.
func (g *generator) virtual(ctx context.Context, o Options) (*Row, error) {
	if !g.plan.Stream {
		return nil, &FieldError{"no-stream", "found it with servers in memory, want --clock wall or a real server with it: in memory every answer is streamed"}
	}
	const stepsPerInstant, stepsPerRequest = 10_000_000, 100
	w := sim.NewVirtual(sim.VirtualOptions{Seed: o.Seed, StepsPerInstantMax: stepsPerInstant + stepsPerRequest*g.plan.Requests})
	stack, err := newStack(w, g.plan, o.Simulated)
	if err != nil {
		return nil, err
	}
	g.w = w
	g.target = &memory{w: w, backend: serving.NewClient(stack, serving.ClientConfig{}), model: o.Simulated.Config.Model.ID}
	g.sampler.from = &inMemory{stack: stack}
	return g.play(ctx)
}

// wall runs over HTTP, against simulated servers or real ones.
func (g *generator) wall(ctx context.Context, o Options) (*Row, error) {
	scale := o.Scale
	if scale == 0 {
		scale = 1
	}
	w := sim.NewWall(sim.WallOptions{Seed: o.Seed, Scale: scale})
	g.w = w
	g.probeEvery = time.Duration(float64(probeEvery) * scale)
	server := o.Server
	if server == nil {
		front, err := listen(w, g.plan, o.Simulated)
		if err != nil {
			return nil, err
		}
		defer front.Close() // the run is over: nobody misses an answer
		server = front.server
		// Real servers are asked at the plan's pace; these would do little else at a high scale.
		g.plan.SampleEvery = max(g.plan.SampleEvery, time.Duration(float64(scrapeEvery)*scale))
	}
	t, err := newHTTP(w, server.BaseURL, server.Model, server.APIKey)
	if err != nil {
		return nil, fmt.Errorf("load: base URL: %w", err)
	}
	defer t.client.CloseIdleConnections()
	g.target = t
	if len(server.MetricsURLs) > 0 {
		if g.sampler.from, err = api.NewScraper(server.MetricsURLs...); err != nil {
			return nil, &FieldError{"metrics-url", strings.TrimPrefix(err.Error(), "api: NewScraper: ")}
		}
	}
	return g.play(ctx)
}

// On the machine's clock: how often the generator's lateness is looked at, and how often at most the
// gauges of simulated servers are read.
const (
	probeEvery  = 5 * time.Millisecond
	scrapeEvery = 100 * time.Millisecond
)

// play runs the plan in its world. An interrupt still has a result.
func (g *generator) play(ctx context.Context) (*Row, error) {
	err := g.w.Run(ctx, g.run)
	if err != nil && (context.Cause(ctx) == nil || !errors.Is(err, context.Cause(ctx))) {
		return nil, fmt.Errorf("load: the run broke off: %w", err)
	}
	return g.row(), nil
}

func newStack(w sim.World, p *Plan, s *Simulated) (*serving.Stack, error) {
	faults, err := fault.NewSet(w, s.Faults)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	model := serving.Model{}
	if p.IgnoreEOS {
		// Longer than any limit: the limit is where answers end.
		model.Output = func(string, int, int) (int, int) { return tokensLimit, s.Config.Model.ReasoningTokens }
	}
	stack, err := serving.New(w, s.Config, model, faults, serving.Logs{Router: io.Discard})
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return stack, nil
}

// inMemory reads the gauges of servers in the same process.
type inMemory struct {
	stack *serving.Stack
	read  []serving.Gauge
}

// Gauges implements gauges. What it returns holds until the next call.
func (m *inMemory) Gauges(context.Context) ([]serving.Gauge, error) {
	m.read = m.stack.AppendGauges(m.read[:0])
	return m.read, nil
}

// front is simulated servers behind a socket.
type front struct {
	*api.Server
	server *Server
}

func listen(w *sim.Wall, p *Plan, s *Simulated) (*front, error) {
	stack, err := newStack(w, p, s)
	if err != nil {
		return nil, err
	}
	const spare = 64 // connections beside those of the clients
	server, err := api.New(w, stack, api.Config{
		ConnectionsMax: p.clientsMax() + spare,
		// A client that leaves in the middle of an answer is part of the run, not news.
		ErrorLog: log.New(io.Discard, "", 0),
	})
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	base, err := server.Listen("")
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return &front{server, &Server{
		BaseURL: base, Model: s.Config.Model.ID, MetricsURLs: []string{strings.TrimSuffix(base, "/v1") + "/metrics"},
	}}, nil
}
