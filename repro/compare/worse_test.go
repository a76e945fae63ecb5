package compare

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/pacer/preset"
)

var (
	wholeStandings = flag.Bool("worse", false, "measure every preset in every world anew, as worse.jsonl was made (a minute on two cores)")
	update         = flag.Bool("update", false, "with -worse: rewrite worse.jsonl")
)

// standingSeeds are those that worse.jsonl is made with.
func standingSeeds() Seeds { return Seeds{1, 8} }

// TestWorseThanNone measures anew what worse.jsonl says, to the byte. By itself, go test only tries a few
// claims of it; see TestStandingsHold.
func TestWorseThanNone(t *testing.T) {
	if !*wholeStandings {
		t.Skip("needs -worse")
	}
	s, err := measureStandings(context.Background(), preset.Names(), standingWorlds(), standingSeeds(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("worse.jsonl", got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if bytes.Equal(got, standings) {
		return
	}
	was := lineSet(standings)
	for line := range bytes.Lines(got) {
		if !was[string(line)] {
			t.Errorf("not in worse.jsonl: %s", line)
		}
	}
	is := lineSet(got)
	for line := range bytes.Lines(standings) {
		if !is[string(line)] {
			t.Errorf("only in worse.jsonl: %s", line)
		}
	}
	t.Error("if that is meant: go test ./repro/compare -run TestWorseThanNone -worse -update && go test ./cmd/wedge -run TestPolicy -update")
}

func lineSet(text []byte) map[string]bool {
	set := map[string]bool{}
	for line := range bytes.Lines(text) {
		set[string(line)] = true
	}
	return set
}

// TestStandingsHold tries, for every preset, the strongest claim that it is worse than none, and the
// strongest that it is better, with two seeds, where that is enough.
func TestStandingsHold(t *testing.T) {
	table := presetStandings(t)
	names := preset.Names()
	if testing.Short() {
		names = names[:4] // the race detector takes ten times as long
	}
	claims := map[string][]Standing{} // by world
	for _, name := range names {
		v := table.Of(name)
		for _, rows := range [][]Standing{slices.Concat(v.Worse, v.Mixed), v.Better} {
			if len(rows) > 0 {
				claims[rows[0].World.String()] = append(claims[rows[0].World.String()], rows[0])
			}
		}
	}
	seeds, tried := Seeds{table.Seeds.From, table.Seeds.From + 1}, 0
	for _, world := range table.Worlds {
		policies := []string{baselineName}
		for _, claim := range claims[world.String()] {
			policies = append(policies, claim.Policy)
		}
		if len(policies) == 1 {
			continue
		}
		again, err := measureStandings(context.Background(), policies, []World{world}, seeds, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, claim := range claims[world.String()] {
			for _, f := range claim.Figures {
				if !f.firm() {
					continue
				}
				tried++
				if got, ok := again.figure(claim.Policy, f.Metric); !ok || got.Worse != f.Worse {
					t.Errorf("%s in %s: worse.jsonl says %q; seeds %s say %+v (told apart: %v)\nreplay: %s",
						claim.Policy, world, f.words(), seeds, got, ok, replayOf(claim.Policy, world, seeds))
				}
			}
		}
	}
	if tried < len(names) {
		t.Errorf("only %d figures were tried for %d presets", tried, len(names))
	}
}

// firm says that two seeds are enough to see it: the interval over all is less than half of the way to zero.
func (f *Against) firm() bool {
	nearest := f.Low
	if f.High < 0 {
		nearest = -f.High
	}
	diff := f.Mean - f.None
	return 2*nearest >= max(diff, -diff)
}

// figure is what was measured of a preset in the first world in which it is told of.
func (s *Standings) figure(policy, metric string) (Against, bool) {
	row := slices.IndexFunc(s.Rows, func(r Standing) bool { return r.Policy == policy })
	if row < 0 {
		return Against{}, false
	}
	i := slices.IndexFunc(s.Rows[row].Figures, func(a Against) bool { return a.Metric == metric })
	if i < 0 {
		return Against{}, false
	}
	return s.Rows[row].Figures[i], true
}

// replayOf is the command that shows a preset in a world, against none.
func replayOf(name string, w World, seeds Seeds) string {
	text := fmt.Sprintf("wedge compare %s --policy none --policy %s --seeds %s --out -", w.Scenario, name, seeds)
	for _, set := range w.Set {
		text += fmt.Sprintf(" --set '%s'", set)
	}
	return text
}

func presetStandings(t *testing.T) *Standings {
	t.Helper()
	table, err := PresetStandings()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestStandingsAreWhole: each preset and each world of the table still exists, rows are in order, and
// every preset but a few is worse than none somewhere.
func TestStandingsAreWhole(t *testing.T) {
	table := presetStandings(t)
	if table.Seeds != standingSeeds() {
		t.Errorf("seeds %s, want %s", table.Seeds, standingSeeds())
	}
	for i, w := range table.Worlds {
		if _, err := standingPlan([]string{"none"}, []World{w}, table.Seeds); err != nil {
			t.Errorf("worlds[%d]: %v", i, err)
		}
	}
	names, last := preset.Names(), 0
	for _, row := range table.Rows {
		at := slices.Index(names, row.Policy)
		if at < last || len(row.Figures) == 0 {
			t.Errorf("%s in %s: out of order, or without a figure", row.Policy, row.World)
		}
		last = at
	}
	var nowhere []string
	for _, name := range names {
		v := table.Of(name)
		if n := len(v.Worse) + len(v.Mixed) + len(v.Better) + len(v.Same); n != len(table.Worlds) {
			t.Errorf("%s: %d worlds, want %d", name, n, len(table.Worlds))
		}
		if len(v.Worse)+len(v.Mixed) == 0 {
			nowhere = append(nowhere, name)
		}
	}
	if got, want := strings.Join(nowhere, " "), "none go-openai go-retryablehttp litellm-router ai-sdk-7 aws-standard-2026"; got != want {
		t.Errorf("worse than none nowhere: %s, want %s", got, want)
	}
}

// TestStandingWords: what is told of figures, and in which order worlds are.
func TestStandingWords(t *testing.T) {
	figure := func(metric string, mean, none float64, worse bool) Against {
		return Against{Metric: metric, Mean: mean, None: none, Worse: worse}
	}
	table := &Standings{
		Worlds: []World{{Scenario: "a"}, {Scenario: "b", Set: []string{"x=1", "y=2"}}, {Scenario: "c"}, {Scenario: "d"}, {Scenario: "e"}},
		Rows: []Standing{
			{Policy: "p", World: World{Scenario: "a"}, Figures: []Against{figure(KeyTaskTime, 362, 100, true)}, Because: "of this"},
			{Policy: "p", World: World{Scenario: "b", Set: []string{"x=1", "y=2"}}, Because: "the idle limit ends 90 attempts a run, 90 of them healthy", Figures: []Against{
				figure(KeyTaskTime, 900, 100, true), figure(KeyCompletion, 0.5, 1, true), figure(KeyWasted, 0.25, 0, true), figure(KeyKilled, 90, 0, true),
			}},
			{Policy: "p", World: World{Scenario: "c"}, Figures: []Against{figure(KeyTaskTime, 80, 100, false), figure(KeyKilled, 1, 0, true)}, Because: "of that"},
			{Policy: "p", World: World{Scenario: "e"}, Figures: []Against{figure(KeyTaskTime, 700, 100, true), figure(KeyKilled, 3.5, 0, true)}},
			{Policy: "q", World: World{Scenario: "d"}, Figures: []Against{figure(KeyWasted, 0.1, 0.2, false)}},
		},
	}
	v := table.Of("p")
	for i, want := range []string{
		"b (x=1, y=2): 50 % of the tasks completed (none 100 %), 25 % of the output wasted (none 0 %), because the idle limit ends 90 attempts a run, 90 of them healthy",
		"e: 7 times the time a task, 3.5 healthy attempts ended a run",
		"a: 262 % more time a task, because of this",
	} {
		if got := v.Worse[i].World.String() + ": " + v.Worse[i].Words(true); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if len(v.Worse) != 3 || len(v.Mixed) != 1 || len(v.Better) != 0 || len(v.Same) != 1 || v.Same[0].Scenario != "d" {
		t.Fatalf("%+v", v)
	}
	if worse, better := v.Mixed[0].Words(true), v.Mixed[0].Words(false); worse != "1 healthy attempt ended a run" || better != "20 % less time a task: with none, of that" {
		t.Errorf("%q, %q", worse, better)
	}
	if v := table.Of("q"); len(v.Better) != 1 || len(v.Same) != 4 {
		t.Errorf("%+v", v)
	}
}

// TestStandingsAreRead: what is written is read again, and what is torn is refused.
func TestStandingsAreRead(t *testing.T) {
	table := presetStandings(t)
	text, err := table.encode()
	if err != nil || !bytes.Equal(text, standings) {
		t.Errorf("written again, worse.jsonl is another file (%v)", err)
	}
	for _, torn := range []string{"", "{", "{}\n{", "{}\n[]\n"} {
		if _, err := readStandings([]byte(torn)); err == nil || !strings.HasPrefix(err.Error(), "compare: worse.jsonl: ") {
			t.Errorf("%q: %v", torn, err)
		}
	}
}

// TestStandingsOnAnyCores: the same rows with one worker and with three.
func TestStandingsOnAnyCores(t *testing.T) {
	var first []byte
	for _, workers := range []int{1, 3} {
		s, err := measureStandings(context.Background(), []string{"none", "idle-60s", "nginx"}, []World{{Scenario: "long-reasoning"}, {Scenario: "silent-stream"}}, Seeds{1, 2}, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if !bytes.Equal(text, first) {
			t.Errorf("%d workers:\n%s\none:\n%s", workers, text, first)
		}
	}
}
