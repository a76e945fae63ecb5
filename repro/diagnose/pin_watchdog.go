package diagnose

import "fmt"

// pinWatchdog: as inflightPin, but something releases the entries after a while, so that stalls come
// and go.
func pinWatchdog() cause {
	return cause{
		name: CausePinWatchdog, outcome: Slow, layer: LayerPrefill,
		judge: judgePinWatchdog,
		because: func(r *reading) string {
			p := &r.pins
			return fmt.Sprintf("Prefill stands still for up to %s at a time with entries of requests that their clients have left in its inflight queue, and then goes on: something, such as a watchdog, releases them. The stalls come and go with that (%s of %s in this one).",
				secs(p.longest), secs(min(p.inStall, r.now.StalledFor)), secs(r.now.StalledFor))
		},
		next: func(r *reading) []string {
			return []string{
				"search the prefill log for what happens when prefill goes on again: a watchdog that releases entries says so, perhaps in other words than expected",
				"raise the time limits that make agents leave a request before its first token: each one that fires there pins an entry until it is released",
				"update SGLang if it is older than the fix of aborts in the inflight queue (#24522): the watchdog only hides the fault",
			}
		},
	}
}

func judgePinWatchdog(r *reading, j *judgement) {
	if !r.pinsMayBe(j) {
		return
	}
	p := &r.pins
	if p.ended == 0 {
		j.open(0.3*r.share(r.stuck()), "prefill_inflight and prefill_tokens_total over some minutes: does prefill go on by itself, and after how long?")
		r.pinObservations(j)
		j.con("no entry was seen to be released so far")
		return
	}
	part := 0.0
	if r.now.StalledFor > 0 {
		part = min(1, p.inStall.Seconds()/r.now.StalledFor.Seconds())
	}
	// A third of the stall spent so is its explanation: after the release answers take their time.
	j.support(0.97 * min(1, 3*part))
	j.beside = fmt.Sprintf("prefill stood still for %s with pinned entries and went on", secs(p.longest))
	r.pinObservations(j)
	j.pro("it went on by itself %s", times(p.ended))
	if p.open {
		j.pro("and stands still again")
	}
}
