package repro_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
	"example.com/wedge/repro"
)

// TestLineTellsTheSame: with slots that calls line up for, instead of a semaphore, nothing about a run is
// different as long as it is first come first served, down to its trace and verdict.
func TestLineTellsTheSame(t *testing.T) {
	for _, name := range []string{"starvation", "nested-slot", "slot-leak", "timeout-cascade"} {
		plain, document, events := virtualRun(t, lookup(t, name), repro.Options{})
		lined, d, e := virtualRun(t, lookup(t, name, "pacer.queue.order=fifo"), repro.Options{})
		if plain.TraceHash != lined.TraceHash {
			t.Errorf("%s: trace hash %s, want %s", name, lined.TraceHash, plain.TraceHash)
		}
		if !bytes.Equal(document, d) {
			t.Errorf("%s: the verdict differs:\n%s\n%s", name, d, document)
		}
		if !bytes.Equal(events, e) {
			t.Errorf("%s: events.jsonl differs at %s", name, firstDifference(e, events))
		}
	}
}

// Runs with a moving limit and with each order are the same every time, whatever the number of cores,
// and come to their end.
func TestSlotsAreDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var variants [][]string
	for _, rule := range concurrency.Rules() {
		set := []string{"pacer.limit.rule=" + rule}
		if rule != concurrency.Static {
			set = append(set, "pacer.limit.signal=first_token", "pacer.limit.min=4")
		}
		variants = append(variants, set)
	}
	for _, order := range queue.Orders() {
		set := []string{"pacer.queue.order=" + order, "pacer.queue.wait=120s", "policy.retry_shed=true", "policy.max_attempts=50"}
		if order == queue.AdaptiveLIFO {
			set = append(set, "pacer.queue.lifo_above=4")
		}
		variants = append(variants, set)
	}
	if testing.Short() {
		variants = variants[:1]
	}
	for _, set := range variants {
		var first *repro.Result
		for _, cores := range []int{1, 2} {
			runtime.GOMAXPROCS(cores)
			r, _, _ := virtualRun(t, lookup(t, "starvation", slices.Concat(set, []string{"workflow.rounds=3"})...), repro.Options{})
			if first == nil {
				first = r
			}
			if r.TraceHash != first.TraceHash {
				t.Errorf("%v: trace hash %s with 2 cores, %s with 1", set, r.TraceHash, first.TraceHash)
			}
		}
	}
}

// TestPermitAxis: the longer a call holds its slot, the longer calls wait for one, and the fewer are in
// flight; an agent that keeps it between its calls leaves it idle. When the servers work on for clients
// that have left, they have more in flight than there are slots out, however slots are held.
func TestPermitAxis(t *testing.T) {
	points := []struct {
		name string
		sets []string
	}{
		{"none, a rate only", []string{"pacer.slots=0", "pacer.requests_per_second=10"}},
		{"start", []string{"pacer.hold=start"}},
		{"first_token", []string{"pacer.hold=first_token"}},
		{"stream", []string{"pacer.hold=stream"}},
		{"agent", []string{"pacer.hold=agent"}},
	}
	wait, flight := -1.0, 1000.0
	for _, p := range points {
		r := measured(t, "starvation", append(p.sets, "workflow.rounds=2")...)
		t.Logf("%s: %.1f s for a slot, %.1f in flight", p.name, r.Split.SlotS, r.Control.InflightClientMean)
		if p.name != "agent" { // whose calls but the first have a slot already
			if r.Split.SlotS < wait {
				t.Errorf("%s: %.1f s for a slot, less than %.1f s if it is held for shorter", p.name, r.Split.SlotS, wait)
			}
			wait = r.Split.SlotS
		}
		if r.Control.InflightClientMean > 1.01*flight { // which calls come first is not the same
			t.Errorf("%s: %.1f in flight, more than %.1f if it is held for shorter", p.name, r.Control.InflightClientMean, flight)
		}
		flight = r.Control.InflightClientMean
	}
	if wait < 10 {
		t.Errorf("held until the end: %.1f s for a slot, want a long wait", wait)
	}
	for _, p := range points[1:4] {
		r := measured(t, "ignored-abort", p.sets...)
		t.Logf("%s: %.1f in flight at the clients, %.1f at the servers", p.name, r.Control.InflightClientMean, r.Control.InflightServerMean)
		if c := r.Control; c.InflightServerMean < c.InflightClientMean+1 {
			t.Errorf("held until %s: %.1f in flight at the servers, %.1f at the clients, want a gap of zombies", p.name, c.InflightServerMean, c.InflightClientMean)
		}
	}
}
