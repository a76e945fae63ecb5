package guest

import (
	"slices"
	"strconv"
	"strings"
)

// Key is the API key that the harness is given. The servers look at none.
const Key = "sk-wedge-simulated"

// keyVar is the variable that clients take their key from.
const keyVar = "OPENAI_API_KEY"

// ownKeys are wedge's own keys, which the harness gets nothing of.
func ownKeys() []string { return []string{"WEDGE_API_KEY", "WEDGE_SERVE_TOKEN"} }

// environment is what the harness is given: its own, with what points clients to the servers in place
// of what was there.
func (g *session) environment() []string {
	at := g.servers()
	set := [][2]string{
		{"OPENAI_BASE_URL", at.BaseURL}, // the official clients, and most that build on them
		{"OPENAI_API_BASE", at.BaseURL}, // older ones, LiteLLM, LangChain, aider
		{keyVar, Key},
		{"WEDGE_BASE_URL", at.BaseURL},
		{"WEDGE_METRICS_URL", at.MetricsURL},
		{"WEDGE_FAULTS_URL", at.FaultsURL},
		{"WEDGE_MODEL", at.Model},
		{"WEDGE_SCALE", strconv.FormatFloat(g.o.Scale, 'g', -1, 64)},
	}
	for _, name := range g.o.URLVars {
		set = append(set, [2]string{name, at.BaseURL})
	}
	for _, name := range [...]string{"NO_PROXY", "no_proxy"} {
		hosts := "127.0.0.1,localhost"
		if before := lookup(g.o.Env, name); before != "" {
			hosts = before + "," + hosts
		}
		set = append(set, [2]string{name, hosts})
	}
	env := slices.DeleteFunc(slices.Clone(g.o.Env), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return slices.Contains(ownKeys(), name)
	})
	for _, v := range set {
		env = slices.DeleteFunc(env, func(line string) bool { return strings.HasPrefix(line, v[0]+"=") })
		env = append(env, v[0]+"="+v[1])
	}
	return env
}

// lookup returns the value of a variable, the last one if there are several.
func lookup(env []string, name string) string {
	for _, line := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// secrets are the values of variables that are keys by their name: a dump of the harness may show them.
func secrets(env []string) []string {
	var out []string
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if name = strings.ToUpper(name); strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_SECRET") || strings.HasSuffix(name, "_PASSWORD") {
			out = append(out, value)
		}
	}
	return out
}
