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
		if v != 0 && math.Abs(v) < 1 {
			return fmt.Sprintf("%s ms", figures(1000*v))
		}
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

// showSeconds returns a length of time for people, in two units at most: "4.2 s", "23 min 30 s", "288 h".
func showSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second)).Round(time.Second)
	h, m, rest := int(d/time.Hour), int(d%time.Hour/time.Minute), int(d%time.Minute/time.Second)
	switch {
	case d < 10*time.Second:
		return show(s, "s")
	case d < time.Minute:
		return fmt.Sprintf("%d s", rest)
	case h == 0 && rest == 0:
		return fmt.Sprintf("%d min", m)
	case h == 0:
		return fmt.Sprintf("%d min %d s", m, rest)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}
