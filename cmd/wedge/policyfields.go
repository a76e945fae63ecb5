package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/preset"
)

// meanings says of each field of a policy what it is, in the order in which they are shown.
func meanings() [][2]string {
	return [][2]string{
		{"connect", "to the connection: pool and dial"},
		{"dial", "to the connection, without the wait for room in the pool"},
		{"response_header", "from the connection to the response headers"},
		{"first_token", "from the connection to the first output"},
		{"idle", "of silence, once there are headers, or output if first_token is on"},
		{"idle_by", "what ends a silence: a token, an event with data, or any byte"},
		{"total", "for an attempt, to its last byte"},
		{"total_covers_backoff", "total runs on through the wait after the attempt, and is not retried"},
		{"work_base", "for an attempt, plus work_per_token for each token that it allows"},
		{"work_per_token", "see work_base"},
		{"call_total", "for a call with all its attempts and waits"},
		{"round", "for a round of an agent, tools included"},
		{"task", "for an agent's task"},
		{"adaptive", "limits that are learnt"},
		{"max_attempts", "attempts of a call, the first included"},
		{"retry_timeouts", "after a limit of the policy"},
		{"retry_network", "after a failed connection, a reset, a body that broke off"},
		{"retry_on", "after these statuses"},
		{"retry_phases", "only if it failed in these phases; else in any"},
		{"retry_hint", "the header x-should-retry comes before retry_on"},
		{"retry_shed", "after the pacer itself has turned an attempt away"},
		{"partial", "what becomes of the part of an answer that had come"},
		{"backoff_base", "wait before the second attempt, before jitter"},
		{"backoff_throttled_base", "the same after a 429"},
		{"backoff_multiplier", "each wait by so much longer"},
		{"backoff_max", "the longest wait, before jitter"},
		{"backoff_floor", "the shortest wait"},
		{"jitter", "how a wait is spread"},
		{"jitter_factor", "by how much"},
		{"retry_after_max", "the longest wait that the server may ask for"},
		{"retry_after_over", "what is done if it asks for more"},
		{"retry_after_rule", "how that goes with the own wait"},
		{"retry_after_below", "of less than this, the own wait is kept"},
		{"retry_after_jitter", "by up to this share longer than asked for"},
		{"retry_budget", "bound on retries and hedges over all calls"},
		{"throttle", "turns attempts away that would probably fail"},
		{"breaker", "turns attempts away after failures"},
		{"hedge", "a second attempt beside a slow one"},
		{"propagate_deadline", "tells the server how much time is left"},
		{"deadline_margin", "less this, for the way"},
	}
}

// parameter is a field of a policy, as an explanation shows it.
type parameter struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Default bool   `json:"default"` // the policy's file does not name it
}

// parameters lists the fields of a policy that are on, and the names of those that are off.
func parameters(p *preset.Preset) (on []parameter, off []string) {
	values := reflect.ValueOf(p.Policy)
	byName := map[string]reflect.Value{}
	for f, v := range values.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		byName[name] = v
	}
	for _, m := range meanings() {
		name, v := m[0], byName[m[0]]
		switch {
		case v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0:
			off = append(off, name)
		case p.Named(name) || applies(name, &p.Policy):
			on = append(on, parameter{Name: name, Value: valueText(v.Interface()), Meaning: m[1], Default: !p.Named(name)})
		}
	}
	return on, off
}

// applies says whether a field that is on by default has a say under the policy.
func applies(name string, p *pacer.Policy) bool {
	switch {
	case name == "idle_by":
		return p.Idle > 0
	case strings.HasPrefix(name, "retry_after_"):
		return p.RetryAfterMax > 0
	case strings.HasPrefix(name, "backoff_") || name == "jitter":
		return p.MaxAttempts > 1 && p.BackoffMax > 0
	}
	return true
}

// valueText writes a value as it would stand in a file.
func valueText(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return shortDuration(v)
	case string:
		return v
	}
	text, err := yaml.MarshalWithOptions(v, yaml.Flow(true))
	if err != nil {
		return fmt.Sprint(v)
	}
	return oneLine(string(text))
}

// shortDuration writes a duration without units that are zero, and in seconds, as limits are mostly
// given, if it is not long.
func shortDuration(d time.Duration) string {
	if d < 20*time.Minute && d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// limitsLine writes the limits of a policy in a short form.
func limitsLine(p *pacer.Policy) string {
	var parts []string
	add := func(what string, d time.Duration, more string) {
		if d > 0 {
			parts = append(parts, what+" "+shortDuration(d)+more)
		}
	}
	add("dial", p.Dial, "")
	add("connect", p.Connect, "")
	add("headers", p.ResponseHeader, "")
	add("first token", p.FirstToken, "")
	add("silence", p.Idle, " by "+string(p.IdleBy))
	covers := ""
	if p.TotalCoversBackoff {
		covers = " with the wait after it"
	}
	add("attempt", p.Total, covers)
	if p.WorkPerToken > 0 {
		covers = " + " + shortDuration(p.WorkPerToken) + " a token"
	} else {
		covers = ""
	}
	add("attempt", p.WorkBase, covers)
	add("call", p.CallTotal, "")
	add("round", p.Round, "")
	add("task", p.Task, "")
	for _, a := range p.Adaptive {
		parts = append(parts, fmt.Sprintf("learnt %s by %s", a.Limit, a.Rule))
	}
	add("hedge after", p.Hedge.After, "")
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(slices.Compact(parts), ", ")
}
