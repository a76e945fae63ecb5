//go:build integration

package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
)

// want checks the finding and the verdict; empty fields accept anything.
func want(t *testing.T, r *probe.Report, f probe.Finding, o diagnose.Outcome, l diagnose.Layer, c diagnose.Cause) {
	t.Helper()
	v := &r.Verdict
	if r.Part.Finding != f {
		t.Errorf("found %s, want %s", r.Part.Finding, f)
	}
	if o != "" && v.Outcome != o || l != "" && v.Layer != l || c != "" && v.Cause != c {
		t.Errorf("%s, layer %s, cause %s; want %s, %s, %s", v.Outcome, v.Layer, v.Cause, o, l, c)
	}
}

func streams(n int) func(string) bool {
	return func(dump string) bool { return strings.Count(dump, "net/http.(*bodyEOFSignal).Read(") >= n }
}

func headers(n int) func(string) bool {
	return func(dump string) bool { return strings.Count(dump, "net/http.(*persistConn).roundTrip(") >= n }
}

func TestIntegrationHealthyUnderLoad(t *testing.T) {
	router, prefill, decode := serve(t, nil)
	client := clientPlan{BaseURL: router, Clients: 20, MaxTokens: 100}.start(t)
	until(t, client, streams(5))
	r := run(t, options(t, router, prefill, decode, client))
	want(t, r, probe.FoundHealthy, diagnose.Completed, diagnose.LayerNone, diagnose.CauseNone)
	if f := r.Part.Sides.Finished; f == nil || *f < 20 {
		t.Errorf("finished %v, want 20 or more", f)
	}
}

func TestIntegrationSlowIsNotStuck(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: slow, where: decode, what: slow, factor: 10}"})
	client := clientPlan{BaseURL: router, Clients: 20, MaxTokens: 100_000}.start(t)
	until(t, client, streams(20))
	r := run(t, options(t, router, prefill, decode, client))
	want(t, r, probe.FoundSlow, diagnose.Slow, "", "")
}

func TestIntegrationSilentStreams(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: quiet, where: stream, what: silence, after_tokens: 20}"})
	client := clientPlan{BaseURL: router, Clients: 20, MaxTokens: 400}.start(t)
	until(t, client, streams(20))
	o := options(t, router, prefill, decode, client)
	o.Request = false
	r := run(t, o)
	want(t, r, probe.FoundSilent, diagnose.Wedged, diagnose.LayerStream, diagnose.CauseSilentStream)
}

func TestIntegrationRouterFull(t *testing.T) {
	router, prefill, decode := serve(t, nil, "servers.router.queued_max=8")
	client := clientPlan{BaseURL: router, Clients: 30, MaxTokens: 100_000, Pause: 20e6}.start(t)
	until(t, client, streams(8))
	r := run(t, options(t, router, prefill, decode, client))
	want(t, r, probe.FoundRefused, diagnose.Storming, diagnose.LayerRouter, diagnose.CauseRouterQueue)
}

func TestIntegrationDeadEngine(t *testing.T) {
	router, prefill, _ := serve(t, nil)
	r := run(t, options(t, router, prefill, "decode="+closedPort(t)))
	want(t, r, probe.FoundDead, diagnose.Failed, diagnose.LayerDecode, "")
}

func TestIntegrationHungDecode(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: hung, where: decode, what: hang}"})
	client := clientPlan{BaseURL: router, Clients: 20, MaxTokens: 100_000}.start(t)
	until(t, client, headers(20))
	o := options(t, router, prefill, decode, client)
	r := run(t, o)
	if !r.Verdict.Outcome.Hang() {
		t.Errorf("%s, want a hang", r.Verdict.Outcome)
	}
}

func TestIntegrationConnectionPool(t *testing.T) {
	router, prefill, decode := serve(t, nil)
	client := clientPlan{BaseURL: router, Clients: 30, MaxTokens: 100_000, ConnectionsMax: 4}.start(t)
	until(t, client, streams(4))
	r := run(t, options(t, router, prefill, decode, client))
	want(t, r, probe.FoundHeld, diagnose.Starved, diagnose.LayerConnection, diagnose.CauseConnectionPool)
}

// The engines' gauges may stand still while tokens are made: that is not silence.
func TestIntegrationConnectionPoolBehindFrozenGauges(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: frozen, where: metrics, what: freeze}"})
	client := clientPlan{BaseURL: router, Clients: 30, MaxTokens: 100_000, ConnectionsMax: 4}.start(t)
	until(t, client, streams(4))
	r := run(t, options(t, router, prefill, decode, client))
	want(t, r, probe.FoundHeld, diagnose.Starved, diagnose.LayerConnection, diagnose.CauseConnectionPool)
}

// Calls that vanish on their way to the router are with no server, whatever a gauge that stands still
// shows.
func TestIntegrationBlackhole(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: hole, where: connection, what: blackhole}"})
	client := clientPlan{BaseURL: router, Clients: 10, MaxTokens: 100}.start(t)
	until(t, client, headers(10))
	o := options(t, prefill, decode, client, "router="+router)
	o.Request = false
	r := run(t, o)
	want(t, r, probe.FoundHeld, diagnose.Wedged, diagnose.LayerConnection, "")
	if s := r.Verdict.Stages; len(s) != 1 || s[0].Calls != 10 || s[0].ServerStage != diagnose.ServerUnknown {
		t.Errorf("stages %+v, want 10 calls that no server knows of", s)
	}
}

func TestIntegrationRouterLogAlone(t *testing.T) {
	text := "2026-11-30 10:00:00  INFO smg::observability: request_id=a started\n"
	path := filepath.Join(t.TempDir(), "router.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	router, _, _ := serve(t, nil)
	o := options(t, router)
	o.RouterLog = path
	want(t, run(t, o), probe.FoundIdle, diagnose.Completed, "", "")
}

func TestIntegrationServersOnly(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: hung, where: decode, what: hang}"})
	client := clientPlan{BaseURL: router, Clients: 20, MaxTokens: 100_000}.start(t)
	until(t, client, headers(20))
	o := options(t, router, prefill, decode)
	o.Request = false
	if r := run(t, o); !r.Verdict.Outcome.Hang() {
		t.Errorf("%s, want a hang", r.Verdict.Outcome)
	}
}

func TestIntegrationDeadlockInTheClient(t *testing.T) {
	router, prefill, decode := serve(t, nil)
	client := clientPlan{BaseURL: router, Deadlock: true}.start(t)
	until(t, client, func(dump string) bool { return strings.Count(dump, "sync.Mutex.Lock") >= 2 })
	r := run(t, options(t, router, prefill, decode, client))
	want(t, r, probe.FoundInside, "", diagnose.LayerHarness, "")
	if !r.Verdict.Outcome.Hang() {
		t.Errorf("%s, want a hang", r.Verdict.Outcome)
	}
}
