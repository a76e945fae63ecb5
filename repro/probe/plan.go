package probe

import (
	"fmt"
	"net/http"
	"strings"
)

// Planned is how many requests of one kind go to one place: exactly so many, or fewer if the probe is
// interrupted or the place does not answer.
type Planned struct {
	URL    string `json:"url"`
	Role   Role   `json:"role"` // empty: not known yet
	Method string `json:"method"`
	Path   string `json:"path"`
	Most   int    `json:"most"`
	Made   int    `json:"made"`
}

// Plan is every request that a probe makes.
type Plan []Planned

// plan lists the requests, once the roles are known. What the first look asked for beyond that, to
// find out a role, is in it.
func (p *prober) plan() Plan {
	var plan Plan
	entrance, ok := p.entrance()
	for i, t := range p.targets {
		plan = append(plan, p.o.planOf(t, p.o.Targets[i].Role == "" && !t.saysClient())...)
		if !ok || !p.o.Request || t != entrance {
			continue
		}
		if p.o.Model == "" {
			plan = append(plan, Planned{URL: t.shown(), Role: t.Role, Method: http.MethodGet, Path: pathModels, Most: 1})
		}
		plan = append(plan, Planned{URL: t.shown(), Role: t.Role, Method: http.MethodPost, Path: pathChat, Most: 1})
	}
	for i := range plan {
		one := &plan[i]
		one.Made = p.fetch.made[one.URL+" "+one.Method+" "+one.Path]
	}
	return plan
}

// planOf lists the requests to one target but for those of the request end to end.
func (o *Options) planOf(t Target, guessed bool) Plan {
	get := func(path string, most int) Planned {
		return Planned{URL: t.shown(), Role: t.Role, Method: http.MethodGet, Path: path, Most: most}
	}
	switch {
	case t.Role == RoleClient && guessed:
		return Plan{get(pathMetrics, 1), get(pathDump, 2)}
	case t.Role == RoleClient:
		return Plan{get(pathDump, 2)}
	}
	plan := Plan{get(pathMetrics, o.readings()), get(pathHealth, 1)}
	if t.Role == "" {
		plan = append(plan, get(pathDump, 1))
	}
	return plan
}

// planBefore says what is going to be asked, before anything is.
func planBefore(o *Options) []string {
	unknown := 0
	for _, t := range o.Targets {
		if t.Role == "" && !t.saysClient() {
			unknown++
		}
	}
	lines := []string{fmt.Sprintf("looking at %s for %s (one reading every %s)", plural(len(o.Targets), "URL"), span(o.For), span(o.Every))}
	if unknown > 0 {
		lines = append(lines, fmt.Sprintf("to find out what %s: 1 x GET %s at each, and 1 x GET %s?debug=2 where that shows no server",
			verb(unknown, "the URL without a role is", fmt.Sprintf("the %d URLs without a role are", unknown)), pathMetrics, pathDump))
	}
	most := fmt.Sprintf("at most: %d x GET %s and 1 x GET %s at each server, 2 goroutine dumps of each client", o.readings(), pathMetrics, pathHealth)
	if o.Request {
		if o.Model == "" {
			most += ", 1 x GET " + pathModels
		}
		most += fmt.Sprintf(", 1 chat request of at most %s for at most %s", plural(o.MaxTokens, "token"), span(o.Limit))
	} else {
		most += ", no chat request"
	}
	return append(lines, most)
}

// lines says what will be asked of whom.
func (plan Plan) lines() []string {
	var out []string
	for i := 0; i < len(plan); {
		var parts []string
		j := i
		for ; j < len(plan) && plan[j].URL == plan[i].URL; j++ {
			one := plan[j]
			switch one.Path {
			case pathDump:
				parts = append(parts, plural(one.Most, "goroutine dump"))
			case pathChat:
				parts = append(parts, plural(one.Most, "chat request"))
			default:
				parts = append(parts, fmt.Sprintf("%d x %s %s", one.Most, one.Method, one.Path))
			}
		}
		out = append(out, fmt.Sprintf("%s %s: %s", plan[i].Role, plan[i].URL, strings.Join(parts, ", ")))
		i = j
	}
	return out
}
