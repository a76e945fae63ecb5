package published

// Figure is a drawing as data: lines, or a map. Whoever prints the report draws it.
type Figure struct {
	Name  string // of a file, without its ending
	Title string
	Note  string // parameters, seeds
	X, Y  Axis

	Curves     []Curve
	References []Reference
	Shade      Shade // the trigger
	LogY       bool
	Markers    bool // a mark at each point
	Steps      bool // y holds until the next x

	Heat *Heat // instead of curves; nil: none
}

// Axis says what is along one side. Unit is "s" for seconds, "" for a bare number.
type Axis struct{ Label, Unit string }

// Curve is a line.
type Curve struct {
	Name   string
	Points []Point
	N      int // runs behind it; 0: one, or none
}

// Point is one of a curve. A NaN is left out.
type Point struct{ X, Y float64 }

// Reference is a thin vertical line with a name, such as an edge that theory gives.
type Reference struct {
	Name string
	AtX  float64
}

// Shade is a stretch of the x axis. The zero value is none.
type Shade struct {
	Name       string
	FromX, ToX float64
}

// Heat is how many runs healed, by row and column.
type Heat struct {
	Columns, Rows []string // from the left; from the bottom
	Healed        [][]int  // [row][column]
	Runs          int      // of each cell
}
