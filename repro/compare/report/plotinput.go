package report

// Frame is what every picture has around it.
type Frame struct {
	Title    string // bold first line; also what a screen reader says
	Note     string // soft second line: policy, scenario, seed, n
	WidthPx  int    // CSS pixels; 0: 560. Kept within 280 and 2400
	HeightPx int    // CSS pixels; 0: what the picture needs. Kept within 120 and 4000; Timeline and Pareto take what they need
}

// Axis says what is along one side. Unit "s" means values in seconds, written as s, min or h, whichever fits, and "%" means
// shares, of which 0.31 is written as 31 %. Values that a
// log axis cannot show (zero, negative) are drawn in a gutter of their own, named "0", or left out and counted in the note.
type Axis struct {
	Label string
	Unit  string // "" for a bare number
	Log   bool
}

// Point is one measured value with its 95 % interval; Lo and Hi both 0 mean no interval. A point with a NaN is left out and
// breaks the line.
type Point struct{ X, Y, Lo, Hi float64 }

// Curve is one line of a picture, points in the order they are to be joined. N is shown behind its name unless 0.
type Curve struct {
	Name   string
	Points []Point
	N      int
}

// Reference is a thin straight line with a name: a capacity, a default value.
type Reference struct {
	Name     string
	At       float64 // in the unit of its axis
	Vertical bool    // at an x rather than at a y
}

// Shade is a stretch of the x axis that is tinted: a trigger. It is left out unless FromX < ToX.
type Shade struct {
	Name       string
	FromX, ToX float64
}

// LinesInput is a plain picture of lines: for published figures and whatever has no picture of its own.
type LinesInput struct {
	Frame      Frame
	X, Y       Axis
	Curves     []Curve
	References []Reference
	Shades     []Shade
	Steps      bool // y holds until the next x instead of sloping to it
	Markers    bool // a marker at each point
}

// SweepInput shows what a parameter does: one curve a scenario, with its interval as a band. ShippedX is the value that is
// shipped, drawn as a line; 0: none.
type SweepInput struct {
	Frame    Frame
	X, Y     Axis
	Curves   []Curve
	ShippedX float64
}

// LoadInput shows goodput against offered load: where it collapses when load rises, where it heals when load falls; or how it
// is after two starts, a good one and a bad one, which is the same loop.
type LoadInput struct {
	Frame    Frame
	Unit     string  // of both axes, "calls/s"
	X, Y     Axis    // instead of Unit, where the two differ; the zero Axis: none is given
	Capacity float64 // what the servers can do, in the unit of Y; 0: not drawn
	Ramps    []Ramp
	// UpName and DownName say what the halves of a ramp are. Empty: load rising, load falling.
	UpName, DownName string
}

// Ramp is one policy driven up and down again. Either half may be empty; X is offered, Y is goodput.
type Ramp struct {
	Name     string
	Up, Down []Point
	N        int // seeds
}

// TimelineInput shows one run over time in panels with a common time axis.
type TimelineInput struct {
	Frame    Frame
	EveryS   float64 // seconds between two values
	StartS   float64 // instant of the first value, in seconds
	Panels   []Panel // usual: rates (offered, attempts, goodput), then counts (queue, zombies, in flight)
	Triggers []Shade // when the trigger acted, in seconds
	// Marks are instants with a name, in seconds: when goodput was back. Vertical or not, they stand upright.
	Marks []Reference
}

// Panel is one of the pictures above each other.
type Panel struct {
	Label string // what the values are: "calls"
	Unit  string // "1/s"
	Lines []Track
}

// Track is one line of a timeline, a value every EveryS; NaN where it is not known.
type Track struct {
	Name   string
	Values []float32
}

// SlotsInput shows what the server's slots are doing, stacked: useful + zombie + idle is what is taken, queued is on top.
// Idle is taken while nothing comes. The tracks may differ in length: what is missing counts as 0.
type SlotsInput struct {
	Frame                        Frame
	EveryS                       float64
	StartS                       float64
	Useful, Zombie, Idle, Queued []float32
	Slots                        float64 // how many there are, a straight line; 0: not drawn
	Triggers                     []Shade
}

// GanttInput shows what each agent was doing. Sixteen stages have a colour. Rows come in the order of Agents (names that appear in no span have an empty
// row; agents of spans that are not listed come after, in order of appearance).
type GanttInput struct {
	Frame    Frame
	Agents   []string
	Stages   []string // order of the legend; stages not listed come after, in order of appearance
	Spans    []Span
	Triggers []Shade
}

// Span is one agent in one stage. It is left out unless FromS < ToS.
type Span struct {
	Agent, Stage string
	FromS, ToS   float64
}

// CCDFInput shows how long the slow ones take: the share that takes longer than t, both axes logarithmic.
type CCDFInput struct {
	Frame   Frame
	What    string // what took the time: "task time", "request time"
	Samples []Sample
}

// Sample is the durations of one policy in seconds. Those in CensoredS had not ended well after so long: a curve is right to
// that point only if such ones count as longer than any, or were watched to the same end.
type Sample struct {
	Name      string
	TookS     []float64
	CensoredS []float64
}

// RecoveryInput shows the share of runs that have not recovered by t after the trigger ended (Kaplan-Meier).
type RecoveryInput struct {
	Frame  Frame
	Groups []Recoveries
}

// Recoveries is the runs of one policy. NeverS holds, for each run that did not recover, how long it was watched: the curve
// ends in a plateau at their share.
type Recoveries struct {
	Name   string
	AfterS []float64
	NeverS []float64
}

// HeatMapInput shows the share of runs that recovered over load and trigger.
type HeatMapInput struct {
	Frame      Frame
	XLabel     string   // "offered load (share of capacity)"
	YLabel     string   // "length of the trigger (s)"
	XTicks     []string // one a column
	YTicks     []string // one a row, from the bottom
	Recovered  [][]int  // [row][column] runs that recovered
	Runs       [][]int  // [row][column] runs; 0: not measured
	GoodIsZero bool     // the count is of a bad thing: colours swap
}

// PhaseInput shows where a run goes in the plane of queued and orbiting (waiting to retry) calls.
type PhaseInput struct {
	Frame  Frame
	XLabel string // empty: "queued calls"
	YLabel string // empty: "calls in orbit (waiting to retry)"
	Paths  []Path
}

// Path is one run, at equal steps of time. The shorter list decides its length.
type Path struct {
	Name          string
	Queued, Orbit []float64
}

// ParetoInput shows cost against benefit, both smaller is better; policies that no other beats in both are joined.
type ParetoInput struct {
	Frame  Frame
	X, Y   Axis // usual: wasted tokens (share), p95 task time ("s")
	Offers []Offer
}

// Offer is one policy. An infinite value means "never" and is drawn in a gutter at the far end, NaN leaves it out. Intervals of
// 0, 0 are not drawn.
type Offer struct {
	Name     string
	X, Y     float64
	XLo, XHi float64
	YLo, YHi float64
	N        int
	Bracket  bool // nobody can have it: it is drawn, and beats none
}

// ForestInput shows paired differences with 95 % intervals.
type ForestInput struct {
	Frame          Frame
	What           string // what differs: "mean task time against sdk-default"
	Unit           string // as in Column: "%" expects 0.31 for 31 %
	HigherIsBetter bool
	Rows           []Difference
}

// Difference is one row. A row with NaN or infinity in Value, Lo or Hi is named and said to be not known.
type Difference struct {
	Group         string // heading above its first row: the scenario. Rows of a group are given one after another
	Name          string
	Value, Lo, Hi float64
	N             int
	Certain       bool // zero is excluded after Holm's correction
}
