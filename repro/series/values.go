package series

// Values answers what thresholds ask of a run: it has the methods of threshold.Values.
type Values struct {
	windows []Window
	process []Process
}

// NewValues returns the values of a run after its warm-up: windows and readings of the warm-up are not to be given.
func NewValues(windows []Window, process []Process) (*Values, error) {
	return &Values{windows: windows, process: process}, nil
}

// Value returns an aggregate of a metric over all windows, in a unit of threshold's. missing says why there is none;
// empty: there is one.
func (v *Values) Value(trend, agg, metric, unit string) (value float64, missing string) {
	return 0, "not measured yet"
}

// WindowCount returns how many windows there are.
func (v *Values) WindowCount() int { return len(v.windows) }

// WindowValue is Value of window i alone, counted from 0.
func (v *Values) WindowValue(i int, agg, metric, unit string) (value float64, missing string) {
	return 0, "not measured yet"
}
