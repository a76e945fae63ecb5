package series

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// show returns a value in its unit for people.
func show(v float64, unit string) string {
	switch unit {
	case "s":
		return fmt.Sprintf("%s s", figures(v))
	case "share":
		return fmt.Sprintf("%s %%", figures(100*v))
	case "1/s":
		return fmt.Sprintf("%s/s", figures(v))
	case "bytes":
		for _, u := range [...]struct {
			name string
			size float64
		}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
			if math.Abs(v) >= u.size {
				return fmt.Sprintf("%s %s", figures(v/u.size), u.name)
			}
		}
		return fmt.Sprintf("%s B", figures(v))
	}
	return figures(v)
}

// figures returns a number with three figures, or all that are before the point.
func figures(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// showSeconds returns a length of time for people.
func showSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	unit := time.Second
	if d < 10*time.Second {
		unit = 10 * time.Millisecond
	}
	return d.Round(unit).String()
}
