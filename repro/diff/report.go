package diff

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Schema is the schema of a [Report].
const Schema = "wedge.diff/1"

// Report is what changed from bundle A to bundle B. Lists are in a fixed order: settings as they stand
// in run.json, stages as a call passes them, gauges as they were sampled.
type Report struct {
	Schema string `json:"schema"`
	A      Side   `json:"a"`
	B      Side   `json:"b"`
	// Summary says in words what changed, the settings first.
	Summary string `json:"summary"`
	// Settings differ between the two configurations.
	Settings []Change `json:"settings"`
	// Verdict differs: outcome, layer, cause, final_outcome, and how hypotheses stand.
	Verdict []Change `json:"verdict"`
	// Figures are totals and latencies of both, also where they agree.
	Figures []Figure `json:"figures"`
	// Stages is where the time of calls went.
	Stages []Share `json:"stages"`
	// Gauges are those that read differently while requests were out.
	Gauges []GaugeChange `json:"gauges"`
	// First is where the two runs part; nil if their events are the same, or cannot be compared.
	First *Parting `json:"first,omitempty"`
	// Missing says what could not be compared, and why.
	Missing []string `json:"missing"`
}

// Side is one of the two bundles.
type Side struct {
	Dir     string `json:"dir"`
	Name    string `json:"name"`
	Seed    uint64 `json:"seed"`
	Clock   string `json:"clock"`
	Version string `json:"version"`
	// Unended says that the journal has no end: the run was killed, or still goes on. Its figures are those up to
	// the latest event.
	Unended bool `json:"unended,omitempty"`
	// What the verdict says; empty if there is none.
	Outcome      string `json:"outcome,omitempty"`
	Layer        string `json:"layer,omitempty"`
	Cause        string `json:"cause,omitempty"`
	FinalOutcome string `json:"final_outcome,omitempty"`
}

// Change is one thing that differs. A side that does not have it is empty.
type Change struct {
	What string `json:"what"` // the path of a setting, as --set takes it, or a field of the verdict
	A    string `json:"a"`
	B    string `json:"b"`
}

// Figure is a number of both. N is what it was taken from, such as completed calls; 0 where it counts.
type Figure struct {
	Name string  `json:"name"` // with its unit at the end, such as call_p95_s
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	NA   int     `json:"n_a,omitempty"`
	NB   int     `json:"n_b,omitempty"`
}

// Share is how much of the time of calls was spent in a stage.
type Share struct {
	Stage string  `json:"stage"`
	AS    float64 `json:"a_s"` // seconds of calls
	BS    float64 `json:"b_s"`
	A     float64 `json:"a"` // of all seconds of calls, 0 to 1
	B     float64 `json:"b"`
}

// GaugeChange is how a gauge read in both, in the samples that were taken while requests were out. Of
// a counter, whose name ends in _total, Mean is its growth a second and Max its growth.
type GaugeChange struct {
	Name string       `json:"name"`
	A    GaugeSummary `json:"a"`
	B    GaugeSummary `json:"b"`
}

// GaugeSummary sums up samples.
type GaugeSummary struct {
	Samples int     `json:"samples"` // taken under load
	Load    float64 `json:"load"`    // requests out, on average of these
	Mean    float64 `json:"mean"`
	Max     float64 `json:"max"`
}

// Parting is the first event that differs.
type Parting struct {
	Same int     `json:"same_events"` // before it
	AtS  float64 `json:"at_s"`        // of the earlier one of the two
	A    string  `json:"a"`           // the event as its line has it; empty: the journal has ended
	B    string  `json:"b"`
}

// Error is about a bundle that cannot be read: one line that names the file.
type Error struct {
	Path string
	Msg  string
}

func (e *Error) Error() string { return e.Path + ": " + e.Msg }

// Dirs compares the bundles in two directories. An error is an *Error: a directory is no bundle, or a
// file of it is damaged.
func Dirs(a, b string) (*Report, error) {
	r := &Report{
		Schema: Schema, Settings: []Change{}, Verdict: []Change{}, Figures: []Figure{}, Stages: []Share{},
		Gauges: []GaugeChange{}, Missing: []string{},
	}
	one, err := open(a)
	if err != nil {
		return nil, err
	}
	two, err := open(b)
	if err != nil {
		return nil, err
	}
	r.A, r.B = one.side(), two.side()
	r.Settings = settings(one.run.Config, two.run.Config)
	for _, compare := range []func(*Report, *source, *source) error{verdicts, events, samples} {
		if err := compare(r, one, two); err != nil {
			return nil, err
		}
	}
	r.Summary = r.summary()
	return r, nil
}

// miss notes that something could not be compared.
func (r *Report) miss(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Missing, text) { // A and B may be one bundle
		r.Missing = append(r.Missing, text)
	}
}

// source is a bundle that is read.
type source struct {
	dir     string
	fs      fs.FS
	run     runFile
	verdict *verdictFile // nil: there is none
}

// file opens a file of the bundle; nil without an error if there is none.
func (s *source) file(name string) (fs.File, error) {
	f, err := s.fs.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.wrong(name, err)
	}
	return f, nil
}

func (s *source) wrong(name string, err error) error {
	return &Error{Path: s.dir + "/" + name, Msg: reason(err)}
}
