package fault

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// allowed lists the kinds that make sense at each place.
var allowed = []struct {
	where Where
	what  []What
}{
	{Connection, []What{Latency, Reset, Hang, Blackhole, KeepAliveRace, Buffer}},
	{Router, []What{Status, Latency, Drop, LoseReply, Mispair}},
	{Bootstrap, []What{Hang}},
	{Prefill, []What{Latency, Hang, Status, Throttle}},
	{Inflight, []What{PinOnAbort, Hang}},
	{Transfer, []What{Latency, Hang, Status}},
	{Decode, []What{Hang, Drop, Serialize, Slow, Throttle, IgnoreAbort, StarveKV}},
	{Stream, []What{Silence, Reset, Reasoning, Comments, Error, Cut, Malformed, TruncateCall, NoDone, OpenAfterDone, NoUsage}},
	{Metrics, []What{Freeze}},
	{Tool, []What{Latency, Hang, LockOrder, Unread}},
	{Pacer, []What{LeakSlot}},
	{Harness, []What{LoseWakeup, SwallowError}},
}

// whole lists the kinds that are about an engine as a whole, not about a request.
var whole = []What{Serialize, StarveKV, Throttle, Freeze}

// Kinds lists the places with the kinds that make sense at each, as "where: what, what".
func Kinds() []string {
	var lines []string
	for _, a := range allowed {
		lines = append(lines, string(a.where)+": "+list(a.what))
	}
	return lines
}

func list(kinds []What) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(kinds), " ", ", "), "[]")
}

// lengthMax bounds what a fault adds to other lengths of time, so that no sum of them overflows.
const lengthMax = 10_000 * time.Hour

// factorMax and kvTokensMax bound what is taken for meant.
const (
	factorMax   = 100_000
	kvTokensMax = 1_000_000_000
)

// Validate says what is wrong with the fault, in one line, or returns nil.
func (f *Fault) Validate() error {
	if f.ID == "" {
		return fmt.Errorf("id: missing, want a name such as %q", "silent-1")
	}
	if strings.ContainsFunc(f.ID, notInID) {
		return fmt.Errorf("id: %q, want a name such as %q, of letters, digits, dashes and underscores", f.ID, "silent-1")
	}
	if err := validPlace(f.Where, f.What); err != nil {
		return err
	}
	for _, c := range []struct {
		field string
		n     int
	}{
		{"nth", f.Nth}, {"only", f.Only}, {"times", f.Times}, {"round", f.Round},
		{"context_over_tokens", f.ContextOver}, {"concurrency_over", f.ConcurrencyOver}, {"after_tokens", f.AfterTokens},
	} {
		if c.n < 0 {
			return fmt.Errorf("%s: %d, want 0 or more", c.field, c.n)
		}
	}
	if err := f.validWhen(); err != nil {
		return err
	}
	if err := f.validWhat(); err != nil {
		return err
	}
	if field := f.unused(); field != "" {
		return fmt.Errorf("%s: set, but %s at %s has no use for it", field, f.What, f.Where)
	}
	return nil
}

func (f *Fault) validWhen() error {
	switch {
	case !(f.Probability >= 0 && f.Probability <= 1):
		return fmt.Errorf("probability: %v, want a number from 0 to 1", f.Probability)
	case f.From < 0 || f.To < 0 || f.To != 0 && f.To <= f.From:
		return fmt.Errorf("from, to: %v to %v, want 0 <= from < to", f.From, f.To)
	case f.Tool != "" && f.Where != Tool:
		return fmt.Errorf("tool: %q at %s, want it only where: tool", f.Tool, f.Where)
	case badPattern(f.Agent):
		return fmt.Errorf("agent: %q, want a name or a pattern such as %q", f.Agent, "agent-*.s*")
	case f.Header != "" && (f.Where == Tool || f.Where == Pacer || f.Where == Harness):
		return fmt.Errorf("header: %q at %s, want it only at servers", f.Header, f.Where)
	case f.Worker != "" && !f.atWorker():
		return fmt.Errorf("worker: %q at %s, want it only at engines", f.Worker, f.Where)
	}
	return nil
}

func badPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err != nil
}

// atWorker says whether the place is an engine's.
func (f *Fault) atWorker() bool {
	switch f.Where {
	case Bootstrap, Prefill, Inflight, Transfer, Decode, Metrics:
		return true
	}
	return false
}

func (f *Fault) validWhat() error {
	takesStatus := f.What == Status || f.What == Error
	switch {
	case f.Delay < 0 || f.Delay > lengthMax:
		return fmt.Errorf("delay: %v, want 0s to %v", f.Delay, lengthMax)
	case f.ReleaseAfter < 0 || f.ReleaseAfter > lengthMax:
		return fmt.Errorf("release_after: %v, want 0s to %v", f.ReleaseAfter, lengthMax)
	case f.Every < 0 || f.Every > lengthMax:
		return fmt.Errorf("every: %v, want 0s to %v", f.Every, lengthMax)
	case takesStatus && (f.StatusCode < 400 || f.StatusCode > 599):
		return fmt.Errorf("status: %d, want an HTTP status from 400 to 599", f.StatusCode)
	case (f.What == Latency || f.What == Reasoning) && f.Delay == 0:
		return fmt.Errorf("delay: missing, want how long the %s is", f.What)
	case (f.What == Slow || f.What == Throttle) && !(f.Factor > 1 && f.Factor <= factorMax):
		return fmt.Errorf("factor: %v, want how many times as long it takes, more than 1 and at most %d", f.Factor, factorMax)
	case f.What == StarveKV && (f.KVTokens < 1 || f.KVTokens > kvTokensMax):
		return fmt.Errorf("kv_tokens: %d, want how many tokens of memory are taken, from 1 to %d", f.KVTokens, kvTokensMax)
	case f.In != "" && !slices.Contains([]Section{InReasoning, InContent, InToolCall}, f.In):
		return fmt.Errorf("in: %q, want %s, %s or %s", f.In, InReasoning, InContent, InToolCall)
	}
	return nil
}

// unused names a setting that this kind of fault does not look at: whoever set it meant something else.
func (f *Fault) unused() string {
	midStream := f.Where == Stream && slices.Contains([]What{Silence, Reset, Comments, Error, Cut, Malformed, TruncateCall}, f.What)
	for _, c := range []struct {
		field string
		set   bool
		used  bool
	}{
		{"delay", f.Delay != 0, f.What == Latency || f.What == Reasoning || f.What == Buffer},
		{"after_tokens", f.AfterTokens != 0, midStream},
		{"in", f.In != "", midStream},
		{"every", f.Every != 0, f.What == Comments},
		{"status", f.StatusCode != 0, f.What == Status || f.What == Error},
		{"retry_after", f.RetryAfter != "", f.Where == Router && f.What == Status},
		{"release_after", f.ReleaseAfter != 0, f.What == PinOnAbort},
		{"factor", f.Factor != 0, f.What == Slow || f.What == Throttle},
		{"kv_tokens", f.KVTokens != 0, f.What == StarveKV},
		{"probability, nth, only, times, round, context_over_tokens, concurrency_over, after_abort, agent or header", f.ofRequest(), !slices.Contains(whole, f.What)},
	} {
		if c.set && !c.used {
			return c.field
		}
	}
	return ""
}

// ofRequest says whether a condition is set that only a request can meet.
func (f *Fault) ofRequest() bool {
	return f.Probability != 0 || f.Nth != 0 || f.Only != 0 || f.Times != 0 || f.Round != 0 || f.ContextOver != 0 ||
		f.ConcurrencyOver != 0 || f.AfterAbort || f.Agent != "" || f.Header != ""
}

func notInID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

func validPlace(where Where, what What) error {
	var places []string
	for _, a := range allowed {
		if a.where != where {
			places = append(places, string(a.where))
			continue
		}
		if slices.Contains(a.what, what) {
			return nil
		}
		return fmt.Errorf("what: %q at %s, want one of %s", what, where, list(a.what))
	}
	return fmt.Errorf("where: %q, want one of %s", where, strings.Join(places, ", "))
}
