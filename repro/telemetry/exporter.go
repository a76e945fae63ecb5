package telemetry

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"example.com/wedge/harness/record"
	"example.com/wedge/repro/series"
)

// Options say where to send to, and what run it is.
type Options struct {
	Endpoint string // URL of a receiver, such as http://127.0.0.1:4318
	// Wait lets the run wait when the receiver is slow, so that nothing is lost: right in virtual time. Otherwise
	// what does not fit into the queue is dropped.
	Wait bool
	// Warn is told, in one line, that the receiver does not answer; once, and from a goroutine of the exporter. nil:
	// nobody is.
	Warn func(line string)
	// Counts returns what is counted of the run, for metrics; ok is false while that is not known. It is called from
	// a goroutine of the exporter. nil: there are no metrics.
	Counts func() (c series.Cumulative, ok bool)

	Scenario string // name
	Seed     uint64
	Clock    string  // "virtual" or "wall"
	Scale    float64 // of the wall clock; 0: not told
	Version  string  // of wedge
	Model    string  // that calls ask for; empty: not told
	Provider string  // of the model, as gen_ai.provider.name; empty: "openai", whose interface is spoken
	Server   string  // base URL of a real server; empty: the servers are simulated
}

// Stats are what an exporter has done.
type Stats struct {
	Spans        int   // sent
	SpansLost    int   // not sent, since the receiver did not answer
	LinesDropped int   // of the journal, since they came faster than they could be sent
	Err          error // the first failure to send, or in the journal; nil: there was none
}

// Bounds of what an exporter holds, and of how long it waits.
const (
	linesMax     = 16 << 10
	batchMax     = 512 // spans
	sendEvery    = time.Second
	metricsEvery = 10 * time.Second
	sendLimit    = 5 * time.Second  // for one request
	pauseFor     = 5 * time.Second  // after one that failed
	closeLimit   = 10 * time.Second // for all that is left at the end
)

// Exporter sends what happens in one run. Make one with [New].
type Exporter struct {
	o       Options
	to      endpoint
	lines   chan []byte
	stop    chan struct{} // closed: no more lines will come
	done    chan struct{} // closed: all is sent
	spare   chan []byte   // room for lines
	dropped atomic.Int64  // lines, all of them
	cancel  context.CancelFunc

	// Of the goroutine.
	ctx      context.Context
	reader   *record.Reader
	spans    *spans
	traces   *otlptrace.Exporter
	metrics  *metrics
	told     int64 // of dropped: what the reader knows of
	broken   bool  // the journal cannot be read
	closing  time.Time
	paused   time.Time // nothing is sent before this
	counted  time.Time // when metrics were sent
	stats    Stats
	finished Stats // stats, once done is closed
}

// Check says what is wrong with the URL of a receiver, or with the headers for it, in one line that quotes no secret; nil
// if it will do. Nothing is sent.
func Check(endpoint string) error {
	if _, err := parseEndpoint(endpoint); err != nil {
		return err
	}
	return checkHeaders()
}

// New returns an exporter. The error, which is of one line and quotes no secret, is for a URL or headers that will not
// do. Nothing is sent before the first line comes. Close must follow.
func New(o Options) (*Exporter, error) {
	to, err := parseEndpoint(o.Endpoint)
	if err != nil {
		return nil, err
	}
	if err := checkHeaders(); err != nil {
		return nil, err
	}
	if o.Provider == "" {
		o.Provider = "openai"
	}
	e := &Exporter{
		o: o, to: to, lines: make(chan []byte, linesMax), spare: make(chan []byte, linesMax), stop: make(chan struct{}), done: make(chan struct{}),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.traces = otlptracehttp.NewUnstarted(
		otlptracehttp.WithEndpointURL(to.traces), otlptracehttp.WithTimeout(sendLimit), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
		otlptracehttp.WithProxy(proxyOf),
	)
	if err := e.traces.Start(e.ctx); err != nil {
		return nil, errors.New("the exporter of spans does not start: " + e.plain(err))
	}
	started := time.Now()
	e.spans = newSpans(&e.o, started)
	e.reader = record.NewReader("events.jsonl", e.spans.handler())
	if o.Counts != nil {
		sender, err := otlpmetrichttp.New(e.ctx,
			otlpmetrichttp.WithEndpointURL(to.metrics), otlpmetrichttp.WithTimeout(sendLimit), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}),
			otlpmetrichttp.WithProxy(proxyOf),
		)
		if err != nil {
			return nil, errors.New("the exporter of metrics does not start: " + e.plain(err))
		}
		e.metrics = newMetrics(&e.o, sender, e.spans.resource, started)
	}
	e.counted = started
	go e.run()
	return e, nil
}

// Write takes a line of the journal; what it is given is the caller's again afterwards. It never fails. It is to be
// called by one goroutine at a time.
func (e *Exporter) Write(line []byte) (int, error) {
	var room []byte
	select {
	case room = <-e.spare:
	default:
	}
	kept := append(room[:0], line...)
	if e.o.Wait {
		select {
		case e.lines <- kept:
		case <-e.done: // nobody reads any more
		}
		return len(line), nil
	}
	select {
	case e.lines <- kept:
	default:
		e.dropped.Add(1)
	}
	return len(line), nil
}

// Close sends what is left, which takes ten seconds at most, and returns what was done. No Write may follow.
func (e *Exporter) Close() Stats {
	select {
	case <-e.stop:
	default:
		close(e.stop)
	}
	select {
	case <-e.done:
	case <-time.After(closeLimit):
		e.cancel()
		<-e.done
	}
	e.cancel()
	return e.finished
}

// run is the goroutine that does all the work.
func (e *Exporter) run() {
	defer close(e.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		select {
		case line := <-e.lines:
			e.take(line)
		case <-tick.C:
			e.send()
		case <-e.stop:
			e.finish()
			return
		}
	}
}

// take puts a line to those before it.
func (e *Exporter) take(line []byte) {
	if e.broken {
		return
	}
	if n := e.dropped.Load(); n > e.told {
		// Some were dropped between those taken and now; which is not known, and does not matter.
		e.fed(e.reader.Feed(fmt.Appendf(nil, `{"lost_lines":%d}`, n-e.told)))
		e.told = n
	}
	e.fed(e.reader.Feed(line))
	select {
	case e.spare <- line:
	default:
	}
	if len(e.spans.ended) >= batchMax {
		e.send()
	}
}

// fed notes what the reader thinks of a line.
func (e *Exporter) fed(err error) {
	if err != nil && !e.broken {
		e.broken = true
		e.fail(err)
	}
}

// send sends the spans that have ended, and metrics if it is time.
func (e *Exporter) send() {
	now := time.Now()
	ended := e.spans.ended
	e.spans.ended = nil
	if now.Before(e.paused) {
		e.stats.SpansLost += len(ended)
		return
	}
	for len(ended) > 0 {
		batch := ended[:min(batchMax, len(ended))]
		ended = ended[len(batch):]
		if !e.sendSpans(batch) {
			e.stats.SpansLost += len(ended)
			return
		}
	}
	if e.metrics != nil && (now.Sub(e.counted) >= metricsEvery || !e.closing.IsZero()) {
		e.counted = now
		e.sent(e.metrics.send(e.ctx))
	}
}

func (e *Exporter) sendSpans(batch []sdktrace.ReadOnlySpan) bool {
	ctx, cancel := context.WithTimeout(e.ctx, sendLimit)
	defer cancel()
	if !e.sent(e.traces.ExportSpans(ctx, batch)) {
		e.stats.SpansLost += len(batch)
		return false
	}
	e.stats.Spans += len(batch)
	return true
}

// sent notes how sending went.
func (e *Exporter) sent(err error) bool {
	if err == nil {
		return true
	}
	e.paused = time.Now().Add(pauseFor)
	e.fail(err)
	return false
}

// fail keeps the first failure, and tells of it.
func (e *Exporter) fail(err error) {
	if e.stats.Err != nil {
		return
	}
	e.stats.Err = errors.New(e.plain(err))
	if e.o.Warn != nil {
		e.o.Warn(fmt.Sprintf("--otlp: %s: %v; the run goes on", e.to.shown, e.stats.Err))
	}
}

// finish takes what is in the queue, ends what is open, and sends all of it.
func (e *Exporter) finish() {
	for {
		select {
		case line := <-e.lines:
			e.take(line)
			continue
		default:
		}
		break
	}
	e.reader.Close()
	e.spans.close(e.reader.Latest())
	e.closing = time.Now()
	e.send()
	ctx, cancel := context.WithTimeout(e.ctx, sendLimit)
	defer cancel()
	_ = e.traces.Shutdown(ctx) // all is sent
	if e.metrics != nil {
		e.metrics.close(ctx)
	}
	e.stats.LinesDropped = int(e.dropped.Load())
	e.finished = e.stats
}
