package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// A chart is drawn into a box of this size that the style sheet stretches: words stand beside it as HTML, so that they
// are as large on a phone as on a desk.
const (
	boxWide = 2000
	boxHigh = 200
)

// chart is values over time.
type chart struct {
	Title, Note string
	Unit        string // of the values, as it follows a number; may be empty
	EndS        float64
	AtS         []float64 // when the values are of, rising
	Series      []curve
	Lines       []level // straight lines
	Bands       []band  // stretches of time
	Whole       bool    // values are counts
	Share       bool    // values are shares of 1: the axis goes to 1 and counts in percent
	Stacked     bool    // series stand on one another; otherwise each stands on 0
	Kind        string  // class of the figure: "small" or "broad"
	Scaled      scaled  // of the first series
	Keys        bool    // name the series beside the title
}

// scaled says that the first series is drawn in a measure of its own: Top of the chart's is Full of its own.
type scaled struct{ Full, Top float64 }

// curve is a line or an area of a chart. NaN is a gap.
type curve struct {
	Name  string
	Class string // its looks
	V     []float64
	Area  bool
}

// level is a straight line at a value.
type level struct {
	Name string
	V    float64
}

// band is a stretch of time that is shaded.
type band struct {
	FromS, ToS float64
	Title      string
}

// chartView is a chart as the template has it.
type chartView struct {
	*chart
	Picture template.HTML
	X, Y    []tick
	Top     string
	Data    string // for the script
	Says    string // the picture in a sentence
}

// view lays the chart out.
func (c *chart) view() chartView {
	top := c.top()
	v := chartView{chart: c, X: timeTicks(c.EndS), Says: c.says()}
	for _, at := range []float64{0, 0.5, 1} {
		v.Y = append(v.Y, tick{At: 100 * at, Text: c.value(at * top)})
	}
	v.Picture = template.HTML(c.draw(top))
	v.Data = c.data()
	return v
}

// value writes a value of the chart.
func (c *chart) value(v float64) string {
	switch {
	case !finite(v):
		return "–"
	case c.Share:
		return share(v)
	case c.Unit == "s":
		return span(v)
	case c.Unit == "B":
		return bytesWords(int64(v))
	case c.Unit == "":
		return number(v)
	}
	return number(v) + " " + c.Unit
}

// top is the value at the upper edge.
func (c *chart) top() float64 {
	most := 0.0
	sums := make([]float64, len(c.AtS))
	for _, s := range c.Series {
		for i, v := range s.V {
			if i >= len(sums) || !finite(v) {
				continue
			}
			if !c.Stacked {
				sums[i] = 0
			}
			sums[i] += v
			most = math.Max(most, sums[i])
		}
	}
	for _, l := range c.Lines {
		if finite(l.V) {
			most = math.Max(most, l.V*1.04)
		}
	}
	switch {
	case c.Share && most <= 1 && most > 0.3:
		return 1
	case c.Whole:
		return countCeiling(most)
	case c.Unit == "B":
		return bytesCeiling(most)
	case c.Unit == "s":
		return timeCeiling(most)
	}
	return ceiling(most)
}

// says is the chart in words, for those who do not see it.
func (c *chart) says() string {
	words := []string{}
	for i, s := range c.Series {
		low, high := extremes(s.V)
		if i == 0 && c.Scaled.Top > 0 {
			words = append(words, s.Name+" up to "+number(c.Scaled.Full))
		} else if low <= high {
			words = append(words, fmt.Sprintf("%s from %s to %s", s.Name, c.value(low), c.value(high)))
		}
	}
	for _, l := range c.Lines {
		words = append(words, fmt.Sprintf("%s %s", l.Name, c.value(l.V)))
	}
	return c.Title + " over " + span(c.EndS) + ": " + strings.Join(words, ", ")
}

// x is where an instant stands in the box.
func (c *chart) x(at float64) int {
	if !(c.EndS > 0) {
		return 0
	}
	return int(math.Round(boxWide * math.Min(math.Max(at/c.EndS, 0), 1)))
}

// draw draws bands, series and lines. Nothing of it is text of the bundle but titles, which are escaped.
func (c *chart) draw(top float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<path class="grid" d="M0 %dH%dM0 1H%d"/>`, boxHigh/2, boxWide, boxWide)
	y := func(v float64) int { return int(math.Round(boxHigh - boxHigh*math.Min(math.Max(v/top, 0), 1))) }
	base := make([]float64, len(c.AtS))
	shaded := c.Stacked // the colours of a stack mean something: its bands are behind it
	if shaded {
		c.shade(&b)
	}
	for _, s := range c.Series {
		if !s.Area && !shaded { // over areas, under lines
			c.shade(&b)
			shaded = true
		}
		values := make([]float64, min(len(s.V), len(c.AtS)))
		for i := range values {
			values[i] = s.V[i]
			if c.Stacked {
				values[i] += base[i]
			}
		}
		if d := c.path(values, base, s.Area, y); d != "" {
			kind := "line"
			if s.Area {
				kind = "area"
			}
			fmt.Fprintf(&b, `<path class="%s %s" d="%s"><title>%s</title></path>`, kind, s.Class, d, template.HTMLEscapeString(s.Name))
		}
		if c.Stacked {
			copy(base, values)
		}
	}
	if !shaded {
		c.shade(&b)
	}
	if c.Stacked {
		for _, s := range c.Bands {
			fmt.Fprintf(&b, `<path class="edge" d="M%d 0V%dM%d 0V%[2]d"/>`, c.x(s.FromS), boxHigh, c.x(s.ToS))
		}
	}
	for _, l := range c.Lines {
		if finite(l.V) {
			fmt.Fprintf(&b, `<path class="level" d="M0 %dH%d"><title>%s</title></path>`, y(l.V), boxWide, template.HTMLEscapeString(l.Name+" "+c.value(l.V)))
		}
	}
	return b.String()
}

// shade tints the bands. Where areas are of strong colours, the strip above says more.
func (c *chart) shade(b *strings.Builder) {
	for _, s := range c.Bands {
		from, wide := c.x(s.FromS), max(c.x(s.ToS)-c.x(s.FromS), 3)
		fmt.Fprintf(b, `<rect class="band" x="%d" y="0" width="%d" height="%d"/><rect class="strip" x="%[1]d" y="-8" width="%[2]d" height="7"><title>%[4]s</title></rect>`, from, wide, boxHigh, template.HTMLEscapeString(s.Title))
	}
}

// path goes through values in steps: a value holds until the next one. An area goes back along its base.
func (c *chart) path(values, base []float64, area bool, y func(float64) int) string {
	var b strings.Builder
	open, atX, atY := false, 0, 0
	var back []int // pairs of x and y of the base, in the order they were passed
	shut := func(x int) {
		if !open {
			return
		}
		b.WriteString("H" + strconv.Itoa(x))
		if area {
			for i := len(back) - 2; i >= 0; i -= 2 {
				b.WriteString("V" + strconv.Itoa(back[i+1]) + "H" + strconv.Itoa(back[i]))
			}
			b.WriteString("Z")
		}
		open, back = false, back[:0]
	}
	for i, v := range values {
		x := c.x(c.AtS[i])
		if !finite(v) {
			shut(x)
			continue
		}
		low := boxHigh
		if c.Stacked {
			low = y(base[i])
		}
		switch at := y(v); {
		case !open:
			fmt.Fprintf(&b, "M%d %d", x, at)
			open, atX, atY, back = true, x, at, append(back, x, low)
		default:
			if at != atY {
				if x != atX {
					b.WriteString("H" + strconv.Itoa(x))
				}
				b.WriteString("V" + strconv.Itoa(at))
				atX, atY = x, at
			}
			if area && low != back[len(back)-1] {
				back = append(back, x, low)
			}
		}
	}
	shut(c.x(c.EndS))
	return b.String()
}

// chartData is what the script reads of a chart to say values.
type chartData struct {
	T []jsonFloat `json:"t"`
	U string      `json:"u,omitempty"`
	S []valueData `json:"s"`
}

type valueData struct {
	N   string      `json:"n"`
	Own bool        `json:"own,omitempty"` // it has no unit
	V   []jsonFloat `json:"v"`
}

// jsonFloat is a number of few digits, or null for one that is none.
type jsonFloat float64

// MarshalJSON implements [json.Marshaler].
func (f jsonFloat) MarshalJSON() ([]byte, error) {
	if !finite(float64(f)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(f), 'g', 6, 64), nil
}

// data is the values for the script.
func (c *chart) data() string {
	d := chartData{U: c.Unit}
	if c.Share {
		d.U = "%"
	}
	for _, at := range c.AtS {
		d.T = append(d.T, jsonFloat(at))
	}
	for i, s := range c.Series {
		v := valueData{N: s.Name, Own: i == 0 && c.Scaled.Top > 0}
		for _, one := range s.V {
			switch {
			case v.Own:
				one *= c.Scaled.Full / c.Scaled.Top
			case c.Share:
				one *= 100
			}
			v.V = append(v.V, jsonFloat(one))
		}
		d.S = append(d.S, v)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return "" // it is made of numbers and clean text
	}
	return string(text)
}
