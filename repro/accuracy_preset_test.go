package repro_test

import (
	"testing"

	"example.com/wedge/repro"
)

// splitOnly are the scenarios of what happens between a prefill and a decode engine, and there alone. A
// single engine that is given long prompts computes them before it goes on with anybody's answer, so that
// there is no queue before it for as long: prefill-bottleneck is slow there.
var splitOnly = map[string]bool{"inflight-pin": true, "pin-watchdog": true, "bad-pairing": true, "compound-pin-storm": true, "prefill-bottleneck": true}

// afterPreset are the settings of servers that scenarios rest on, and that a preset would replace.
var afterPreset = map[string][]string{
	"decode-serialized":           {"servers.decode.running_max=1"},
	"router-queue":                {"servers.router.queued_max=8"},
	"timeout-cascade":             {"servers.abort.detect=never", "servers.decode.running_max=32", "servers.router.queued_max=0"},
	"compound-slow-timeout-abort": {"servers.abort.detect=never", "servers.router.queued_max=0"},
	"ignored-abort":               {"servers.abort.detect=never", "servers.router.queued_max=0"},
}

// TestAccuracyOfPresets runs the catalogue, randomised, against servers that do prefill and decode in one
// engine, as vLLM and SGLang do by default, and that show other gauges.
func TestAccuracyOfPresets(t *testing.T) {
	seeds := uint64(accuracyRuns()/10 + 1)
	for _, preset := range []string{"vllm", "sglang"} {
		for _, name := range repro.Names() {
			if splitOnly[name] {
				continue
			}
			t.Run(preset+"/"+name, func(t *testing.T) {
				t.Parallel()
				wrong := uint64(0)
				for seed := uint64(1); seed <= seeds; seed++ {
					s, replay := randomised(t, name, seed, append([]string{"servers.preset=" + preset}, afterPreset[name]...)...)
					if s.wrong != "" {
						wrong++
						t.Logf("found %s: %s\nreplay: %s", s.found, s.wrong, replay)
					}
				}
				if 20*wrong > seeds { // one is an accident only among many
					t.Errorf("%d of %d verdicts are wrong", wrong, seeds)
				}
			})
		}
	}
}
