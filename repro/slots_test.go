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
