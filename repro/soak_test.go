package repro_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro"
)

const soakText = `
soak:
  for: 24h
  load: {agents: 20, stages: [{over: 1h, to: 40}]}
  random_faults:
    - {fault: {id: quiet, where: stream, what: silence, after_tokens: 50, probability: 0.2}, every: 2h, lasts: 5m}
    - {fault: {where: router, what: status, status: 503}, every: 6h, lasts: 1m, jitter: none}
  on_disk_error: stop
`

func soakScenario(t *testing.T, text string) *repro.Scenario {
	t.Helper()
	s, err := repro.Parse("soak.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSoakDefaults(t *testing.T) {
	for _, c := range []struct {
		soak           repro.Soak
		window, warmUp time.Duration
	}{
		{repro.Soak{For: 24 * time.Hour}, 15 * time.Minute, 144 * time.Minute},
		{repro.Soak{For: time.Minute}, 10 * time.Second, 6 * time.Second},
		{repro.Soak{For: 10 * time.Minute}, 10 * time.Second, time.Minute},
		{repro.Soak{For: 7 * 24 * time.Hour}, 2 * time.Hour, 1008 * time.Minute},
		{repro.Soak{For: 5 * time.Second}, 5 * time.Second, 500 * time.Millisecond},
		{repro.Soak{Tasks: 100}, time.Minute, 0},
		{repro.Soak{For: 24 * time.Hour, Tasks: 100}, 15 * time.Minute, 0},
		{repro.Soak{For: time.Hour, Window: 7 * time.Second, WarmUp: time.Second}, 7 * time.Second, time.Second},
	} {
		got := c.soak.WithDefaults(12 * time.Hour)
		if got.Window != c.window || got.WarmUp != c.warmUp || got.LogBytesMax != 16<<20 || got.LogFilesMax != 8 || got.OnStall != repro.GoOn {
			t.Errorf("%+v: %+v, want windows of %v and a warm-up of %v", c.soak, got, c.window, c.warmUp)
		}
		if again := got.WithDefaults(12 * time.Hour); !reflect.DeepEqual(again, got) {
			t.Errorf("defaults of defaults: %+v, want %+v", again, got)
		}
	}
}

// TestSoakOfAScenario: what is printed is read back, and a scenario that says nothing of it has no block.
func TestSoakOfAScenario(t *testing.T) {
	s := soakScenario(t, soakText)
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := repro.Parse("printed.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if printed, _ := again.YAML(); !bytes.Equal(printed, text) {
		t.Errorf("printed, read and printed again:\n%s\nwant\n%s", printed, text)
	}
	plain := soakScenario(t, "name: plain\n")
	if text, _ := plain.YAML(); bytes.Contains(text, []byte("soak")) {
		t.Errorf("a scenario without the block prints one:\n%s", text)
	}
}

func TestSoakBadInput(t *testing.T) {
	for text, want := range map[string]string{
		"{for: 20000h}":                "soak.yaml:2:13: soak.for: found 20000h0m0s, want 0s (until tasks have ended) or 1s to 10000h0m0s",
		"{for: 1h, window: 2h}":        "soak.window: found 2h0m0s, want 0s (a round length) or 1s to 1h0m0s, which is the whole soak",
		"{for: 10000h, window: 1s}":    "soak.window: found 1s, of which there are 36000000 in 10000h0m0s, want at most 10000: at least 1h0m0s",
		"{for: 1h, warm_up: 1h}":       "soak.warm_up: found 1h0m0s, want",
		"{tasks: -1}":                  "soak.tasks: found -1, want 0",
		"{for: 1h, on_stall: panic}":   `soak.on_stall: found "panic", want go_on or stop`,
		"{for: 1h, on_disk_error: x}":  `soak.on_disk_error: found "x", want go_on or stop`,
		"{for: 1h, log_bytes_max: 10}": "soak.log_bytes_max: found 10, want 0 (16777216) or 65536 to 1073741824",
		"{for: 1h, log_files_max: 1}":  "soak.log_files_max: found 1, want 0 (8) or 2 to 1000",
		"{for: 1h, random_faults: [{fault: {id: q, where: stream, what: silence}, every: 1m, lasts: 1s}]}\nfaults: [{id: q-001, where: stream, what: silence}]": "soak.random_faults[0].fault.id: found \"q\", whose faults are called as faults[0] is (q-001)",
		"{for: 1h, thresholds: ['']}":                             "soak.thresholds[0]: found nothing, want an expression",
		"{for: 1h, thresholds: ['stalls == 0', 'p95(cal) < 1s']}": "soak.thresholds[1]: ",
		"{for: 1h, load: {loop: sideways}}":                       `soak.load.loop: found "sideways", want closed or open`,
		"{for: 1h, fors: 2h}":                                     `soak.fors: unknown field, did you mean "for"?`,
		"{for: 1h, random_faults: [{every: 1h}]}":                 "soak.random_faults[0].lasts: found 0s, want the mean time that it lasts",
		"{for: 1h, random_faults: [{every: 1h, lasts: 1s}]}":      "soak.random_faults[0].fault.where",
		"{for: 1h, random_faults: [{fault: {where: stream, what: silence, from: 1s}, every: 1h, lasts: 1s}]}":         "soak.random_faults[0].fault.from: found it or to, want neither",
		"{for: 1h, random_faults: [{fault: {where: stream, what: silence}, every: 1s, lasts: 1s}]}":                   "soak.random_faults[0].every: found 1s, by which some 3600 faults are drawn in 1h0m0s, want at most 2000 in all",
		"{for: 1h, random_faults: [{fault: {where: stream, what: silence}, every: 1h, lasts: 1s, jitter: none}]}":     "soak.random_faults[0].every: found 1h0m0s without jitter in a soak of 1h0m0s, want less",
		"{for: 1h, random_faults: [{fault: {where: tool, what: hang, tool: nosuch}, every: 1m, lasts: 1s}]}":          `soak.random_faults[0].fault.tool: found "nosuch"`,
		"{for: 1h, random_faults: [{fault: {where: stream, what: silence}, every: 1m, lasts: 1s, jitter: some}]}":     `soak.random_faults[0].jitter: found "some", want exponential or none`,
		"{for: 1h, random_faults: [{fault: {where: stream, what: silence}, every: 1m, lasts: 1s, probability: 0.2}]}": "soak.random_faults[0].probability: unknown field",
	} {
		_, err := repro.Parse("soak.yaml", []byte("\nsoak: "+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestSoakSet(t *testing.T) {
	s := soakScenario(t, soakText)
	for _, set := range [][2]string{
		{"soak.for", "2h"}, {"soak.random_faults.quiet.every", "30m"}, {"soak.random_faults.random-2.lasts", "2m"},
		{"soak.random_faults.1.fault.status", "429"}, {"soak.load.agents", "7"}, {"soak.on_stall", "stop"},
	} {
		if err := s.Set(set[0], set[1]); err != nil {
			t.Errorf("%s: %v", set[0], err)
		}
	}
	k := &s.Soak
	if k.For != 2*time.Hour || k.RandomFaults[0].Every != 30*time.Minute || k.RandomFaults[1].Lasts != 2*time.Minute ||
		k.RandomFaults[1].Fault.StatusCode != 429 || k.Load.Agents != 7 || k.OnStall != repro.Stop {
		t.Errorf("set to %+v", k)
	}
	for path, want := range map[string]string{
		"soak.random_faults.quite.every": `found random fault "quite", did you mean "quiet"?`,
		"soak.random_faults.quiet":       "want the field of the random fault, such as soak.random_faults.ID.every",
		"soak.fro":                       `unknown field, did you mean "for"?`,
	} {
		if err := s.Set(path, "3h"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if err := s.Set("soak.random_faults.quiet.every", "0s"); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "--set soak.random_faults.quiet.every=0s") {
		t.Errorf("%v, want an error that names the setting", err)
	}
}

// TestDrawnFaults: they are the seed's, do not overlap, come about as often as was said, and one element moves no other.
func TestDrawnFaults(t *testing.T) {
	s := soakScenario(t, soakText)
	s.Soak.For = 1000 * time.Hour
	first := s.DrawnFaults()
	if again := s.DrawnFaults(); !reflect.DeepEqual(first, again) {
		t.Error("the same seed draws other faults")
	}
	quiet := of(first, "quiet")
	var lasted time.Duration
	for i, f := range quiet {
		if lasted += f.To - f.From; f.To <= f.From || i > 0 && f.From < quiet[i-1].To || f.From >= s.Soak.For || f.Probability != 0.2 {
			t.Errorf("fault %d: %+v", i, f)
		}
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
	if n := len(quiet); n < 430 || n > 570 {
		t.Errorf("%d in 1000 h with one in 2 h", n)
	}
	if mean := lasted / time.Duration(len(quiet)); mean < 4*time.Minute || mean > 6*time.Minute {
		t.Errorf("they last %v, want some 5 min", mean)
	}
	if even := of(first, "random-2"); len(even) != 166 || even[1].From != 12*time.Hour || even[1].To != 12*time.Hour+time.Minute || even[0].ID != "random-2-001" {
		t.Errorf("%d without jitter, the first ones %+v", len(even), even[:2])
	}
	s.Soak.RandomFaults = s.Soak.RandomFaults[:1]
	if alone := s.DrawnFaults(); !reflect.DeepEqual(alone, quiet) {
		t.Error("an element that is left out moves those of another")
	}
	s.Seed++
	if other := s.DrawnFaults(); reflect.DeepEqual(other, quiet) {
		t.Error("another seed draws the same")
	}
}

func of(faults []fault.Fault, id string) (some []fault.Fault) {
	for _, f := range faults {
		if strings.HasPrefix(f.ID, id+"-") {
			some = append(some, f)
		}
	}
	return some
}

func TestSoaking(t *testing.T) {
	s := soakScenario(t, soakText)
	k, err := s.Soaking()
	if err != nil {
		t.Fatal(err)
	}
	if k.Horizon != 24*time.Hour || k.Watchdog.GiveUpAfter != 0 || k.Soak.Window != 15*time.Minute || s.Soak.Window != 0 {
		t.Errorf("soaking: horizon %v, give up after %v, %+v", k.Horizon, k.Watchdog.GiveUpAfter, k.Soak)
	}
	again, err := k.Soaking()
	if err != nil || !reflect.DeepEqual(again.Soak, k.Soak) || again.Horizon != k.Horizon {
		t.Errorf("once more: %v, %+v", err, again.Soak)
	}
	s.Soak.OnStall, s.Watchdog.GiveUpAfter = repro.Stop, 0
	if k, err := s.Soaking(); err != nil || k.Watchdog.GiveUpAfter != 4*time.Minute {
		t.Errorf("%v, give up after %v", err, k.Watchdog.GiveUpAfter)
	}
	if _, err := repro.Default().Soaking(); err == nil || !strings.Contains(err.Error(), "soak.for: found 0s and no tasks") {
		t.Errorf("without a length: %v", err)
	}
}
