package sim

import "time"

// SleepSlowly makes every sleep go through the event queue, as if the fast path did not exist.
func (k *Virtual) SleepSlowly() { k.slow = true }

// LosePatience makes Run return soon after a panic, whether the others come or not.
func (x *Wall) LosePatience() { x.patience = time.Millisecond }
