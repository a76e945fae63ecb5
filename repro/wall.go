package repro

import (
	"context"
	"errors"

	"example.com/wedge/harness/sim"
)

func (a *assembly) listen(*sim.Wall) error { return errors.New("repro: not yet") }

func (a *assembly) connect(context.Context) error { return errors.New("repro: not yet") }

func (s *Server) check(context.Context) error { return nil }
