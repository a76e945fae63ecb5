package soak

import (
	"example.com/wedge/repro/series"
)

// Monitor shows how a soak goes, to those outside of it. Its methods may be called at any time, from any goroutine,
// also after the soak has ended.
type Monitor struct{ k *keeper }

// Model returns the model that calls ask for; empty: the scenario names none.
func (m *Monitor) Model() string {
	if s := m.k.o.Run.Server; s != nil && s.Model != "" {
		return s.Model
	}
	return m.k.s.Workflow.Model
}

// Snapshot returns what was counted since the soak began, or was resumed; false if the run did not let anybody look
// within a moment, as one in virtual time may not.
func (m *Monitor) Snapshot() (c series.Cumulative, ok bool) {
	in := &m.k.inside
	ok = in.Ask(func() {
		in.World.Lock()
		c = m.k.meter.Snapshot(in.World.Now())
		in.World.Unlock()
	})
	return c, ok
}

// Document returns what is known so far: what soak.json would say.
func (m *Monitor) Document() Document {
	m.k.mu.Lock()
	defer m.k.mu.Unlock()
	if m.k.result != nil {
		return m.k.result.Document
	}
	return m.k.document()
}

// Windows returns the windows that have been closed, in order; of a long soak neighbours have been merged. They are
// unpacked for the caller, at some tens of microseconds each.
func (m *Monitor) Windows() []series.Window {
	m.k.mu.Lock()
	defer m.k.mu.Unlock()
	windows, err := m.k.history.all()
	m.k.keep(err)
	return windows
}

// Process returns the readings of the process, in order; of a long soak fewer than there are windows.
func (m *Monitor) Process() []series.Process {
	m.k.mu.Lock()
	defer m.k.mu.Unlock()
	return append([]series.Process(nil), m.k.readings.kept...)
}
