package waits

import (
	"strings"

	"example.com/wedge/harness/goroutine"
)

// Of a wait that no rule knows, so many calls outwards are looked at for a name
// that says what it is for.
const acquireDepthMax = 4

// acquireNames start the names of functions that wait for a slot, in lower case.
// Whoever writes a semaphore calls it so.
var acquireNames = []string{"acquire", "gettoken", "taketoken", "getslot", "takeslot", "waitslot", "waitforslot", "reserveslot", "checkout"}

// byName takes a wait inside a function with such a name for one for a slot.
func (s *shape) byName(frames []goroutine.Frame) {
	if s.role != plain || s.class != ProgramEnding || s.place < 0 {
		return
	}
	switch s.kind {
	case Channel, Select, Cond:
	default:
		return
	}
	for i := s.place; i < len(frames) && i < s.place+acquireDepthMax; i++ {
		if !isAcquire(frames[i].Func) {
			continue
		}
		s.role, s.waits = slot, "a slot, as the function's name says"
		if s.kind != Semaphore {
			s.kind, s.address, s.back = Semaphore, i, 0
		}
		if s.stage == "" {
			s.stage = "slot"
		}
		s.slotPlace(frames, i)
		return
	}
}

func isAcquire(name string) bool {
	method := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, start := range acquireNames {
		if strings.HasPrefix(method, start) {
			return true
		}
	}
	return false
}
