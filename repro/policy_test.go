package repro

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/pacer/preset"
)

// The ways in which the answers of the incident may come, which decide what a limit sees of them.
const (
	streamed = "" // token by token
	// silent: headers after the prefill, then nothing until the answer is complete. A model that does
	// not show its thoughts comes near to it.
	silent = "{id: silent, where: stream, what: reasoning, delay: 10m}"
	// held: nothing at all until the answer is complete, as of a call that is not streamed.
	held = "{id: held, where: connection, what: buffer}"
)

// fires says in which ways of an answer to come a limit of each preset ends attempts of the incident's
// calls, which last from 100 s to a bit over 300 s. Presets that are not here end none: their limits
// are longer, or they have none.
func fires() map[string][]string {
	return map[string][]string{
		// Of the field: the limits of 300 s and below. Only those of the whole answer end one that is
		// streamed.
		"envoy-default":           {streamed, silent, held},
		"openai-go-3-request-60s": {streamed, silent, held},
		"nginx":                   {silent, held},
		"aws-alb":                 {silent, held},
		"opencode":                {silent, held},
		"undici":                  {silent, held},
		"openai-node-7":           {silent, held}, // by undici below it
		"codex":                   {silent},       // its limit is on the stream alone
		"langchain-async":         {silent},
		"claude-code-2":           {silent},

		"total-60s":              {streamed, silent, held},
		"ttft-120s-idle-60s":     {silent, held},
		"ttft-300s-idle-120s":    {silent, held},
		"budget-10-percent":      {silent, held},
		"throttle-sre":           {silent, held},
		"throttle-sre-stock":     {silent, held},
		"breaker-ttft":           {silent, held},
		"ideal":                  {silent, held}, // its 300 s for the first output are just too short
		"hedge-30s":              {silent, held},
		"adaptive-ttft":          {silent, held},
		"adaptive-rto":           {silent, held},
		"adaptive-success-only":  {streamed, silent, held}, // until it has learnt
		"idle-60s":               {silent},
		"idle-120s":              {silent},
		"idle-by-byte-60s":       {silent},
		"continue-idle-60s":      {silent},
		"slot-until-headers":     {silent},
		"slot-until-first-token": {silent},
		"slots-aimd-ttft":        {silent},
		"fair-slots":             {silent},
	}
}

// incident is the scenario starvation with calls of all the lengths that were seen, all at once.
func incident(t *testing.T, policy, way string) *Scenario {
	t.Helper()
	s, err := Lookup("starvation")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range [][2]string{
		{"pacer.slots", "30"}, {"workflow.rounds", "1"}, {"workflow.output_tokens", "{uniform: [1800, 5900]}"}, {"horizon", "2h"},
		{"policy.preset", policy},
	} {
		if err := s.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	if way != streamed {
		if err := s.AddFaults(way); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestWhichPresetsFireOnTheIncident: exactly those with a limit at or below 300 s, and of those only
// the ones that see the answer take long.
func TestWhichPresetsFireOnTheIncident(t *testing.T) {
	expected := fires()
	for i, name := range preset.Names() {
		for _, way := range []string{streamed, silent, held} {
			if testing.Short() && i%4 != 0 { // as under the race detector, which makes a run ten times as long
				continue
			}
			s := incident(t, name, way)
			r, err := Run(t.Context(), s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, want := r.Report.Totals.AttemptsTimeout, slices.Contains(expected[name], way)
			if got > 0 != want {
				t.Errorf("seed %d: %s, answers %q: %d attempts of %d ended by a limit, want some: %v", s.Seed, name, way, got, r.Report.Totals.Attempts, want)
			}
		}
		delete(expected, name)
	}
	if len(expected) > 0 {
		t.Errorf("no presets of these names: %v", expected)
	}
}

// TestIncidentLengths: the calls of that test last as long as it says.
func TestIncidentLengths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := incident(t, "none", streamed)
	if _, err := Run(t.Context(), s, Options{Out: dir}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, bundle.EventsLog))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	least, most := 1e9, 0.0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if !strings.Contains(lines.Text(), `"call_end"`) {
			continue
		}
		var e struct {
			TookS float64 `json:"took_s"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		least, most = min(least, e.TookS), max(most, e.TookS)
	}
	if least < 90 || most < 300 || most > 340 {
		t.Errorf("seed %d: calls of %.0f s to %.0f s, want 90 s or more, and up to a bit over 300 s", s.Seed, least, most)
	}
}
