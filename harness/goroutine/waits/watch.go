package waits

import "example.com/wedge/harness/goroutine"

// watchers are functions of those who watch the program from inside it and take its
// dumps: they neither wake others of it nor wait for any.
var watchers = []string{
	"harness/goroutine.(*Capturer).Text", "harness/goroutine.WriteProfile",
	"harness.(*Fleet).guard", "harness.(*Fleet).flushEachSecond", "harness.(*sampler).run",
	"harness/embed.(*Watchdog).run", "harness/embed.(*Watchdog).run.func1", "harness/sim.(*Wall).Run.func2",
}

// isWatch reports whether it is a goroutine of a watchdog.
func isWatch(g *goroutine.Goroutine) bool {
	for i := range g.Frames {
		for _, w := range watchers {
			if isFunc(g.Frames[i].Func, w) {
				return true
			}
		}
	}
	return false
}
