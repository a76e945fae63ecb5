package diagnose

import "fmt"

// connectionPool: calls hold a slot and wait for one of too few connections, so that their requests
// never reach the router.
func connectionPool() cause {
	return cause{
		name: CauseConnectionPool, outcome: Starved, layer: LayerConnection,
		judge: judgeConnectionPool,
		because: func(r *reading) string {
			k := &r.conns
			return fmt.Sprintf("The client may have %s, and %s for one, the longest for %s: their requests never reach the router. Those that have one get their tokens, so connections come free, a few at a time.",
				count(k.limit, "connection"), does(k.waiting, "call", "waits", "wait"), secs(k.longest))
		},
		next: func(r *reading) []string {
			return []string{
				fmt.Sprintf("--set pacer.connections_max=0 takes the limit off (in Go: http.Transport.MaxConnsPerHost); it should not be below the slots, %d here", r.pool.capacity),
				"compare the requests in the router's log with the calls that hold a slot, once more after the change",
			}
		},
	}
}

func judgeConnectionPool(r *reading, j *judgement) {
	k := &r.conns
	switch {
	case k.waiting == 0:
		j.refute("no call has waited for a connection for %s or more", secs(connectMin))
		return
	case k.limit == 0:
		j.open(0.3, "the client's limit on connections to one host, and a dial to the server by hand")
		j.pro("%s for a connection, the longest for %s", does(k.waiting, "call", "waits", "wait"), secs(k.longest))
		j.con("no limit on connections is known")
		return
	case !k.full:
		j.open(0.2, "a dial to the server by hand: is it reachable?")
		j.pro("%s for a connection", does(k.waiting, "call", "waits", "wait"))
		j.con("only %d of %d connections are in use", k.have, k.limit)
		return
	}
	j.beside = fmt.Sprintf("%s for one of %s", does(k.waiting, "call", "waits", "wait"), count(k.limit, "connection"))
	waits := float64(k.waiting) / float64(k.waiting+k.have)
	score := 0.95 * (0.5 + 0.5*waits) * float64(k.moving) / float64(max(1, k.have))
	j.pro("%s of %d connections are in use, and %s for one, the longest for %s", num(float64(k.have)), k.limit, does(k.waiting, "call", "waits", "wait"), secs(k.longest))
	if r.sides.Usable {
		j.pro("the router's log has %s started and not finished, while %s a slot or a connection", count(len(r.now.Router.Open), "request"), does(k.waiting+k.have, "call", "holds", "hold"))
	}
	if k.moving == 0 {
		j.open(0.2, "what holds the connections: see the other hypotheses")
		j.con("none of the requests that have a connection gets tokens, so it is they who are stuck")
		return
	}
	j.support(score)
	j.pro("of the requests that have a connection, %d of %d are alive", k.moving, k.have)
}
