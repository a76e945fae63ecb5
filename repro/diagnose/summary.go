package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/pacer"
)

// stallText says since when nothing has finished, and for how many.
func (r *reading) stallText() string {
	if r.now.Setup.FromServers {
		return r.stallFromServers()
	}
	text := fmt.Sprintf("No step has finished for %s", secs(max(0, r.now.StalledFor)))
	if start := age(r.now.At, 0) - max(0, r.now.StalledFor); start >= time.Second {
		text += fmt.Sprintf(" (since %s of the run)", secs(start))
	}
	who := count(r.agents.Blocked, "agent")
	if n := r.agents.SubAgents; n > 0 {
		who += " and " + count(n, "sub-agent")
	}
	text += fmt.Sprintf("; %s %s at work, %d of %d tasks done", who, verb(r.agents.Blocked+r.agents.SubAgents, "is", "are"), r.agents.Done, r.agents.Total)
	if n := r.agents.Failed; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	return text + "."
}

// stallFromServers says the same of agents that only their servers have seen.
func (r *reading) stallFromServers() string {
	text := fmt.Sprintf("For %s", secs(max(0, r.now.StalledFor)))
	if start := age(r.now.At, 0) - max(0, r.now.StalledFor); start >= time.Second {
		text += fmt.Sprintf(" (since %s of the run)", secs(start))
	}
	t := &r.now.Totals
	text += fmt.Sprintf(" no request has been answered in full and no new one has come; %s answered before", does(t.CallsCompleted, "call", "was", "were"))
	if t.CallsFailed > 0 {
		text += fmt.Sprintf(", %d failed and did not come back", t.CallsFailed)
	}
	return text + "."
}

// whereText says where the calls are.
func (r *reading) whereText(rows []StageRow) string {
	var parts []string
	for _, row := range rows {
		who := count(row.Calls, "call")
		if row.Calls == 0 {
			who = count(row.Agents, "agent")
		}
		oldest := time.Duration(row.OldestS * float64(time.Second))
		parts = append(parts, fmt.Sprintf("%s %s%s for up to %s", who, doing(row.AgentStage, max(row.Calls, row.Agents)), atServer(&row), secs(oldest)))
	}
	text := "No call is in flight."
	if len(parts) > 0 {
		text = upper(list(parts)) + "."
	}
	if p := &r.pool; p.limited {
		text += " " + p.text()
	}
	return text
}

// text says how many slots are held.
func (p *pool) text() string {
	text := upper(areOfAll(p.inUse, p.capacity, "slot")) + " held"
	switch {
	case p.capacity == 1 && p.inUse == 0:
		text = "The only slot is free"
	case p.inUse > p.capacity: // a limit that moves does not take back what it gave
		text = fmt.Sprintf("%s held, more than the limit of %d that there is by now", upper(count(p.inUse, "slot")+verb(p.inUse, " is", " are")), p.capacity)
	}
	if p.waiting > 0 {
		text += fmt.Sprintf(", and %d %s for one", p.waiting, verb(p.waiting, "waits", "wait"))
	}
	return text + "."
}

// doing says what n calls or agents in one of the agents' stages do.
func doing(stage string, n int) string {
	switch stage {
	case pacer.StageThink.String():
		return verb(n, "thinks", "think")
	case pacer.StageTool.String():
		return verb(n, "is in a tool", "are in a tool")
	case pacer.StageSlot.String():
		return verb(n, "waits for a slot", "wait for a slot")
	case pacer.StageRate.String():
		return verb(n, "waits for the rate limit", "wait for the rate limit")
	case pacer.StageBackoff.String():
		return verb(n, "waits before another attempt", "wait before another attempt")
	case pacer.StageConnect.String():
		return verb(n, "waits for a connection", "wait for a connection")
	case pacer.StageHeaders.String():
		return verb(n, "waits for response headers", "wait for response headers")
	case pacer.StageFirstToken.String():
		return verb(n, "waits for a first token", "wait for a first token")
	}
	return verb(n, "is in stage ", "are in stage ") + stage
}

// atServer says where the servers have a request.
func atServer(row *StageRow) string {
	switch {
	case row.Note != "":
		return " (" + row.Note + ")"
	case row.ServerStage == ServerNotSent, row.ServerStage == ServerUnseen:
		return ""
	case row.ServerStage == ServerUnknown:
		return " (unknown to the servers)"
	}
	return " (at the servers: " + row.ServerStage + ")"
}

// atWorkBeside returns the mechanisms that are seen beside the one that explains most, the best first.
func atWorkBeside(others []judged) []*judged {
	var out []*judged
	for i := range others {
		if o := &others[i]; o.beside != "" && (o.status == Supported && o.score >= besideMin || o.noticed) {
			out = append(out, o)
		}
	}
	return out
}

// besides tells what else is seen, in the words of the causes.
func besides(others []judged) []string {
	var out []string
	for _, o := range atWorkBeside(others) {
		out = append(out, o.beside+" ("+string(o.name)+")")
	}
	if len(out) == 0 {
		return nil
	}
	return []string{"Besides, " + list(out) + "."}
}
