package repro

import (
	"errors"

	"example.com/wedge/harness/sim"
)

func (a *assembly) listen(*sim.Wall) error { return errors.New("repro: not yet") }
