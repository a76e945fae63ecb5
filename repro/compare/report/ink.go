package report

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// ink is a role that a colour plays. Drawing code names roles; the style sheet gives each its colour in either theme.
type ink int

// Roles. The series follow inkSeries in the order in which they are handed out, then the steps of the heat map.
const (
	inkPaper  ink = iota // the ground of a picture
	inkText              // titles, names, what must be read
	inkSoft              // notes, tick labels
	inkLine              // axes
	inkGrid              // grid
	inkShade             // the tint of a trigger
	inkOther             // series beyond the named ones
	inkBad               // certainly worse, never
	inkGood              // certainly better
	inkOnHeat            // text on a strong step of the heat map
	inkSeries
	inkHeat  = inkSeries + seriesCount
	inkCount = inkHeat + heatCount
)

// seriesCount is how many series get a colour, a dash and a marker of their own. More cannot be told apart.
// heatCount is the steps of a heat map, worst first.
const (
	seriesCount = 8
	heatCount   = 7
)

var _ color.Color = ink(0)

// shades gives each ink its colour in the light and in the dark theme. Light colours are unlike each other: gonum writes
// them, and restyle recognises the role by them. The series are Okabe and Ito's hues, darkened for white paper and
// lightened for black, so that each keeps a contrast of 3 to its ground and stays apart for the colour-blind.
var shades = [inkCount][2]string{
	inkPaper:      {"#FFFFFF", "#12161C"},
	inkText:       {"#1D2430", "#E6EAF0"},
	inkSoft:       {"#5B6675", "#9AA6B5"},
	inkLine:       {"#8A95A5", "#7B8797"},
	inkGrid:       {"#E3E8EE", "#252D38"},
	inkShade:      {"#F6E3C5", "#3A2F1C"},
	inkOther:      {"#B4BCC8", "#4C5766"},
	inkBad:        {"#C62828", "#FF7B72"},
	inkGood:       {"#1A7F37", "#56D364"},
	inkOnHeat:     {"#F8FBFF", "#0B0E12"},
	inkSeries:     {"#0067B1", "#58B4F5"},
	inkSeries + 1: {"#D14E00", "#FF8F4F"},
	inkSeries + 2: {"#008563", "#36D3A4"},
	inkSeries + 3: {"#B0457F", "#F5A0CF"},
	inkSeries + 4: {"#8A6A00", "#EBC94A"},
	inkSeries + 5: {"#3A3F4B", "#F2F4F8"},
	inkSeries + 6: {"#9467DC", "#9C82F5"},
	inkSeries + 7: {"#2A93A8", "#8BE6F5"},
	inkHeat:       {"#A63603", "#FF8A4C"},
	inkHeat + 1:   {"#C4551A", "#C76430"},
	inkHeat + 2:   {"#F2B48A", "#7C4528"},
	inkHeat + 3:   {"#ECEEF1", "#2B323C"},
	inkHeat + 4:   {"#A9CBE8", "#26506F"},
	inkHeat + 5:   {"#2F78B3", "#3482B5"},
	inkHeat + 6:   {"#084F8C", "#5CBCF8"},
}

// RGBA is the colour in the light theme.
func (k ink) RGBA() (r, g, b, a uint32) {
	if k < 0 || k >= inkCount {
		return color.Black.RGBA()
	}
	return channels(shades[k][0]).RGBA()
}

// channels reads "#RRGGBB"; black if it is none.
func channels(hex string) color.RGBA {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	if err != nil {
		return color.RGBA{A: 255}
	}
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// inkOf finds the role of a colour that gonum wrote; each channel may have lost one to its rounding.
func inkOf(hex string) (ink, bool) {
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 1 }
	got := channels(hex)
	for k, pair := range shades {
		want := channels(pair[0])
		if near(got.R, want.R) && near(got.G, want.G) && near(got.B, want.B) {
			return ink(k), true
		}
	}
	return 0, false
}

// wash is an ink laid on thinly: a band, an area.
type wash struct {
	ink
	alpha float64
}

// RGBA is the colour premultiplied, as color.Color wants it.
func (w wash) RGBA() (r, g, b, a uint32) {
	r, g, b, _ = w.ink.RGBA()
	thin := func(v uint32) uint32 { return uint32(float64(v) * w.alpha) }
	return thin(r), thin(g), thin(b), thin(0xffff)
}

// seriesInk hands out the series' colours; those beyond share one that stays in the background.
func seriesInk(i int) ink {
	if i < 0 || i >= seriesCount {
		return inkOther
	}
	return inkSeries + ink(i)
}

// styleSheet is the rules that the classes of every picture need: f… fills, k… strokes. A page holds it once.
func styleSheet() string {
	var s strings.Builder
	s.WriteString(".wp{color-scheme:light dark;font-family:Arial,\"Liberation Sans\",Helvetica,sans-serif}.wp .b{font-weight:bold}\n")
	for theme := range 2 {
		if theme == 1 {
			s.WriteString("@media (prefers-color-scheme:dark){\n")
		}
		for k, pair := range shades {
			fmt.Fprintf(&s, ".wp .f%d{fill:%s}.wp .k%d{stroke:%s}", k, pair[theme], k, pair[theme])
		}
		s.WriteString("\n")
	}
	s.WriteString("}\n")
	return s.String()
}
