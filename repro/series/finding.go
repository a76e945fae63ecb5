package series

// Verdict is what a series of values was found to do.
type Verdict string

// The verdicts.
const (
	VerdictOK       Verdict = "ok"          // no sign of growth or drift that matters
	VerdictLeaking  Verdict = "leaking"     // of a process: it grows on and on
	VerdictDrifting Verdict = "drifting"    // of windows: it goes one way, on and on
	VerdictStepped  Verdict = "stepped"     // it changed once, and stayed there
	VerdictUnclear  Verdict = "cannot tell" // too short, or not known
)

// Finding is what was found about one series of values.
type Finding struct {
	Name    string  `json:"name"` // as thresholds call it: "rss", "p95(call)"
	Unit    string  `json:"unit"` // of First and Last: "bytes", "s", "share", "" for a count
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`    // one sentence, with the figures
	N       int     `json:"n"`      // values it is based on
	FromS   float64 `json:"from_s"` // the time they are from
	ToS     float64 `json:"to_s"`
	First   float64 `json:"first"` // median of the first third of them
	Last    float64 `json:"last"`  // median of the last third
	// SlopePerH is the robust slope (Theil–Sen), in Unit an hour of the run's clock, and LowPerH and HighPerH are the ends of its
	// interval of confidence of 99 %.
	SlopePerH float64 `json:"slope_per_h"`
	LowPerH   float64 `json:"low_per_h"`
	HighPerH  float64 `json:"high_per_h"`
	// P is the probability of such a trend or a clearer one where there is none (Mann–Kendall, corrected for how much values
	// depend on those before them); 1 where it was not asked.
	P float64 `json:"p"`
}

// Drift says whether the windows of a run change from the first to the last. Windows that are not to count, such as
// those of a warm-up, are not to be given.
func Drift(windows []Window) []Finding { return nil }

// Leak says whether a process grows. Readings that are not to count are not to be given.
func Leak(readings []Process) []Finding { return nil }
