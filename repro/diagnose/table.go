package diagnose

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/pacer"
)

// serverOrder is the order of server-side stages within one of the agents' stages.
func serverOrder(stage string) int {
	return slices.Index([]string{
		ServerNotSent, ServerUnseen, ServerUnknown, ServerRouter, ServerBootstrap, ServerPrefillWait, ServerPrefill,
		ServerPrealloc, ServerInflight, ServerTransfer, ServerDecodeWait, ServerRetracted, ServerDecode,
	}, stage)
}

// note says why the servers' stage of a call cannot be told, if that needs saying.
func (c *callReading) note() string {
	switch {
	case c.lost:
		return "open in the router's log, but in no gauge"
	case c.fate == fateUnpaired:
		return "at the servers: " + c.server + ", overtaken by later ones"
	case c.fate == fateWithheld:
		return "answered by the router's log, but nothing has arrived"
	}
	return ""
}

// note says that an agent between calls does not think, and that no tool works for it.
func (a *agentReading) note() string {
	if a.owed {
		return "its sub-agents have ended, and it has not heard"
	}
	if a.piped {
		return "to write into a pipe that is full"
	}
	if a.waits && a.Stage == pacer.StageThink {
		return "in line for a lock, before the call"
	}
	if a.dumped != nil {
		return "by the goroutine dump: waiting for " + a.dumped.waits
	}
	return ""
}

// stages makes the table of stages.
func (r *reading) stages() []StageRow {
	type key struct {
		agent  pacer.Stage
		server string
		note   string
	}
	type cell struct {
		key
		calls, agents int
		oldest        time.Duration
	}
	at := map[key]int{}
	var cells []cell
	cellOf := func(k key) *cell {
		i, ok := at[k]
		if !ok {
			i = len(cells)
			at[k] = i
			cells = append(cells, cell{key: k})
		}
		return &cells[i]
	}
	for i := range r.calls {
		c := &r.calls[i]
		row := cellOf(key{c.Stage, c.server, c.note()})
		row.calls++
		row.oldest = max(row.oldest, age(r.now.At, c.Since))
	}
	for i := range r.idle {
		row := cellOf(key{agent: r.idle[i].Stage, server: ServerNotSent, note: r.idle[i].note()})
		row.agents++
		row.oldest = max(row.oldest, r.idle[i].age)
	}
	slices.SortFunc(cells, func(a, b cell) int {
		if a.agent != b.agent {
			return int(a.agent) - int(b.agent)
		}
		return cmp.Or(serverOrder(a.server)-serverOrder(b.server), cmp.Compare(a.note, b.note))
	})
	rows := make([]StageRow, len(cells))
	for i, c := range cells {
		rows[i] = StageRow{AgentStage: c.agent.String(), ServerStage: c.server, Calls: c.calls, Agents: c.agents, OldestS: seconds(c.oldest), Note: c.note}
	}
	return rows
}

// callCounts counts the calls for the verdict.
func (r *reading) callCounts() CallCounts {
	t := &r.now.Totals
	n := CallCounts{Completed: t.CallsCompleted, Failed: t.CallsFailed, Attempts: t.Attempts, Tokens: t.TokensReceived}
	n.Refused, n.Refused429, n.Refused503 = t.AttemptsStatus, t.Attempts429, t.Attempts503
	var oldest time.Duration
	for i := range r.calls {
		c := &r.calls[i]
		switch c.fate {
		case fateSlot:
			n.WaitingSlot++
			continue
		case fateRate:
			n.WaitingRate++
			continue
		case fateBackoff:
			n.WaitingBackoff++
			continue
		case fateOther:
			continue
		}
		n.InFlight++
		oldest = max(oldest, age(r.now.At, c.Started))
		if r.lines.has(i, c.CallState) || !r.sides.Usable && sent(c.CallState) && c.server != ServerUnknown {
			n.AtServer++
		}
	}
	n.WaitingSlot = max(n.WaitingSlot, r.pool.waiting)
	n.OldestS = seconds(oldest)
	return n
}
