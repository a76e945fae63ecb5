package sim

import "slices"

// Party is somebody at a waiting object: who holds a part of it or waits for it, for what, since
// when.
type Party struct {
	Name  string  `json:"name"`           // the agent or process
	What  string  `json:"what,omitempty"` // what it does with it, such as the id of a call
	Since Instant `json:"since_ns"`       // start of the hold or wait
}

// ObjectState is what a waiting object looked like at one instant.
type ObjectState struct {
	Kind     string  `json:"kind"` // "semaphore", "queue", "latch" or "pipe"
	Name     string  `json:"name"`
	Capacity int     `json:"capacity"` // permits of a semaphore, bound of a queue (0: none), bytes of a pipe
	InUse    int     `json:"in_use"`   // permits held, items queued, bytes in a pipe
	Holders  []Party `json:"holders"`  // of a semaphore's permits, in the order of their slots
	Waiters  []Party `json:"waiters"`  // first come first
	// GivenBackTwice counts the releases of a semaphore's permits that had been given back already. Each
	// was an error and changed nothing.
	GivenBackTwice int `json:"given_back_twice,omitempty"`
}

// ProcessState is what a live process was doing at one instant.
type ProcessState struct {
	Name     string  `json:"name"`
	WaitsFor string  `json:"waits_for"` // such as "semaphore pacer.slots"; empty if it does not wait
	Since    Instant `json:"since_ns"`  // start of that wait; 0 if it does not wait
}

// object is a waiting object with a name.
type object interface{ state() ObjectState }

// without takes o off a list, from the end of which it is seldom far: what comes and goes is younger than
// what stays.
func without(objects []object, o object) []object {
	for i, other := range slices.Backward(objects) {
		if other == o {
			return slices.Delete(objects, i, i+1)
		}
	}
	return objects
}

func states(objects []object) []ObjectState {
	out := make([]ObjectState, len(objects))
	for i, o := range objects {
		out[i] = o.state()
	}
	return out
}

func (l *waitList) parties() []Party {
	out := make([]Party, 0, l.n)
	for wt := l.head; wt != nil; wt = wt.next {
		who := wt.who
		if who.Name == "" && wt.proc != nil {
			who.Name = wt.proc.name
		}
		out = append(out, who)
	}
	return out
}
