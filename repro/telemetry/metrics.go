package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"example.com/wedge/pacer"
	"example.com/wedge/repro/series"
)

// metrics sends what is counted of a run. The SDK reads it through a producer: it was counted already.
type metrics struct {
	o        *Options
	to       *otlpmetrichttp.Exporter
	reader   *metric.ManualReader
	shutdown func(context.Context) error // of the provider
	started  time.Time
}

var _ metric.Producer = (*metrics)(nil)

func newMetrics(o *Options, to *otlpmetrichttp.Exporter, r *resource.Resource, started time.Time) *metrics {
	m := &metrics{o: o, to: to, started: started}
	m.reader = metric.NewManualReader(metric.WithProducer(m))
	m.shutdown = metric.NewMeterProvider(metric.WithReader(m.reader), metric.WithResource(r)).Shutdown
	return m
}

// send sends the counts as they stand. Before the run begins there are none.
func (m *metrics) send(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	var all metricdata.ResourceMetrics
	switch err := m.reader.Collect(ctx, &all); {
	case errors.Is(err, errNotBegun):
		return nil
	case err != nil:
		return err
	}
	return m.to.Export(ctx, &all)
}

func (m *metrics) close(ctx context.Context) {
	_ = m.shutdown(ctx) // nothing is left to send
	_ = m.to.Shutdown(ctx)
}

// errNotBegun says that nothing is counted yet.
var errNotBegun = errors.New("telemetry: the run has not begun")

// Produce implements metric.Producer.
func (m *metrics) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	c, ok := m.o.Counts()
	if !ok {
		return nil, errNotBegun
	}
	scope := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: "wedge", Version: m.o.Version}}
	scope.Metrics = m.of(&c, time.Now())
	return []metricdata.ScopeMetrics{scope}, nil
}

// of returns the metrics of what was counted.
func (m *metrics) of(c *series.Cumulative, now time.Time) []metricdata.Metrics {
	p := &points{start: m.started, now: now}
	provider := attribute.String("gen_ai.provider.name", m.o.Provider)
	chat := []attribute.KeyValue{attribute.String("gen_ai.operation.name", "chat"), provider}
	if m.o.Model != "" {
		chat = append(chat, attribute.String("gen_ai.request.model", m.o.Model))
	}
	failed := attribute.String("error.type", otherError)
	agent := []attribute.KeyValue{attribute.String("gen_ai.operation.name", "invoke_agent"), provider}
	tool := []attribute.KeyValue{attribute.String("gen_ai.operation.name", "execute_tool")}

	p.histogram("gen_ai.client.operation.duration", "s", "How long calls took", bucket(c.Call, chat...), bucket(c.CallFailed, with(chat, failed)...))
	p.histogram("gen_ai.client.operation.time_to_first_chunk", "s", "How long until the first output came", bucket(c.TTFT, chat...))
	p.histogram("gen_ai.client.operation.time_per_output_chunk", "s", "How long between outputs", bucket(c.InterToken, chat...))
	p.histogram("gen_ai.client.token.usage", "{token}", "Tokens of a call",
		bucket(c.InputTokens, with(chat, attribute.String("gen_ai.token.type", "input"))...),
		bucket(c.OutputTokens, with(chat, attribute.String("gen_ai.token.type", "output"))...))
	p.histogram("gen_ai.invoke_agent.duration", "s", "How long tasks took", bucket(c.Task, agent...), bucket(c.TaskFailed, with(agent, failed)...))
	p.histogram("gen_ai.execute_tool.duration", "s", "How long tools took", bucket(c.Tool, tool...))
	p.histogram("wedge.pacer.wait.duration", "s", "How long calls waited in the pacer",
		bucket(c.SlotWait, attribute.String("wedge.stage", "slot")), bucket(c.RateWait, attribute.String("wedge.stage", "rate")),
		bucket(c.Backoff, attribute.String("wedge.stage", "backoff")))
	p.counters(c)
	p.levels(c)
	return p.all
}

// with returns attributes and one more.
func with(list []attribute.KeyValue, more attribute.KeyValue) []attribute.KeyValue {
	return append(list[:len(list):len(list)], more)
}

// counters are what only rises. Names are those of /metrics (package repro/live), as the mapping to Prometheus makes them.
func (p *points) counters(c *series.Cumulative) {
	by := func(key string) func(value string, n int) count {
		return func(value string, n int) count { return count{n, []attribute.KeyValue{attribute.String(key, value)}} }
	}
	outcome := by("wedge.outcome")
	p.sum("wedge.tasks.ended", "{task}", "Tasks that have ended", outcome("done", c.Tasks.Done), outcome("failed", c.Tasks.Failed))
	p.sum("wedge.calls.ended", "{call}", "Calls that have ended", outcome("ok", c.Calls.OK), outcome("failed", c.Calls.Failed))
	a := &c.Attempts
	p.sum("wedge.attempts.ended", "{attempt}", "Attempts that have ended", outcome("ok", a.OK), outcome("timeout", a.Timeout), outcome("status", a.Status),
		outcome("network", a.Network), outcome("cancelled", a.Cancelled), outcome("lost", a.Lost), outcome("rejected", a.Rejected), outcome("shed", a.Shed))
	p.sum("wedge.attempts", "{attempt}", "Attempts that have begun", count{n: a.Begun})
	p.sum("wedge.tokens.received", "{token}", "Output of attempts that have ended", count{n: c.Tokens.Received})
	p.sum("wedge.tokens.wasted", "{token}", "Output that is part of no answer", count{n: c.Tokens.Wasted})
	p.sum("wedge.steps", "{step}", "Steps that agents have finished", count{n: c.Steps})
	p.sum("wedge.stalls", "{stall}", "Stalls", count{n: c.Stalls.Begun})
	var timeouts, statuses []count
	limit, status := by("wedge.limit"), by("http.response.status_code")
	for _, t := range c.Timeouts {
		timeouts = append(timeouts, limit(t.Name, t.N))
	}
	for _, t := range c.Statuses {
		statuses = append(statuses, status(t.Name, t.N))
	}
	p.sum("wedge.timeouts", "{attempt}", "Attempts that a time limit ended", timeouts...)
	p.sum("wedge.error_answers", "{attempt}", "Attempts that were answered with an error", statuses...)
	p.seconds("wedge.stall.duration", "For how long no step had finished, of stalls", length{c.Stalls.S, nil})
	var stages []length
	for stage := range pacer.StageCount {
		if s := c.StageS.Of(pacer.Stage(stage)); s > 0 {
			stages = append(stages, length{s, []attribute.KeyValue{attribute.String("wedge.stage", pacer.Stage(stage).String())}})
		}
	}
	p.seconds("wedge.stage.duration", "Time of calls in each stage, added up over calls", stages...)
}

// levels are values as they stand now.
func (p *points) levels(c *series.Cumulative) {
	one := func(v float64) []level { return []level{{v: v}} }
	p.gauge("wedge.agents", "{agent}", "Agents at work", one(float64(c.Agents)))
	var stages, servers []level
	for _, s := range c.ByStage {
		stages = append(stages, level{float64(s.N), []attribute.KeyValue{attribute.String("wedge.stage", s.Name)}})
	}
	p.gauge("wedge.calls.in_flight", "{call}", "Calls under way, by stage", stages)
	if c.Slots != nil {
		p.gauge("wedge.slots.in_use", "{slot}", "Slots of the pacer that are held, over the latest window", one(c.Slots.Mean))
		p.gauge("wedge.slots.limit", "{slot}", "Slots of the pacer; 0: no limit", one(float64(c.Slots.Limit)))
	}
	p.gauge("wedge.step.age", "s", "For how long no step has finished, although there is work", one(c.StalledS))
	for _, g := range c.Gauges {
		servers = append(servers, level{g.Value, []attribute.KeyValue{attribute.String("wedge.gauge", g.Name)}})
	}
	p.gauge("wedge.server.reading", "1", "The servers' gauges as they were last read", servers)
}
