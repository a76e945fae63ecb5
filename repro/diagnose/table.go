package diagnose

import (
	"slices"
	"time"

	"example.com/wedge/pacer"
)

// serverOrder is the order of server-side stages within one of the agents' stages.
func serverOrder(stage string) int {
	return slices.Index([]string{
		ServerNotSent, ServerUnseen, ServerUnknown, ServerRouter, ServerBootstrap, ServerPrefillWait, ServerPrefill,
		ServerPrealloc, ServerInflight, ServerTransfer, ServerDecodeWait, ServerDecode,
	}, stage)
}

// stages makes the table of stages.
func (r *reading) stages() []StageRow {
	type key struct {
		agent  pacer.Stage
		server string
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
		row := cellOf(key{c.Stage, c.server})
		row.calls++
		row.oldest = max(row.oldest, age(r.now.At, c.Since))
	}
	for i := range r.idle {
		row := cellOf(key{r.idle[i].Stage, ServerNotSent})
		row.agents++
		row.oldest = max(row.oldest, r.idle[i].age)
	}
	slices.SortFunc(cells, func(a, b cell) int {
		if a.agent != b.agent {
			return int(a.agent) - int(b.agent)
		}
		return serverOrder(a.server) - serverOrder(b.server)
	})
	rows := make([]StageRow, len(cells))
	for i, c := range cells {
		rows[i] = StageRow{AgentStage: c.agent.String(), ServerStage: c.server, Calls: c.calls, Agents: c.agents, OldestS: seconds(c.oldest)}
	}
	return rows
}

// callCounts counts the calls for the verdict.
func (r *reading) callCounts() CallCounts {
	t := &r.now.Totals
	n := CallCounts{Completed: t.CallsCompleted, Failed: t.CallsFailed, Attempts: t.Attempts, Tokens: t.TokensReceived}
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
		if c.atRouter || !r.sides.Usable && sent(c.CallState) && c.server != ServerUnknown {
			n.AtServer++
		}
	}
	n.WaitingSlot = max(n.WaitingSlot, r.pool.waiting)
	n.OldestS = seconds(oldest)
	return n
}
