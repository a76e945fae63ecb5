package repro

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"example.com/wedge/harness/demand"
	"example.com/wedge/repro/threshold"
)

// Soak is how a scenario is run for long: the block soak of a scenario file, which wedge soak reads and
// other commands leave alone. The zero value is none; [Soak.WithDefaults] fills in what is left out.
// What it means is done by package repro/soak.
type Soak struct {
	// For is how long the soak lasts, on the run's own clock. 0: until Tasks have ended, and at most for the
	// scenario's horizon.
	For time.Duration `json:"for_ns" yaml:"for"`
	// Tasks ends the soak once so many tasks have ended, well or not. 0: For alone ends it.
	Tasks int `json:"tasks" yaml:"tasks"`
	// Window is the stretch of time that is summed up in one line of windows.jsonl. 0: a round length of
	// which there are about 96, and at least 10 s.
	Window time.Duration `json:"window_ns" yaml:"window"`
	// WarmUp is how long thresholds, drift and leaks look away. 0: the first tenth of For; nothing where Tasks may end
	// it sooner, since nobody knows when that is.
	WarmUp time.Duration `json:"warm_up_ns" yaml:"warm_up"`

	// Load is how many agents are to be at work, or how many tasks are to arrive, as time goes on. The zero value:
	// as many agents as fleet.workers says (or fleet.agents, where it is 0), all the time.
	Load demand.Config `json:"load,omitzero" yaml:"load,omitzero"`
	// RandomFaults come and go at times drawn from the seed, besides the scenario's own faults.
	RandomFaults []RandomFault `json:"random_faults" yaml:"random_faults"`
	// Thresholds are expressions such as "p95(call) < 120s" that must hold at the end: see package
	// repro/threshold.
	Thresholds []string `json:"thresholds" yaml:"thresholds"`

	// LogBytesMax is the size at which a log goes on in a new file, LogFilesMax how many files of each log
	// are kept, the newest. 0: 16 MiB and 8.
	LogBytesMax int `json:"log_bytes_max" yaml:"log_bytes_max"`
	LogFilesMax int `json:"log_files_max" yaml:"log_files_max"`

	// OnDiskError says what becomes of the soak when its files cannot be written, OnStall what when a stall
	// has lasted for watchdog.give_up_after (or, where that is 0s, four times watchdog.stall_after). "": GoOn.
	OnDiskError Reaction `json:"on_disk_error" yaml:"on_disk_error"`
	OnStall     Reaction `json:"on_stall" yaml:"on_stall"`
}

// Reaction says what a soak does about something that has gone wrong.
type Reaction string

// The reactions.
const (
	GoOn Reaction = "go_on" // it is told, and the soak goes on
	Stop Reaction = "stop"  // the soak ends
)

// Bounds of a soak. Longer ones are better done as several.
const (
	soakMax         = 10_000 * time.Hour
	soakTasksMax    = 1_000_000_000
	windowMin       = time.Second
	windowsMax      = 10_000
	logBytesMin     = 64 << 10
	logBytesMax     = 1 << 30
	logFilesMax     = 1000
	thresholdsMax   = 100
	windowsWanted   = 96
	windowLeast     = 10 * time.Second
	windowOfTasks   = time.Minute // where nothing says how long the soak is
	warmUpShare     = 10          // one tenth
	logBytesDefault = 16 << 20
	logFilesDefault = 8

	giveUpAfterStalls = 4 // times the watchdog's patience, where it does not say
)

// On says whether anything is said of a soak.
func (k *Soak) On() bool {
	return k.For != 0 || k.Tasks != 0 || k.Window != 0 || k.WarmUp != 0 || len(k.RandomFaults) > 0 || len(k.Thresholds) > 0 || !reflect.ValueOf(k.Load).IsZero() ||
		k.LogBytesMax != 0 || k.LogFilesMax != 0 || k.OnDiskError != "" || k.OnStall != ""
}

// Lasts returns how long a soak takes at most, given the scenario's horizon.
func (k *Soak) Lasts(horizon time.Duration) time.Duration {
	if k.For > 0 {
		return k.For
	}
	return horizon
}

// WithDefaults returns the soak with what was left out filled in, given the scenario's horizon.
func (k Soak) WithDefaults(horizon time.Duration) Soak {
	if k.Window == 0 && k.For == 0 {
		k.Window = min(windowOfTasks, horizon)
	}
	if k.Window == 0 {
		k.Window = min(roundLength(max(k.For/windowsWanted, windowLeast)), k.For)
	}
	if k.WarmUp == 0 && k.Tasks == 0 {
		k.WarmUp = k.For / warmUpShare
	}
	if k.RandomFaults == nil {
		k.RandomFaults = []RandomFault{}
	}
	if k.Thresholds == nil {
		k.Thresholds = []string{}
	}
	if k.LogBytesMax == 0 {
		k.LogBytesMax = logBytesDefault
	}
	if k.LogFilesMax == 0 {
		k.LogFilesMax = logFilesDefault
	}
	if k.OnDiskError == "" {
		k.OnDiskError = GoOn
	}
	if k.OnStall == "" {
		k.OnStall = GoOn
	}
	return k
}

// roundLength returns the next length of time that is a round number of seconds, minutes or hours.
func roundLength(least time.Duration) time.Duration {
	for _, n := range [...]int{10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400} {
		if d := time.Duration(n) * time.Second; d >= least {
			return d
		}
	}
	return least.Round(24 * time.Hour)
}

// validateSoak checks the block with what it needs of the rest of the scenario.
func (s *Scenario) validateSoak() error {
	k := &s.Soak
	if !k.On() {
		return nil
	}
	if err := k.validateLengths(s.Horizon); err != nil {
		return s.bad("soak", err)
	}
	if err := k.Load.Validate(); err != nil {
		return s.bad("soak.load", err)
	}
	if err := k.validateFiles(); err != nil {
		return s.bad("soak", err)
	}
	for i, text := range k.Thresholds {
		if err := validThreshold(text); err != nil {
			return s.bad(fmt.Sprintf("soak.thresholds[%d]", i), err)
		}
	}
	return s.validateRandomFaults()
}

func (k *Soak) validateLengths(horizon time.Duration) error {
	lasts := k.Lasts(horizon)
	switch {
	case k.For != 0 && (k.For < windowMin || k.For > soakMax):
		return fmt.Errorf("for: found %v, want 0s (until tasks have ended) or %v to %v", k.For, windowMin, soakMax)
	case k.Tasks < 0 || k.Tasks > soakTasksMax:
		return fmt.Errorf("tasks: found %d, want 0 (for says how long) to %d", k.Tasks, soakTasksMax)
	case k.Window != 0 && (k.Window < windowMin || k.Window > lasts):
		return fmt.Errorf("window: found %v, want 0s (a round length) or %v to %v, which is the whole soak", k.Window, windowMin, lasts)
	case k.Window != 0 && lasts/k.Window > windowsMax:
		return fmt.Errorf("window: found %v, of which there are %d in %v, want at most %d: at least %v", k.Window, lasts/k.Window, lasts, windowsMax, roundLength(lasts/windowsMax))
	case k.WarmUp < 0 || k.WarmUp >= lasts:
		return fmt.Errorf("warm_up: found %v, want 0s (the first tenth) or less than the whole soak, which is %v", k.WarmUp, lasts)
	case len(k.Thresholds) > thresholdsMax:
		return fmt.Errorf("thresholds: found %d, want at most %d", len(k.Thresholds), thresholdsMax)
	}
	return nil
}

func (k *Soak) validateFiles() error {
	reactions := []Reaction{"", GoOn, Stop}
	switch {
	case k.LogBytesMax != 0 && (k.LogBytesMax < logBytesMin || k.LogBytesMax > logBytesMax):
		return fmt.Errorf("log_bytes_max: found %d, want 0 (%d) or %d to %d", k.LogBytesMax, logBytesDefault, logBytesMin, logBytesMax)
	case k.LogFilesMax != 0 && (k.LogFilesMax < 2 || k.LogFilesMax > logFilesMax):
		return fmt.Errorf("log_files_max: found %d, want 0 (%d) or 2 to %d: one is being written, and one may be read", k.LogFilesMax, logFilesDefault, logFilesMax)
	case !slices.Contains(reactions, k.OnDiskError):
		return fmt.Errorf("on_disk_error: found %q, want %s or %s", k.OnDiskError, GoOn, Stop)
	case !slices.Contains(reactions, k.OnStall):
		return fmt.Errorf("on_stall: found %q, want %s or %s", k.OnStall, GoOn, Stop)
	}
	return nil
}

// validThreshold says what is wrong with an expression.
func validThreshold(text string) error {
	if text == "" {
		return errors.New("found nothing, want an expression such as p95(call) < 120s")
	}
	_, err := threshold.Parse(text)
	return err
}

// Soaking returns the scenario as a soak runs it: with the block's defaults filled in, its horizon that of the
// soak, and the watchdog told when to give up. It must say for how long it is to be run. Of what it returns, the
// same is returned again.
func (s *Scenario) Soaking() (*Scenario, error) {
	if s.Soak.For == 0 && s.Soak.Tasks == 0 {
		return nil, s.bad("soak", errors.New("for: found 0s and no tasks, want how long the soak is to last (wedge soak --for 24h, or --tasks 1000)"))
	}
	k := *s
	k.Horizon = s.Soak.Lasts(s.Horizon)
	k.Soak = s.Soak.WithDefaults(s.Horizon)
	switch {
	case k.Soak.OnStall == GoOn:
		k.Watchdog.GiveUpAfter = 0
	case k.Watchdog.GiveUpAfter == 0:
		k.Watchdog.GiveUpAfter = giveUpAfterStalls * k.Watchdog.StallAfter
	}
	return &k, k.Validate()
}
