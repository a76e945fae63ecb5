package report

import (
	"fmt"
	"io/fs"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro/diagnose"
)

// tiles are the figures at the top of the page.
func (v *view) tiles() []tile {
	if v.Soak != nil {
		return soakTiles(v.Soak)
	}
	if v.Verdict == nil {
		return nil
	}
	run, total := v.Verdict.Run, v.Verdict.Run.Totals
	if run.Ended == "" { // somebody else's harness: of it, what its requests tell is known
		return requestTiles(&v.Verdict.Calls)
	}
	tiles := []tile{{fmt.Sprintf("%s of %s", thousands(total.AgentsDone), thousands(max(v.Verdict.Agents.Total, total.AgentsDone+total.AgentsFailed))), "tasks done", ""}}
	if total.AgentsFailed > 0 {
		tiles = append(tiles, tile{thousands(total.AgentsFailed), "tasks failed", "bad"})
	}
	tiles = append(tiles, tile{span(run.EndedAtS), "of run time", ""})
	mood := ""
	if run.Stalls > 0 {
		mood = "warn"
	}
	tiles = append(tiles, tile{thousands(run.Stalls), word(run.Stalls, "stall", "stalls"), mood},
		tile{thousands(total.CallsCompleted), "calls completed", ""})
	if total.CallsFailed > 0 {
		tiles = append(tiles, tile{thousands(total.CallsFailed), "calls failed", "bad"})
	}
	if n := total.CallsCompleted + total.CallsFailed; n > 0 && float64(total.Attempts)/float64(n) >= 1.005 {
		tiles = append(tiles, tile{number(float64(total.Attempts) / float64(n)), "attempts a call", ""})
	}
	if total.TokensReceived > 0 {
		tiles = append(tiles, tile{thousands(total.TokensReceived), "tokens received", ""})
		if total.TokensWasted > 0 {
			tiles = append(tiles, tile{share(float64(total.TokensWasted) / float64(total.TokensReceived)), "of them wasted", "warn"})
		}
	}
	return tiles
}

// requestTiles are the figures of a harness that is known by its requests only.
func requestTiles(c *diagnose.CallCounts) (tiles []tile) {
	for _, t := range []struct {
		n          int
		what, mood string
	}{{c.Completed, "calls completed", ""}, {c.Failed, "calls failed", "bad"}, {c.Attempts, "requests", ""}, {c.Tokens, "tokens received", ""}} {
		if t.n > 0 {
			tiles = append(tiles, tile{thousands(t.n), t.what, t.mood})
		}
	}
	return tiles
}

func word(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// expectedFiles are those that a run to its end leaves, and what the page has not without each.
var expectedFiles = []struct{ name, lacks string }{
	{bundle.RunFile, "is not there: seed, configuration and the command to run it again are not known"},
	{bundle.VerdictFile, "is not there: the run was ended from outside, or is still going on, so that there is no verdict"},
	{bundle.EventsLog, "is not there: what each agent did and when is not known"},
	{bundle.SamplesLog, "is not there: the servers' gauges are not known"},
}

// missing lists what the page has to do without: what is damaged is added as parts read their files.
func (v *view) missing(s *source) (missing []trouble) {
	for _, f := range expectedFiles {
		if f.name == bundle.VerdictFile && v.Soak != nil {
			continue // it has a verdict of its own
		}
		if _, err := fs.Stat(s.fs, f.name); err != nil && !s.rotated(f.name) {
			missing = append(missing, trouble{f.name, f.lacks})
		}
	}
	return missing
}
