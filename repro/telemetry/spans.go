package telemetry

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"example.com/wedge/harness/record"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// spans makes spans of what the journal says. Each is begun and ended when it is known to have ended, with the
// instants that it had. Ids are therefore drawn before: a call's span needs that of its task, which ends later.
type spans struct {
	o        *Options
	started  time.Time // of the run's clock
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	resource *resource.Resource
	common   []attribute.KeyValue // of calls
	run      trace.SpanContext
	from     sim.Instant                  // of the run
	begun    bool                         // there is a run_start
	tasks    map[string]trace.SpanContext // under way, by agent
	ended    []sdktrace.ReadOnlySpan      // not sent yet
}

func newSpans(o *Options, started time.Time) *spans {
	s := &spans{o: o, started: started, tasks: map[string]trace.SpanContext{}, resource: resourceOf(o)}
	s.provider = sdktrace.NewTracerProvider(
		sdktrace.WithResource(s.resource), sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(ids{}), sdktrace.WithSpanProcessor(collector{s}),
	)
	s.tracer = s.provider.Tracer("wedge", trace.WithInstrumentationVersion(o.Version))
	s.common = []attribute.KeyValue{attribute.String("gen_ai.provider.name", o.Provider)}
	if o.Model != "" {
		s.common = append(s.common, attribute.String("gen_ai.request.model", o.Model))
	}
	s.common = append(s.common, serverAttributes(o.Server)...)
	s.run = s.draw(trace.SpanContext{})
	return s
}

// resourceOf says who sends. The environment may say it better.
func resourceOf(o *Options) *resource.Resource {
	own := resource.NewSchemaless(
		attribute.String("service.name", "wedge"), attribute.String("service.version", o.Version), attribute.Int("process.pid", os.Getpid()),
		attribute.String("wedge.scenario", o.Scenario), attribute.String("wedge.seed", strconv.FormatUint(o.Seed, 10)), attribute.String("wedge.clock", o.Clock),
	)
	merged, err := resource.Merge(own, resource.Environment())
	if err != nil {
		return own
	}
	return merged
}

// serverAttributes says where a real server is.
func serverAttributes(base string) []attribute.KeyValue {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	out := []attribute.KeyValue{attribute.String("server.address", u.Hostname())}
	if n, err := strconv.Atoi(port); err == nil {
		out = append(out, attribute.Int("server.port", n))
	}
	return out
}

// collector keeps spans that have ended, for the exporter's goroutine, which is the one that ends them.
type collector struct{ s *spans }

func (c collector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (c collector) OnEnd(s sdktrace.ReadOnlySpan)                   { c.s.ended = append(c.s.ended, s) }
func (c collector) Shutdown(context.Context) error                  { return nil }
func (c collector) ForceFlush(context.Context) error                { return nil }

var _ sdktrace.SpanProcessor = collector{}

// ids gives spans the ids that were drawn for them.
type ids struct{}

var _ sdktrace.IDGenerator = ids{}

type drawn struct{} // key of a context: a trace.SpanContext

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	own := ctx.Value(drawn{}).(trace.SpanContext)
	return own.TraceID(), own.SpanID()
}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	return ctx.Value(drawn{}).(trace.SpanContext).SpanID()
}

// draw returns ids for a span, in the trace of another one or in a new trace.
func (s *spans) draw(in trace.SpanContext) trace.SpanContext {
	c := trace.SpanContextConfig{TraceID: in.TraceID(), TraceFlags: trace.FlagsSampled}
	for !c.TraceID.IsValid() {
		_, _ = rand.Read(c.TraceID[:]) // it never fails
	}
	for !c.SpanID.IsValid() {
		_, _ = rand.Read(c.SpanID[:])
	}
	return trace.NewSpanContext(c)
}

// span is one that has ended.
type span struct {
	own        trace.SpanContext // zero: it is drawn
	parent     trace.SpanContext // zero: it is the first of the trace
	name       string
	kind       trace.SpanKind
	from, to   sim.Instant
	attributes []attribute.KeyValue
	err        string // of one that failed, with its error.type
	errType    string // empty: it went well
	open       bool   // it had not ended
	events     []event
}

// event is an instant within a span.
type event struct {
	name string
	at   sim.Instant
}

// at returns an instant of the run as calendar time.
func (s *spans) at(i sim.Instant) time.Time { return s.started.Add(time.Duration(i)) }

// emit makes the span, and returns its ids.
func (s *spans) emit(x span) trace.SpanContext {
	if !x.own.IsValid() {
		x.own = s.draw(s.run)
	}
	ctx := context.WithValue(context.Background(), drawn{}, x.own)
	options := []trace.SpanStartOption{trace.WithTimestamp(s.at(x.from)), trace.WithSpanKind(x.kind), trace.WithAttributes(x.attributes...)}
	if x.parent.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, x.parent)
	} else {
		options = append(options, trace.WithNewRoot())
	}
	_, made := s.tracer.Start(ctx, x.name, options...)
	for _, e := range x.events {
		made.AddEvent(e.name, trace.WithTimestamp(s.at(e.at)))
	}
	if x.errType != "" {
		made.SetAttributes(attribute.String("error.type", x.errType))
		made.SetStatus(codes.Error, x.err)
	}
	if x.open {
		made.SetAttributes(attribute.Bool("wedge.open", true))
	}
	made.End(trace.WithTimestamp(s.at(x.to)))
	return x.own
}

// parentOf returns the span that what an agent does is part of.
func (s *spans) parentOf(agent string) trace.SpanContext {
	if t, ok := s.tasks[agent]; ok {
		return t
	}
	return s.run
}

func (s *spans) handler() record.Handler {
	return record.Handler{
		Start: func(b *record.Start) {
			if !s.begun {
				s.begun, s.from, s.started = true, b.At, time.Now().Add(-time.Duration(b.At))
			}
		},
		Began: func(t *record.Task) { s.tasks[t.Agent] = s.draw(s.run) },
		Task:  s.task, Call: s.call, Tool: s.tool, Stall: s.stall,
		End: s.end,
	}
}

func (s *spans) task(t *record.Task) {
	own := s.parentOf(t.Agent)
	delete(s.tasks, t.Agent)
	parent := s.run
	if t.Parent != "" {
		parent = s.parentOf(t.Parent)
	}
	x := span{
		own: own, parent: parent, name: "invoke_agent " + t.Agent, kind: trace.SpanKindInternal, from: t.From, to: t.To, open: t.Open, err: t.Err,
		attributes: append([]attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", t.Agent), attribute.String("gen_ai.conversation.id", t.Task),
		}, s.common...),
	}
	if t.Parent != "" {
		x.attributes = append(x.attributes, attribute.String("wedge.agent.parent", t.Parent))
	}
	if !t.OK && !t.Open {
		x.errType = otherError
		if t.Limit != "" {
			x.errType = "timeout"
			x.attributes = append(x.attributes, attribute.String("wedge.limit", t.Limit))
		}
	}
	s.emit(x)
}

func (s *spans) tool(t *record.Tool) {
	x := span{
		parent: s.parentOf(t.Agent), name: "execute_tool " + t.Name, kind: trace.SpanKindInternal, from: t.From, to: t.To, err: t.Err,
		attributes: []attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", t.Name), attribute.String("gen_ai.tool.type", "function"),
			attribute.String("gen_ai.agent.name", t.Agent), attribute.Bool("wedge.tool.in_range", t.InRange),
		},
	}
	if t.Err != "" {
		x.errType = otherError
	}
	s.emit(x)
}

func (s *spans) stall(t *record.Stall) {
	s.emit(span{
		parent: s.run, name: "stall " + strconv.Itoa(t.Episode), kind: trace.SpanKindInternal, from: t.Since, to: t.To, open: t.Open,
		attributes: []attribute.KeyValue{
			attribute.Int("wedge.stall.episode", t.Episode), attribute.Int("wedge.stall.calls", t.Calls), attribute.Int("wedge.stall.sent", t.Sent),
			attribute.Int("wedge.stall.captures", t.Captures),
		},
		events: []event{{"wedge.stall.detected", t.From}},
	})
}

// end is the end of the run. What is open ends after it, and is in the trace all the same.
func (s *spans) end(e *record.End) { s.workflow(e.At, e) }

func (s *spans) workflow(to sim.Instant, e *record.End) {
	x := span{
		own: s.run, name: "invoke_workflow " + s.o.Scenario, kind: trace.SpanKindInternal, from: s.from, to: to,
		attributes: []attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "invoke_workflow"), attribute.String("gen_ai.workflow.name", s.o.Scenario),
			attribute.String("wedge.seed", strconv.FormatUint(s.o.Seed, 10)), attribute.String("wedge.clock", s.o.Clock),
		},
		open: e == nil,
	}
	if s.o.Scale != 0 {
		x.attributes = append(x.attributes, attribute.Float64("wedge.clock.scale", s.o.Scale))
	}
	if e != nil {
		x.attributes = append(x.attributes,
			attribute.String("wedge.run.end", e.Why), attribute.Int("wedge.run.agents_done", e.AgentsDone), attribute.Int("wedge.run.agents_failed", e.AgentsFailed),
			attribute.Int("wedge.run.steps", e.Steps), attribute.Int("wedge.run.stalls", e.Stalls))
	}
	s.emit(x)
	s.begun = false
}

// close ends a run that has no end in the journal.
func (s *spans) close(at sim.Instant) {
	if s.begun {
		s.workflow(at, nil)
	}
}

// otherError is the error.type of what has no name in the conventions.
const otherError = "_OTHER"

// errorType is the error.type of an attempt.
func errorType(a *record.Attempt) string {
	switch {
	case a.Outcome == pacer.AttemptOK || a.Open:
		return ""
	case a.Status != 0:
		return strconv.Itoa(a.Status)
	}
	return a.Outcome
}
