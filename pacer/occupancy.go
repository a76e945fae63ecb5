package pacer

// Occupancy is how much of a pacer's limits is in use at an instant, and its oldest call. The zero value is
// a pacer with no limits and no calls.
type Occupancy struct {
	SlotsMax   int // slots that there are; 0: no limit
	SlotsInUse int // of these: held, by calls or by agents that keep one between calls

	// Rates allow so many attempts, and tokens, a second; 0: no limit. Left is what may be spent at once; below
	// 0, that much has been promised to attempts that wait.
	RequestsPerS float64
	RequestsLeft float64
	TokensPerS   float64
	TokensLeft   float64

	// Oldest is that of the calls in flight that began first; without an ID: there is none. What it has
	// received is as of its latest event.
	Oldest CallState
}

// OccupancyLocked returns how much of the pacer's limits is in use. It costs the same however many calls
// there are. The monitor is held.
func (p *Pacer) OccupancyLocked() Occupancy {
	var o Occupancy
	switch {
	case p.line != nil:
		o.SlotsMax, o.SlotsInUse = p.line.gate.CapacityLocked(), p.line.gate.InUseLocked()
	case p.slots != nil:
		o.SlotsMax, o.SlotsInUse = p.config.Slots, p.slots.InUseLocked()
	}
	now := p.w.Now().Time()
	if r := p.rates.requests; r != nil {
		o.RequestsPerS, o.RequestsLeft = float64(r.Limit()), r.TokensAt(now)
	}
	if r := p.rates.tokens; r != nil {
		o.TokensPerS, o.TokensLeft = float64(r.Limit()), r.TokensAt(now)
	}
	if c := p.oldest; c != nil {
		o.Oldest = c.state
	}
	return o
}
