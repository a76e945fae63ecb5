package series

// number returns a metric that is a number of a window, or of several whose counts were added up, or an aggregate of one
// that goes up and down.
func (w *Window) number(agg, metric string, lengthS float64) (float64, string) {
	if n, failed, ok := w.count(metric); ok {
		switch agg {
		case "":
			return float64(n), ""
		case "failed":
			return float64(failed), ""
		case "rate":
			return per(float64(n), lengthS, "no time has passed")
		}
		return 0, "there is no " + agg + " of " + metric
	}
	switch metric {
	case "agents":
		return w.Agents.aggregate(agg)
	case "in_flight":
		return w.Flight.aggregate(agg)
	case "slots_in_use":
		if w.Slots == nil {
			return 0, "the pacer has no slots to count"
		}
		return w.Slots.aggregate(agg)
	}
	return w.ratio(metric, lengthS)
}

// count returns a number of things that happened, and how many of them failed.
func (w *Window) count(metric string) (n, failed int, ok bool) {
	a := &w.Attempts
	switch metric {
	case "tasks":
		return w.Tasks.Done + w.Tasks.Failed, w.Tasks.Failed, true
	case "calls":
		return w.Calls.OK + w.Calls.Failed, w.Calls.Failed, true
	case "attempts":
		return a.Begun, a.Timeout + a.Status + a.Network + a.Cancelled + a.Lost + a.Rejected + a.Shed, true
	case "retries":
		return a.Again, 0, true
	case "steps":
		return w.Steps, 0, true
	case "tools":
		return w.Tools, 0, true
	case "stalls":
		if w.Stalls.OpenBefore { // else one that goes on since before the warm-up ended would not count at all
			return w.Stalls.Begun + 1, 0, true
		}
		return w.Stalls.Begun, 0, true
	case "tokens":
		return w.Tokens.Received, 0, true
	case "wasted_tokens":
		return w.Tokens.Wasted, 0, true
	}
	return 0, 0, false
}

func (w *Window) ratio(metric string, lengthS float64) (float64, string) {
	const noTime, noCall = "no time has passed", "no call has ended"
	received := float64(w.Tokens.Received)
	// A call that fails wastes what it had kept, which may have come in a window before.
	useful := max(received-float64(w.Tokens.Wasted), 0)
	switch metric {
	case "tokens_per_s":
		return per(received, lengthS, noTime)
	case "useful_tokens_per_s":
		return per(useful, lengthS, noTime)
	case "goodput":
		return per(useful, received, "no token was received")
	case "stalled_share":
		share, missing := per(w.Stalls.S, lengthS, noTime)
		return min(share, 1), missing
	case "error_rate":
		return per(float64(w.Calls.Failed), float64(w.Calls.OK+w.Calls.Failed), noCall)
	case "retry_rate":
		return per(float64(w.Attempts.Again), float64(w.Attempts.Begun), "no attempt has begun")
	case "amplification":
		return per(float64(w.Attempts.Begun), float64(w.Calls.Begun), "no call has begun")
	case "tasks_begun_per_s":
		return per(float64(w.Tasks.Begun), lengthS, noTime)
	}
	return 0, "there is no metric " + metric
}

func (l *Level) aggregate(agg string) (float64, string) {
	switch agg {
	case "avg":
		return l.Mean, ""
	case "max":
		return float64(l.Max), ""
	case "last":
		return float64(l.Last), ""
	}
	return 0, "there is no " + agg + " of a level"
}
