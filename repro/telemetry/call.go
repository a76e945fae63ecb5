package telemetry

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"example.com/wedge/harness/record"
	"example.com/wedge/pacer"
)

// call makes the spans of a call: itself, its attempts, and its waits.
func (s *spans) call(c *record.Call) {
	x := span{
		parent: s.parentOf(c.Agent), name: "chat", kind: trace.SpanKindClient, from: c.From, to: c.To, open: c.Open, err: c.Err,
		attributes: append([]attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "chat"), attribute.Bool("gen_ai.request.stream", true),
			attribute.String("gen_ai.agent.name", c.Agent), attribute.String("gen_ai.conversation.id", c.Task),
			attribute.String("wedge.call.id", c.ID), attribute.Int("wedge.round", c.Round), attribute.Int("wedge.step", c.Step),
			attribute.Int("wedge.attempts", len(c.Attempts)),
		}, s.common...),
	}
	if s.o.Model != "" {
		x.name = "chat " + s.o.Model
	}
	if c.OK {
		x.attributes = append(x.attributes, attribute.Int("gen_ai.usage.output_tokens", c.Tokens))
	}
	if first, ok := timeToFirstChunk(c); ok {
		x.attributes = append(x.attributes, attribute.Float64("gen_ai.response.time_to_first_chunk", first.Seconds()))
	}
	x.attributes = append(x.attributes, stageSeconds(c)...)
	if !c.OK && !c.Open {
		x.errType = otherError
		if n := len(c.Attempts); n > 0 {
			if t := errorType(&c.Attempts[n-1]); t != "" {
				x.errType = t
			}
		}
	}
	own := s.emit(x)
	for i := range c.Attempts {
		s.attempt(own, c, &c.Attempts[i])
	}
	for _, w := range c.Spans {
		switch w.Stage {
		case pacer.StageSlot, pacer.StageRate, pacer.StageBackoff:
			if w.To > w.From {
				s.emit(span{
					parent: own, name: "wait " + w.Stage.String(), kind: trace.SpanKindInternal, from: w.From, to: w.To,
					attributes: []attribute.KeyValue{attribute.String("wedge.stage", w.Stage.String())},
				})
			}
		}
	}
}

// timeToFirstChunk is from when the attempt that brought the answer began until output came.
func timeToFirstChunk(c *record.Call) (time.Duration, bool) {
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Outcome != pacer.AttemptOK {
			continue
		}
		for _, s := range c.Spans {
			if s.Stage == pacer.StageStream && s.Attempt == a.N {
				return s.From.Sub(a.From), s.From >= a.From
			}
		}
	}
	return 0, false
}

// stageSeconds says how long a call was in each stage.
func stageSeconds(c *record.Call) []attribute.KeyValue {
	var in [pacer.StageCount]time.Duration
	for _, s := range c.Spans {
		in[s.Stage] += s.To.Sub(s.From)
	}
	var out []attribute.KeyValue
	for stage, took := range in {
		if took > 0 {
			out = append(out, attribute.Float64("wedge.stage."+pacer.Stage(stage).String()+".duration", took.Seconds()))
		}
	}
	return out
}

// attempt makes the span of an attempt, with when its headers and its first output came.
func (s *spans) attempt(call trace.SpanContext, c *record.Call, a *record.Attempt) {
	x := span{
		parent: call, name: "attempt " + strconv.Itoa(a.N), kind: trace.SpanKindClient, from: a.From, to: a.To, open: a.Open, err: a.Err, errType: errorType(a),
		attributes: []attribute.KeyValue{attribute.Int("wedge.attempt.number", a.N)},
	}
	add := func(name, value string) {
		if value != "" {
			x.attributes = append(x.attributes, attribute.String(name, value))
		}
	}
	add("wedge.request.id", a.ID)
	add("wedge.attempt.outcome", a.Outcome)
	add("wedge.limit", a.Limit)
	add("wedge.attempt.stop", a.Stop)
	if a.Status != 0 {
		x.attributes = append(x.attributes, attribute.Int("http.response.status_code", a.Status))
	}
	if a.Tokens != 0 {
		x.attributes = append(x.attributes, attribute.Int("wedge.attempt.tokens", a.Tokens))
	}
	if a.Again {
		x.attributes = append(x.attributes, attribute.Float64("wedge.attempt.again_after", a.Delay.Seconds()))
	}
	if a.Hedge {
		x.attributes = append(x.attributes, attribute.Bool("wedge.attempt.hedge", true))
	}
	x.events = milestones(c, a)
	s.emit(x)
}

// milestones are the stages that an attempt has reached.
func milestones(c *record.Call, a *record.Attempt) (out []event) {
	names := [pacer.StageCount]string{pacer.StageHeaders: "wedge.sent", pacer.StageFirstToken: "wedge.headers", pacer.StageStream: "wedge.first_token"}
	var seen [pacer.StageCount]bool
	for _, s := range c.Spans {
		if s.Attempt == a.N && names[s.Stage] != "" && !seen[s.Stage] {
			seen[s.Stage] = true
			out = append(out, event{names[s.Stage], min(max(s.From, a.From), a.To)})
		}
	}
	return out
}
