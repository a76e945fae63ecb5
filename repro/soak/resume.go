package soak

import (
	"context"
	"errors"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
)

// resumed is what is known of a soak that goes on.
type resumed struct {
	at    sim.Instant // where the clock goes on; 0: it is replayed
	times int         // that it has been resumed, this one included
}

func (r *resumed) into(o *repro.Options) {
	o.Bundle.Resume = true
}

func (r *resumed) carry(k *keeper) error { return nil }

// Resume goes on with the soak at dir.
func Resume(ctx context.Context, dir string, o Options) (*Result, error) {
	return nil, errors.New("soak: not yet")
}
