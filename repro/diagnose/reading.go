package diagnose

import (
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// fate is what the evidence says will become of a call.
type fate uint8

const (
	fateOther        fate = iota // not in a stage of a call
	fateSlot                     // waits for a slot
	fateRate                     // waits for the rate limit: ends by itself
	fateBackoff                  // waits before another attempt: ends by itself
	fateConnect                  // waits for a connection
	fateFresh                    // sent a moment ago: too early to say
	fateMoving                   // tokens arrive
	fateServed                   // no tokens arrive, but the servers produce them
	fateOpen                     // the servers have it; whether they work on it cannot be told
	fatePrefill                  // in prefill or its queues, which move
	fatePrefillStuck             // in prefill or its queues, which do not move
	fateInflight                 // prefill is done, the KV cache has not all gone
	fateDecodeWait               // waits to join the decode batch, which moves
	fateDecodeStuck              // waits to join the decode batch, which does not move
	fateDecodeHung               // in the decode batch, which produces nothing
	fateUnpaired                 // waits for a handshake of the engines that does not come about: later ones have passed it
	fateAtRouter                 // open at the router, but in no engine's queue
	fateWithheld                 // answered by the router's log, and nothing has arrived
	fateNeverReached             // sent, without a token, and the servers have no such request
	fateRetracted                // its tokens have stopped: decode has taken it out of its batch for want of memory
	fateSilent                   // its tokens have stopped, and the servers have no such request
	fateExpiring                 // as fateSilent, but the idle limit will cut it off
	fateUnanswered               // sent, without a token, and nothing is known of the servers
	fateCount
)

// callReading is a call with what was found out about it.
type callReading struct {
	*pacer.CallState
	fate      fate
	server    string        // its server-side stage, one of the Server constants
	quiet     time.Duration // since its last token, or since its stage began
	gap       time.Duration // its own time between tokens; 0 if unknown
	line      logLine       // what the router's log has of it
	atRouter  bool          // its attempt has a started line in the router's log, and no finished one
	gone      bool          // the router's log can tell, and says that the router does not have it, or not any more
	lost      bool          // it is open in the router's log, but neither the router's gauge nor an engine's counts it
	bytes     bool          // bytes arrive though tokens have stopped
	overtaken bool          // it has no headers, and a request that was sent well after it has
	withheld  bool          // it has no headers, and by the router's log they have been sent
	together  bool          // its tokens stopped at the same instant as those of others: see stoppedTogether
}

// agentReading is an agent that is between calls.
type agentReading struct {
	*harness.AgentState
	age   time.Duration // in its stage
	waits bool          // for a lock or another process, by the waits-for graph
	owed  bool          // it waits for a result that is there, or that will never be: see handoffs
	piped bool          // its tool waits to write into a pipe that is full: see pipes
	// dumped is what it waits for by its goroutine's stack; nil: the dump shows nothing, or the marks tell.
	dumped *dumpKind
	held   bool    // what its goroutine waits for explains why it does not come on: see dumpReading
	run    toolRun // in stage tool, if it waits for nobody
}

// reading is an evidence with everything derived from it that several causes look at.
type reading struct {
	now     *harness.Evidence
	moved   movement
	samples []harness.Sample // with those of the earlier capture
	gauges  readings
	lines   routerLines
	sides   Sides
	pool    pool
	// A request that was sent at answeredSent has had its headers, and none that was sent later; valid
	// if answered.
	answered     bool
	answeredSent sim.Instant
	cut          together // streams that stopped together
	pins         pins
	graph        Graph
	knot         knot
	calls        []callReading
	n            [fateCount]int // calls by fate
	idle         []agentReading // agents between calls, in order
	dump         dumpReading
	tools        tools
	handed       handoffs
	pipes        []fullPipe
	agents       AgentCounts
	conns        connections
	roots        int // see countRoots
}

// newReading derives what the causes look at. before may be nil.
func newReading(now, before *harness.Evidence) *reading {
	r := &reading{now: now, moved: compare(now, before), pool: poolOf(now), samples: history(now, before)}
	r.gauges, r.pins = readGauges(now, r.samples), readPins(now, r.samples)
	r.graph = graphOf(now, r.pool.keptOf(now))
	r.knot = r.graph.knotOf(now)
	r.lines = readLines(now)
	r.sides = r.lines.sides(now)
	r.calls = make([]callReading, len(now.Calls))
	for i := range now.Calls {
		c := &now.Calls[i]
		r.calls[i] = callReading{CallState: c, line: r.lines.of[i], atRouter: r.lines.of[i] == lineStarted, gone: r.lines.denies(i, c)}
	}
	r.readAnswers()
	r.readCalls()
	r.cut = r.stoppedTogether()
	r.readAgents()
	r.handed = r.readHandoffs(before)
	r.pipes = r.readPipes(before)
	r.readDump()
	r.tools = r.readTools()
	r.conns = r.readConnections()
	r.countRoots()
	r.findUnmatched()
	return r
}

// readAgents sorts out who is at work, and who is between calls.
func (r *reading) readAgents() {
	t := &r.now.Totals
	r.agents = AgentCounts{Done: t.AgentsDone, Failed: t.AgentsFailed}
	inCall := make(map[string]bool, len(r.calls))
	for i := range r.calls {
		inCall[r.calls[i].Agent] = true
	}
	for i := range r.now.Agents {
		a := &r.now.Agents[i]
		if a.Stage == pacer.StageDone {
			continue
		}
		if a.Parent != "" {
			r.agents.SubAgents++
		} else {
			r.agents.Blocked++
		}
		if inCall[a.Name] || a.Stage != pacer.StageTool && a.Stage != pacer.StageThink {
			continue
		}
		n := r.graph.index[a.Name]
		r.idle = append(r.idle, agentReading{
			AgentState: a, age: age(r.now.At, a.Since), waits: r.graph.waitsForSomebody(n),
		})
	}
	r.agents.Total = max(r.now.Setup.Agents, t.AgentsDone+t.AgentsFailed, r.agents.Blocked)
}

// waitsForSomebody says whether a node waits for a permit or another process. A latch or a queue
// does not count: the graph does not know who opens or fills it.
func (g *Graph) waitsForSomebody(n int) bool {
	for _, e := range g.out[n] {
		if to := &g.Nodes[g.Edges[e].To]; g.Edges[e].Kind == EdgeWaits && (to.Kind != NodeObject || len(g.out[g.Edges[e].To]) > 0) {
			return true
		}
	}
	return false
}

// countRoots counts what others wait for and what itself waits for nobody in the harness: calls
// that are out, in backoff or held by the rate, slots kept for nothing, tools at work, and the agents of a deadlock. A
// call that waits for one of a full set of connections is no root: those who have them are.
func (r *reading) countRoots() {
	for i := range r.calls {
		switch r.calls[i].fate {
		case fateSlot, fateOther:
		case fateConnect:
			if !r.conns.full {
				r.roots++
			}
		default:
			r.roots++
		}
	}
	if r.pool.blocks() {
		r.roots += len(r.pool.kept)
	}
	r.roots += r.tools.n() + r.handed.n() + len(r.pipes) + r.dump.held
	if r.knot.found {
		r.roots += r.knot.agents
	}
}

// share is the part of the roots that n of them are.
func (r *reading) share(n int) float64 {
	if r.roots <= 0 || n <= 0 {
		return 0
	}
	return min(1, float64(n)/float64(r.roots))
}

// sum counts the calls with one of the fates.
func (r *reading) sum(fates ...fate) int {
	n := 0
	for _, f := range fates {
		n += r.n[f]
	}
	return n
}

// oldest is the longest quiet time of the calls with a fate.
func (r *reading) oldest(f fate) time.Duration {
	var d time.Duration
	for i := range r.calls {
		if r.calls[i].fate == f {
			d = max(d, r.calls[i].quiet)
		}
	}
	return d
}

// newest is the shortest quiet time of the calls with a fate.
func (r *reading) newest(f fate) time.Duration {
	found := false
	var d time.Duration
	for i := range r.calls {
		if c := &r.calls[i]; c.fate == f && (!found || c.quiet < d) {
			found, d = true, c.quiet
		}
	}
	return d
}
