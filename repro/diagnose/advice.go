package diagnose

import (
	"regexp"
	"strings"
)

// inWords turns advice that names fields of wedge's own scenarios and options into what somebody can do
// whose program has none of these: one that embeds the watchdog, or that is only seen by its servers.
func inWords(advice []string) []string {
	out := make([]string, len(advice))
	for i, text := range advice {
		out[i] = fieldNames().Replace(setInWords(text))
	}
	return out
}

// setOption is one setting on wedge's command line: its field and value.
var setOption = regexp.MustCompile(`--set ([a-z_.]+)=([a-z0-9]+)`)

// setInWords rewrites settings: those that an advice begins with as what to set, others in place.
func setInWords(text string) string {
	begins := strings.HasPrefix(text, "--set ")
	rest, words := text, []string{}
	for begins {
		at := setOption.FindStringSubmatchIndex(rest)
		if at == nil || at[0] != 0 {
			break
		}
		if w := settingInWords(rest[at[2]:at[3]], rest[at[4]:at[5]]); w != "" {
			words = append(words, w)
		}
		rest = strings.TrimPrefix(rest[at[1]:], " ")
		if !strings.HasPrefix(rest, "--set ") {
			break
		}
	}
	rest = strings.ReplaceAll(rest, " --set ", " and --set ")
	rest = strings.ReplaceAll(rest, ": and --set ", ": --set ")
	rest = setOption.ReplaceAllStringFunc(rest, func(option string) string {
		m := setOption.FindStringSubmatch(option)
		return settingInWords(m[1], m[2])
	})
	switch {
	case !begins:
		return rest
	case len(words) == 0:
		return strings.TrimLeft(rest, ":, ")
	case strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ","):
		return "set " + list(words) + rest
	}
	return "set " + list(words) + ": this " + rest
}

// settingInWords says what a field with a value is; empty if the advice says the same in its own words.
func settingInWords(field, value string) string {
	about := "about " + strings.TrimSuffix(value, "s") + " s"
	switch field {
	case "policy.idle":
		return "an idle limit of " + about + " on streams"
	case "policy.idle_by":
		return "progress by tokens and not by bytes"
	case "policy.first_token":
		return "a limit of " + about + " on the wait for the first token"
	case "policy.response_header":
		return "a limit of " + about + " on the wait for response headers"
	case "policy.total":
		return "no limit on the whole call"
	case "policy.jitter":
		return "each wait drawn anew between 0 and its length"
	case "pacer.slots":
		return value + " slots"
	case "pacer.connections_max":
		return "no limit on connections to one host"
	}
	return ""
}

// fieldNames replaces what advice calls other fields and options.
func fieldNames() *strings.Replacer {
	return strings.NewReplacer(
		" (--set pacer.slots)", "", " (pacer.slots)", "", " (servers.decode.reserve_tokens)", "",
		"--metrics-url URL, if the servers show gauges anywhere", "have the servers' gauges read too (/metrics), if they show any",
		"raise pacer.requests_per_second or pacer.tokens_per_second, whichever is set", "raise the program's own limit of requests or tokens a second",
		"a lower pacer.requests_per_second or pacer.tokens_per_second", "a lower rate of requests or tokens",
		"watchdog.stall_after", "the watchdog's patience",
		"a longer policy.backoff_base", "a longer first wait",
		"policy.backoff_base, policy.max_attempts", "a longer first wait, more attempts",
		"policy.retry_after_max caps the waits that servers ask for", "see that the waits that servers ask for are kept in full",
		", and policy.retry_after_over says what to do beyond", "",
		"policy.backoff_max caps the waits before another attempt, which", "the waits before another attempt",
		"leave policy.throttle out", "leave the throttle out", " (policy.breaker)", "", " (pacer.queue)", "", " (policy.retry_budget)", "",
		"policy.retry_shed=true, so that", "another attempt for them, so that", " (policy.adaptive without success_only)", "",
		"policy.work_base or policy.work_per_token", "the limit by expected work", "policy.work_base and work_per_token", "by expected work",
		"policy.call_total", "the limit of a whole call", "(policy.total)", "(of an attempt)", ", policy.idle", "",
	)
}
