package series

import (
	"cmp"
	"slices"
	"strconv"

	"example.com/wedge/pacer"
)

// counts are those that both a window and the whole run have. A window's are the difference of two.
type counts struct {
	tasks      Tasks
	calls      Calls
	attempts   Attempts
	tokens     Tokens
	steps      int
	tools      int
	toolErrors int
}

// less returns what was counted since the books stood at from. What is open is not a count, and stays.
func (c counts) less(from *counts) counts {
	c.tasks.Begun -= from.tasks.Begun
	c.tasks.Done -= from.tasks.Done
	c.tasks.Failed -= from.tasks.Failed
	c.calls.Begun -= from.calls.Begun
	c.calls.OK -= from.calls.OK
	c.calls.Failed -= from.calls.Failed
	c.attempts.add(&from.attempts, -1)
	c.tokens.add(&from.tokens, -1)
	c.steps -= from.steps
	c.tools -= from.tools
	c.toolErrors -= from.toolErrors
	return c
}

// add adds counts, times a sign.
func (a *Attempts) add(b *Attempts, sign int) {
	a.Begun += sign * b.Begun
	a.Again += sign * b.Again
	a.OK += sign * b.OK
	a.Timeout += sign * b.Timeout
	a.Status += sign * b.Status
	a.Network += sign * b.Network
	a.Cancelled += sign * b.Cancelled
	a.Lost += sign * b.Lost
	a.Rejected += sign * b.Rejected
	a.Shed += sign * b.Shed
}

func (a *Attempts) ended(outcome string) {
	switch outcome {
	case pacer.AttemptOK:
		a.OK++
	case pacer.AttemptTimeout:
		a.Timeout++
	case pacer.AttemptStatus:
		a.Status++
	case pacer.AttemptNetwork:
		a.Network++
	case pacer.AttemptCanceled:
		a.Cancelled++
	case pacer.AttemptLost:
		a.Lost++
	case pacer.AttemptRejected:
		a.Rejected++
	case pacer.AttemptShed:
		a.Shed++
	}
}

func (t *Tokens) add(b *Tokens, sign int) {
	t.Received += sign * b.Received
	t.Wasted += sign * b.Wasted
	t.Prompt += sign * b.Prompt
}

// limitCounts counts attempts by the time limit that ended them: those of a policy first, in their order.
type limitCounts []Count

func newLimitCounts() limitCounts {
	var out limitCounts
	for _, l := range [...]pacer.Limit{pacer.LimitDial, pacer.LimitConnect, pacer.LimitResponseHeader, pacer.LimitFirstToken,
		pacer.LimitIdle, pacer.LimitTotal, pacer.LimitWork, pacer.LimitCallTotal} {
		out = append(out, Count{Name: string(l)})
	}
	return out
}

func (c limitCounts) add(limit string) {
	for i := range c {
		if c[i].Name == limit {
			c[i].N++
			return
		}
	}
}

// statusMax is how many different statuses are told apart; HTTP knows some 60, servers use a handful.
const statusMax = 32

type statusCount struct{ status, n int }

// statusCounts counts attempts by the error status that answered them.
type statusCounts struct {
	list  []statusCount // in the order in which they first came
	other int
}

func newStatusCounts() statusCounts { return statusCounts{list: make([]statusCount, 0, statusMax)} }

func (c *statusCounts) add(status int) {
	for i := range c.list {
		if c.list[i].status == status {
			c.list[i].n++
			return
		}
	}
	if len(c.list) == statusMax {
		c.other++
		return
	}
	c.list = append(c.list, statusCount{status, 1})
}

func (c *statusCounts) counts() []Count {
	sorted := slices.SortedFunc(slices.Values(c.list), func(a, b statusCount) int { return cmp.Compare(a.status, b.status) })
	var out []Count
	for _, s := range sorted {
		out = append(out, Count{strconv.Itoa(s.status), s.n})
	}
	if c.other > 0 {
		out = append(out, Count{"other", c.other})
	}
	return out
}
