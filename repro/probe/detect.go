package probe

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	"example.com/wedge/repro/serving/api"
)

// found is what one look at a target showed.
type found struct {
	page *api.Page // of a server
	dump []byte    // of a client
	err  error     // what is wrong, on one line
	// foreign says that it answers, but is nothing that can be read here.
	foreign bool
	// refused is the status of a server that wants a key, or another one; 0: it does not.
	refused int
}

// look takes the first look at a target: it finds out its role if that is not known, and reads its
// metrics or its goroutines once. beside are the places of all targets.
func (f *fetcher) look(ctx context.Context, t *Target, beside []string) found {
	if t.Role == RoleClient || t.Role == "" && t.saysClient() {
		t.Role = RoleClient
		return f.goroutines(ctx, *t)
	}
	got := f.metrics(ctx, *t, beside)
	if t.Role.Server() || got.err != nil && !got.foreign || got.refused != 0 {
		if t.Role.Server() && got.err == nil {
			return t.checked(got)
		}
		return got
	}
	if got.err == nil {
		if t.Role = roleOf(got.page); t.Role != "" {
			return got
		}
		got.err = fmt.Errorf("GET %s shows metrics, but none of SGLang's router, SGLang's engines or vLLM", pathMetrics)
	}
	if dump := f.goroutines(ctx, *t); dump.err == nil {
		t.Role = RoleClient
		return dump
	}
	return found{foreign: true, err: fmt.Errorf("it answers, but is none of the things that can be probed: %w; GET %s shows no goroutines. Want a router, an engine, or a Go program that imports net/http/pprof", got.err, pathDump)}
}

// checked refuses a page of another kind of server than the target is named: its counts would stand for
// something else. Of engines only the names of what they show are to go by, and a proxy may change them.
func (t *Target) checked(got found) found {
	is := roleOf(got.page)
	switch {
	case is == "":
		return found{foreign: true, err: fmt.Errorf("its metrics are none of SGLang's router, SGLang's engines or vLLM: is it a %s?", t.Role)}
	case (is == RoleRouter) != (t.Role == RoleRouter):
		return found{foreign: true, err: fmt.Errorf("its metrics are those of %s: want %s=%s", withArticle(is), is, t.shown())}
	}
	return got
}

func withArticle(r Role) string {
	switch r {
	case RoleRouter:
		return "a router"
	case RoleEngine:
		return "an engine"
	}
	return "a " + string(r) + " engine"
}

// metrics reads a metrics page.
func (f *fetcher) metrics(ctx context.Context, t Target, beside []string) found {
	a, err := f.get(ctx, t, pathMetrics, pageBytesMax, answerTimeMax)
	if err != nil {
		return found{err: err}
	}
	if a.status != http.StatusOK {
		got := found{foreign: true, err: fmt.Errorf("GET %s gives HTTP status %d, want 200", pathMetrics, a.status)}
		if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
			got.refused, got.foreign = a.status, false
		}
		if a.status >= 500 {
			got.foreign = false
		}
		return got
	}
	if a.kind == "text/html" {
		return found{foreign: true, err: fmt.Errorf("GET %s gives a page of HTML, want metrics in Prometheus' text format", pathMetrics)}
	}
	page, err := api.ParsePage(a.body, beside...)
	if err != nil {
		return found{foreign: true, err: fmt.Errorf("GET %s: %s", pathMetrics, cut(err.Error()))}
	}
	return found{page: page}
}

// goroutines reads a goroutine dump.
func (f *fetcher) goroutines(ctx context.Context, t Target) found {
	a, err := f.get(ctx, t, pathDump, dumpBytesMax, dumpTimeMax)
	switch {
	case err != nil:
		return found{err: err}
	case a.status != http.StatusOK:
		return found{foreign: true, err: fmt.Errorf("GET %s gives HTTP status %d, want 200: does the program import net/http/pprof?", pathDump, a.status)}
	case !bytes.HasPrefix(a.body, []byte("goroutine ")):
		return found{foreign: true, err: fmt.Errorf("GET %s?debug=2 gives something else than goroutines: does the program import net/http/pprof?", pathDump)}
	}
	return found{dump: a.body}
}

// roleOf finds out by its metrics what a server is; empty: none that is known.
func roleOf(p *api.Page) Role {
	if p.Has("smg_") || p.Has("sgl_router_") {
		return RoleRouter
	}
	if p.Has("vllm:") {
		return RoleEngine
	}
	if !p.Has("sglang:") {
		return ""
	}
	switch types := p.Values("sglang:", "engine_type"); {
	case slices.Contains(types, "prefill") && !slices.Contains(types, "decode"):
		return RolePrefill
	case slices.Contains(types, "decode") && !slices.Contains(types, "prefill"):
		return RoleDecode
	}
	return RoleEngine
}
