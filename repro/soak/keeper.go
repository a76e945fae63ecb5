package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/threshold"
)

// keeper keeps the books of a soak while it runs: windows, readings of the process, stalls, and the files with them.
// Its methods are called by the run, and by the goroutine that brings lines to the disk.
type keeper struct {
	s          *repro.Scenario // as a soak runs it
	o          Options
	lasts      time.Duration // at most
	thresholds []*threshold.Expr
	began      time.Time // on the machine's clock
	stop       context.CancelCauseFunc

	// Set before the run begins.
	inside  repro.Inside
	meter   *series.Meter
	sampler *Sampler
	windows *bundle.Log
	process *bundle.Log

	mu       sync.Mutex     // guards what follows; the monitor is never taken with it held
	bundle   *bundle.Bundle // nil: nothing is written. It does not change once the run has begun
	history  history
	readings readings
	stalls   tally
	measured *measured // nil: nothing has been measured
	savedAt  time.Time // when soak.json was replaced last
	failure  error     // a bug: windows that do not merge, or are no JSON
	warned   bool
	cutOff   bool    // an interrupt has come
	result   *Result // nil: the run has not ended

	saving sync.Mutex // held while soak.json is replaced; taken before mu

	flushing chan struct{} // closed to end the goroutine that flushes
	flushed  sync.WaitGroup
	once     sync.Once
}

func newKeeper(s *repro.Scenario, o Options) (*keeper, error) {
	k := &keeper{s: s, o: o, lasts: s.Soak.Lasts(s.Horizon), began: time.Now(), flushing: make(chan struct{})}
	for i, text := range s.Soak.Thresholds {
		e, err := threshold.Parse(text)
		if err != nil {
			return nil, &repro.InputError{Source: s.Name, Field: fmt.Sprintf("soak.thresholds[%d]", i), Msg: err.Error()}
		}
		k.thresholds = append(k.thresholds, e)
	}
	k.history = newHistory(s.Soak.WarmUp.Seconds())
	k.stalls.patienceS = s.Watchdog.StallAfter.Seconds()
	if o.resumed != nil {
		return k, o.resumed.carry(k)
	}
	return k, nil
}

// tap makes the meter.
func (k *keeper) tap(in repro.Inside) repro.Tap {
	k.inside = in
	k.meter = series.NewMeter(in.World, series.Options{
		StallAfter:  k.s.Watchdog.StallAfter,
		Stalls:      in.Stalls,
		FirstWindow: k.history.totals.Windows + 1,
		Slots: func() (used, limit int) {
			o := in.Occupancy()
			return o.SlotsInUse, o.SlotsMax
		},
	})
	var bodies func() int64
	if b, ok := in.Backend.(interface{ OpenBodies() int64 }); ok {
		bodies = b.OpenBodies
	}
	k.sampler = NewSampler(bodies)
	if k.o.Started != nil {
		k.o.Started(&Monitor{k})
	}
	return repro.Tap{Calls: k.meter.CallObserver(), Agents: k.meter.AgentObserver()}
}

// A file that keeps room for soak.json, so that how a soak ended can be written to a disk that is full.
const (
	reserveFile  = ".reserve"
	reserveBytes = 256 << 10
)

// opened is told of the bundle.
func (k *keeper) opened(b *bundle.Bundle) {
	if b == nil {
		return
	}
	if k.o.resumed != nil {
		k.o.resumed.clear(b)
	}
	// These two are short, and whole or of no use: they are not rotated.
	k.windows = b.OpenLog(WindowsLog, bundle.LogOptions{Append: k.wall()})
	k.process = b.OpenLog(ProcessLog, bundle.LogOptions{Append: true})
	b.WriteFile(reserveFile, make([]byte, reserveBytes))
	k.mu.Lock()
	k.bundle = b
	k.mu.Unlock()
	k.save()
	k.flushed.Go(k.flush)
}

// wall says whether the soak is on the machine's clock, so that its logs cannot be replayed.
func (k *keeper) wall() bool { return k.o.Run.Clock == repro.ClockWall }

func (k *keeper) gauges(now sim.Instant, gauges []harness.Gauge) { k.meter.Gauges(now, gauges) }

func (k *keeper) arrived(agent string) { k.meter.TaskArrived(agent) }

func (k *keeper) judged(episode int, v diagnose.Verdict) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stalls.see(episode, v)
}

// tick ends a window. The last one is ended with the run, when it is known which calls were open.
func (k *keeper) tick(now sim.Instant) {
	if time.Duration(now) >= k.lasts {
		return
	}
	k.closeWindow(now, series.Extra{})
	k.look() // also here: in virtual time a soak may be over before a second has gone by
	k.mu.Lock()
	due := time.Since(k.savedAt) >= time.Second
	k.mu.Unlock()
	if due {
		k.save()
	}
}

func (k *keeper) closeWindow(now sim.Instant, extra series.Extra) {
	w := k.inside.World
	w.Lock()
	window := k.meter.Close(now, extra)
	w.Unlock()
	reading := k.read(now)
	k.mu.Lock()
	k.readings.add(reading)
	k.keep(k.history.add(&window))
	k.mu.Unlock()
	k.line(k.windows, window)
	k.line(k.process, reading)
}

// collections is about how many garbage collections a soak in virtual time is made to do.
const collections = 100

// read takes a reading of the process. In virtual time hours pass between two collections, each of which finds what a
// moment happened to leave: there one is done first, so that readings say what is kept.
func (k *keeper) read(now sim.Instant) series.Process {
	every := time.Duration(1)
	if n := k.lasts / k.s.Soak.Window / collections; n > 1 {
		every = n
	}
	if !k.wall() && time.Duration(now)/k.s.Soak.Window%every == 0 {
		runtime.GC()
	}
	return k.sampler.Read(now)
}

// keep keeps the first failure of a kind that does not happen. The lock is held.
func (k *keeper) keep(err error) {
	if k.failure == nil {
		k.failure = err
	}
}

// line appends a line to a log.
func (k *keeper) line(log *bundle.Log, v any) {
	if log == nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		k.mu.Lock()
		k.keep(err)
		k.mu.Unlock()
		return
	}
	_, _ = log.Write(append(text, '\n')) // a log keeps its errors
}

// save replaces soak.json by what is known so far.
func (k *keeper) save() {
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	if k.result != nil {
		k.mu.Unlock()
		return // which has been written
	}
	k.savedAt = time.Now()
	doc := k.document()
	k.mu.Unlock()
	k.bundle.WriteJSON(DocumentFile, &doc)
}

// interrupt is told that the run is about to be cut off.
func (k *keeper) interrupt() {
	k.mu.Lock()
	k.cutOff = true
	opened := k.bundle != nil
	k.mu.Unlock()
	if opened {
		k.save()
	}
}

// flushEvery is how much is lost at most if the process is killed.
const flushEvery = time.Second

// flush brings lines to the disk, each second of the machine's clock, and sees whether that works.
func (k *keeper) flush() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-k.flushing:
			return
		case <-tick.C:
			k.bundle.Flush()
			k.look()
		}
	}
}

// look tells once that the files cannot be written, and ends the run if that is wanted.
func (k *keeper) look() {
	err := k.bundle.Err()
	k.mu.Lock()
	news := err != nil && !k.warned
	k.warned = k.warned || news
	k.mu.Unlock()
	if !news {
		return
	}
	// What does not follow from the seed is no reason to go on with a replay: nothing more would be written.
	stops := k.s.Soak.OnDiskError == repro.Stop || k.o.resumed != nil && !k.wall()
	if k.o.Warn != nil {
		then := "the soak goes on"
		if stops {
			then = "the soak ends"
		}
		k.o.Warn(fmt.Sprintf("%v; %s", err, then))
	}
	if stops {
		k.stop(errFilesFailed)
	}
}

// stopFlushing ends the goroutine that flushes, and waits for it.
func (k *keeper) stopFlushing() {
	k.once.Do(func() { close(k.flushing) })
	k.flushed.Wait()
}

// ended is told of the result, while the bundle is open.
func (k *keeper) ended(r *repro.Result) {
	k.stopFlushing()
	end := r.Report.End
	if end.At.Seconds() > k.history.totals.LastS {
		k.closeWindow(end.At, series.Extra{Open: end.Calls})
	}
	k.bundle.Flush()
	k.look()
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(r.Episodes); n > 0 && r.Episodes[n-1].Open() && k.stalls.episode != 0 {
		k.stalls.open = r.Episodes[n-1] // judged again, by how things stood at the end
	}
	windows, err := k.history.all()
	k.keep(err)
	k.result = &Result{Windows: windows, Process: k.readings.kept, Run: r}
	k.result.Document = k.document()
	k.bundle.RemoveAll(reserveFile)
	k.bundle.WriteJSON(DocumentFile, &k.result.Document)
}
