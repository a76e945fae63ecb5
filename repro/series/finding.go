package series

// Verdict is what a series of values was found to do.
type Verdict string

// The verdicts.
const (
	VerdictOK       Verdict = "ok"          // no change that is clear of noise, lasts, and matters
	VerdictLeaking  Verdict = "leaking"     // of a process: it grows on and on
	VerdictDrifting Verdict = "drifting"    // of windows: it goes one way, on and on
	VerdictStepped  Verdict = "stepped"     // it changed once, and stayed there
	VerdictUnclear  Verdict = "cannot tell" // too short, not known, or the cause lies elsewhere: Why says which
)

// Finding is what was found about one series of values. A series is called leaking or drifting if all of these hold, each of
// which Why names if it is the one that does not: its trend is clear of noise (P below 0.0001); it matters (see [Leak] and [Drift]);
// it goes one way all the time; one step from a level to another does not explain it better; and it does not level off.
type Finding struct {
	Name    string  `json:"name"` // as thresholds call it: "rss", "p95(call)"
	Unit    string  `json:"unit"` // of First, Last and the slopes: "s", "bytes", "share", "1/s", or "" for a count
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`    // a sentence, with the figures
	N       int     `json:"n"`      // values it is based on
	FromS   float64 `json:"from_s"` // the time that they are from
	ToS     float64 `json:"to_s"`
	First   float64 `json:"first"` // median of the first third of them
	Last    float64 `json:"last"`  // median of the last third
	// SlopePerH is the robust slope (Theil–Sen), in Unit an hour of the run's clock, and LowPerH and HighPerH are the ends of its
	// interval of confidence of 99 %.
	SlopePerH float64 `json:"slope_per_h"`
	LowPerH   float64 `json:"low_per_h"`
	HighPerH  float64 `json:"high_per_h"`
	// P is the probability of a trend as clear as this or clearer in a series that has none (Mann–Kendall, corrected for how
	// much values depend on those before them); 1 where it was not computed.
	P float64 `json:"p"`
}

// What a trend must be to be more than noise, and how many points it is looked for in.
const (
	pMax      = 0.0001
	pointsMin = 12
	pointsMax = 48 // more are made into so many
)

// newFinding returns what there is to say of a series before it is judged; ok says that it is long enough to be.
func newFinding(name, unit string, all []point) (f Finding, points []point, line trend, ok bool) {
	f = Finding{Name: name, Unit: unit, Verdict: VerdictUnclear, N: len(all), P: 1}
	if len(all) > 0 {
		f.FromS, f.ToS = all[0].t*3600, all[len(all)-1].t*3600
		third := max(len(all)/3, 1)
		f.First, f.Last = median(values(all[:third])), median(values(all[len(all)-third:]))
	}
	if len(all) < pointsMin || f.ToS <= f.FromS {
		return f, nil, trend{}, false
	}
	points = thin(all, pointsMax)
	line = trendOf(points)
	f.SlopePerH, f.LowPerH, f.HighPerH, f.P = line.slope, line.low, line.high, line.p
	return f, points, line, true
}
