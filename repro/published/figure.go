package published

// Figure is a drawing of a report.
type Figure struct {
	Name string // of a file, without its ending
	Plot any    // of the report
}
