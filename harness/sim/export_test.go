package sim

// SleepSlowly makes every sleep go through the event queue, as if the fast path did not exist.
func (k *Virtual) SleepSlowly() { k.slow = true }
