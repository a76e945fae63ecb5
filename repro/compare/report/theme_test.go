package report

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

func nan() float64 { return math.NaN() }

// linear gives the channels of a colour in linear light.
func linear(c color.RGBA) [3]float64 {
	var out [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		s := float64(v) / 255
		if s <= 0.04045 {
			out[i] = s / 12.92
		} else {
			out[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is WCAG's ratio of two colours.
func contrast(a, b string) float64 {
	light := func(hex string) float64 {
		l := linear(channels(hex))
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] + 0.05
	}
	x, y := light(a), light(b)
	return max(x, y) / min(x, y)
}

func TestInksKeepTheirContrast(t *testing.T) {
	for theme, name := range []string{"light", "dark"} {
		of := func(k ink) string { return shades[k][theme] }
		check := func(what string, a, b ink, least float64) {
			if got := contrast(of(a), of(b)); got < least {
				t.Errorf("%s, %s: contrast %.2f, want at least %.1f", name, what, got, least)
			}
		}
		for _, k := range []ink{inkText, inkSoft, inkBad, inkGood} {
			check("text on paper", k, inkPaper, 4.5)
		}
		for i := range ink(seriesCount) {
			check("a series on paper", inkSeries+i, inkPaper, 3)
			check("a series on the trigger's shade", inkSeries+i, inkShade, 2.4)
		}
		for i := range ink(heatCount) {
			words := inkText
			if i < 2 || i > heatCount-3 {
				words = inkOnHeat
			}
			check("words on the heat map", words, inkHeat+i, 4)
		}
	}
}

// TestLightInksAreUnlike guards restyle, which tells roles by their light colour.
func TestLightInksAreUnlike(t *testing.T) {
	for k := range inkCount {
		if got, ok := inkOf(shades[k][0]); !ok || got != k {
			t.Errorf("%s of role %d is taken for role %d", shades[k][0], k, got)
		}
		r, g, b, a := wash{k, 0.16}.RGBA()
		if r > a || g > a || b > a {
			t.Errorf("role %d laid on thinly is not premultiplied", k)
		}
	}
}

// The named series differ for the colour-blind (Viénot's projections) by colour or at least by dash.
func TestSeriesAreToldApart(t *testing.T) {
	blind := map[string][3][3]float64{
		"protan": {{0.1124, 0.8876, 0}, {0.1124, 0.8876, 0}, {0.0040, -0.0040, 1}},
		"deutan": {{0.2927, 0.7073, 0}, {0.2927, 0.7073, 0}, {-0.0223, 0.0223, 1}},
	}
	for theme := range 2 {
		for name, m := range blind {
			see := func(k ink) (out [3]float64) {
				l := linear(channels(shades[k][theme]))
				for i := range 3 {
					v := m[i][0]*l[0] + m[i][1]*l[1] + m[i][2]*l[2]
					out[i] = math.Cbrt(max(0, v))
				}
				return out
			}
			for i := range seriesCount {
				for j := range i {
					a, b := see(seriesInk(i)), see(seriesInk(j))
					if d := math.Sqrt(sq(a[0]-b[0]) + sq(a[1]-b[1]) + sq(a[2]-b[2])); d < 0.05 {
						t.Errorf("%s, theme %d: series %d and %d are %.3f apart", name, theme, i, j, d)
					}
				}
			}
		}
	}
	seen := map[string]bool{}
	for i := range seriesCount {
		dash := fmt.Sprint(lookOf(i).dashes)
		if seen[dash] {
			t.Errorf("series %d has the dashes of another", i)
		}
		seen[dash] = true
	}
}

func sq(v float64) float64 { return v * v }
