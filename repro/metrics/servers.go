package metrics

import (
	"strings"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// watchServers has the simulated servers tell what only they know.
func (m *Meter) watchServers() {
	if m.setup.Stack != nil {
		m.setup.Stack.Watch(serving.Witness{Left: m.clientLeft, Computed: m.promptComputed})
	}
}

func (m *Meter) clientLeft(id string, fate serving.Fate) {
	if !m.closed {
		m.harm.left(id, m.w.Now(), fate)
	}
}

// promptComputed takes in how much of a prompt has been computed for an attempt. What is beyond the most
// that was computed for any attempt of the call has been computed again.
func (m *Meter) promptComputed(id string, tokens int) {
	if m.closed {
		return
	}
	c := m.byID[callOf(id)]
	if c == nil {
		return
	}
	m.prompts += min(tokens, c.computed)
	c.computed = max(c.computed, tokens)
}

// callOf returns the id of the call of an attempt such as agent-07-c012-a2.
func callOf(attempt string) string {
	if i := strings.LastIndex(attempt, "-a"); i >= 0 {
		return attempt[:i]
	}
	return attempt
}

// undetected counts the attempts that are dead and that the client still waits for.
func (m *Meter) undetected(open []pacer.CallState) int {
	if m.setup.Client == nil {
		return 0
	}
	known, dead := 0, 0
	m.setup.Client.Fates(func(_ string, f serving.Fate) {
		known++
		if f.Kind == serving.FateDead {
			dead++
		}
	})
	sent := 0
	for i := range open {
		switch open[i].Stage {
		case pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream:
			sent++
		}
	}
	return dead + max(0, sent-known) // of the others the servers have never heard
}

// servers fills in what the servers have done.
func (m *Meter) servers(r *Run, now sim.Instant) {
	w := &r.Waste
	w.TokensTotal, w.TokensUseful = m.attempts.received, m.attempts.useful
	if m.setup.Stack != nil {
		t := m.setup.Stack.Tally()
		w.TokensTotal = int(t.OutputTokens)
		w.ZombieTokens, w.ZombieSlotS = int(t.ZombieTokens), t.ZombieSlots.Seconds()
		w.ZombieSlotsMean = over(w.ZombieSlotS, now.Sub(m.began).Seconds())
		w.PromptTokensTotal, w.PromptTokensAgain = int(t.PromptTokens), m.prompts
		r.Amplification.ServerRequests = t.Dispatched
		r.Control.InflightServerMean = over(t.Legs.Seconds(), now.Sub(m.began).Seconds())
	}
	w.TokensWasted = w.TokensTotal - w.TokensUseful
	w.WastedShare = over(float64(w.TokensWasted), float64(w.TokensTotal))
}
