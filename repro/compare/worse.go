package compare

import (
	"bufio"
	"bytes"
	_ "embed" // for the file of standings
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Standings say in which worlds each preset does worse than the preset none, and in which better.
type Standings struct {
	Seeds  Seeds   `json:"seeds"` // that were run
	Worlds []World `json:"worlds"`
	// Rows are by preset, in the order of the presets, and by world, in the order of Worlds. A pair that is
	// missing is one in which nothing could be told apart.
	Rows []Standing `json:"-"`
}

// World is a scenario of the catalogue, or one with settings changed.
type World struct {
	Scenario string   `json:"scenario"`
	Set      []string `json:"set,omitempty"` // such as "faults.thinking.delay=240s"
}

// String names the world: the scenario, and in brackets what is set.
func (w World) String() string {
	if len(w.Set) == 0 {
		return w.Scenario
	}
	return w.Scenario + " (" + strings.Join(w.Set, ", ") + ")"
}

// Standing is what sets a preset apart from none in one world.
type Standing struct {
	Policy string `json:"policy"`
	World
	// Figures are those of [StandingKeys] that differ, and by more than chance and trifle: the 95 % interval
	// of the difference, paired by seed, excludes zero, and it is worth telling (see [Against.Worse]).
	Figures []Against `json:"figures"`
	// Because says why tasks take longer or fail more with the one than with the other, as far as that was
	// measured. "" where nothing stands out.
	Because string `json:"because,omitempty"`
}

// Against is one figure of a preset, and of none in the same world.
type Against struct {
	Metric string  `json:"metric"`
	Mean   float64 `json:"mean"`
	None   float64 `json:"none"`
	// Low and High bound the mean difference, preset less none, with 95 %.
	Low  float64 `json:"diff_low"`
	High float64 `json:"diff_high"`
	// Worse says that the preset is worse, else better. Told are differences of at least one in a hundred of
	// none's task time, of one in a hundred of the tasks, of one in a hundred of the output tokens, and of one
	// healthy attempt a run.
	Worse bool `json:"worse"`
}

// StandingKeys are the figures that presets are held against none by: the time of a task, the tasks that
// are completed, the output that nobody used, the healthy attempts that limits ended.
func StandingKeys() []string { return []string{KeyTaskTime, KeyCompletion, KeyWasted, KeyKilled} }

//go:embed worse.jsonl
var standings []byte

// PresetStandings returns the standings of the presets as they were last measured.
func PresetStandings() (*Standings, error) { return readStandings(standings) }

// readStandings reads a line with what was run, and a line for each row.
func readStandings(text []byte) (*Standings, error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return nil, fmt.Errorf("compare: worse.jsonl: %w", io.ErrUnexpectedEOF)
	}
	s := &Standings{}
	if err := json.Unmarshal(lines.Bytes(), s); err != nil {
		return nil, fmt.Errorf("compare: worse.jsonl: %w", err)
	}
	for lines.Scan() {
		var row Standing
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("compare: worse.jsonl: line %d: %w", len(s.Rows)+2, err)
		}
		s.Rows = append(s.Rows, row)
	}
	return s, lines.Err()
}

// Verdicts are the worlds of one preset by how it stands in them.
type Verdicts struct {
	Worse  []Standing // worse in something, better in nothing; the worst first
	Mixed  []Standing // worse in something, better in something else; the worst first
	Better []Standing // the best first
	Same   []World    // nothing to tell apart
}

// Of sorts the worlds of a preset.
func (s *Standings) Of(policy string) Verdicts {
	var v Verdicts
	told := func(w World) int {
		return slices.IndexFunc(s.Rows, func(r Standing) bool { return r.Policy == policy && r.World.String() == w.String() })
	}
	for _, w := range s.Worlds {
		i := told(w)
		if i < 0 {
			v.Same = append(v.Same, w)
			continue
		}
		worse, better := s.Rows[i].sides()
		switch {
		case worse && better:
			v.Mixed = append(v.Mixed, s.Rows[i])
		case worse:
			v.Worse = append(v.Worse, s.Rows[i])
		default:
			v.Better = append(v.Better, s.Rows[i])
		}
	}
	weightiest := func(a, b Standing) int {
		if d := b.weight() - a.weight(); d != 0 {
			return int(math.Copysign(1, d))
		}
		return 0
	}
	for _, rows := range [][]Standing{v.Worse, v.Mixed, v.Better} {
		slices.SortStableFunc(rows, weightiest)
	}
	return v
}

func (r *Standing) sides() (worse, better bool) {
	for i := range r.Figures {
		worse = worse || r.Figures[i].Worse
		better = better || !r.Figures[i].Worse
	}
	return worse, better
}

// weight orders rows: tasks that are not completed weigh most, then their time as a ratio, then waste,
// then what was killed.
func (r *Standing) weight() float64 {
	var sum float64
	for i := range r.Figures {
		f := &r.Figures[i]
		switch d := math.Abs(f.Mean - f.None); f.Metric {
		case KeyCompletion:
			sum += 100 * d
		case KeyTaskTime:
			sum += 10 * math.Abs(math.Log(f.Mean/f.None))
		case KeyWasted:
			sum += d
		case KeyKilled:
			sum += min(d, 1000) / 1e5
		}
	}
	return sum
}

// Words say in which figures it is worse, or else in which it is better, and why. A task that is not
// completed counts as long as the horizon, so where fewer are, or more, their time says nothing beside it.
func (r *Standing) Words(worse bool) string {
	fewer := slices.ContainsFunc(r.Figures, func(f Against) bool { return f.Metric == KeyCompletion && f.Worse == worse })
	why := ""
	slower := slices.ContainsFunc(r.Figures, func(f Against) bool { return f.Metric == KeyTaskTime && f.Worse })
	if r.Because != "" && worse == slower {
		why = r.Because
	}
	var said []string
	for i := range r.Figures {
		f := &r.Figures[i]
		twice := f.Metric == KeyTaskTime && fewer || f.Metric == KeyKilled && strings.Contains(why, " of them healthy")
		if f.Worse == worse && !twice {
			said = append(said, f.words())
		}
	}
	text := strings.Join(said, ", ")
	switch {
	case why == "":
		return text
	case worse:
		return text + ", because " + why
	default:
		return text + ": with none, " + why
	}
}

func (f *Against) words() string {
	switch f.Metric {
	case KeyTaskTime:
		ratio := f.Mean / f.None
		switch {
		case ratio >= manyTimes:
			return fmt.Sprintf("%.0f times the time a task", ratio)
		case ratio > 1:
			return percent(ratio-1) + " more time a task"
		default:
			return percent(1-ratio) + " less time a task"
		}
	case KeyCompletion:
		return fmt.Sprintf("%s of the tasks completed (none %s)", percent(f.Mean), percent(f.None))
	case KeyWasted:
		return fmt.Sprintf("%s of the output wasted (none %s)", percent(f.Mean), percent(f.None))
	default:
		if f.Mean == 1 {
			return "1 healthy attempt ended a run"
		}
		return fmt.Sprintf("%.3g healthy attempts ended a run", f.Mean)
	}
}
