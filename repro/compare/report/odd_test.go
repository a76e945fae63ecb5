package report

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// hostileName is what a name may try.
const hostileName = "<script>alert(1)</script>\"' &amp; style=\"fill:#0067B1\" \u202egpj\x00\xff ]]> </svg></style>"

// badNumber finds numbers in attributes that no viewer can read.
var badNumber = regexp.MustCompile(`="[^"]*(NaN|Inf|e\+)[^"]*"`)

// checkSVG fails unless the picture is one: well formed, one svg, numbers everywhere, nothing that runs or loads.
func checkSVG(t *testing.T, what string, svg []byte) {
	t.Helper()
	depth, roots := 0, 0
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: not well formed: %v\n%.2000s", what, err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			if name := e.Name.Local; !strings.Contains(" svg style g path text ", " "+name+" ") {
				t.Fatalf("%s: element %s", what, name)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
					t.Fatalf("%s: attribute %s=%q", what, a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
	if roots != 1 {
		t.Fatalf("%s: %d roots", what, roots)
	}
	_, drawn, _ := bytes.Cut(svg, []byte("</style>")) // behind the prelude, which repeats the title
	if m := badNumber.Find(drawn); m != nil {
		t.Fatalf("%s: %s", what, m)
	}
}

// checkPlots draws each at three widths.
func checkPlots(t *testing.T, plots []Plot) {
	t.Helper()
	for _, p := range plots {
		for _, width := range []int{0, pageNarrow, pageWhole} {
			f := p.frame()
			f.WidthPx = width
			svg, err := p.svg(f)
			if err != nil {
				t.Fatalf("%T: %v", p, err)
			}
			checkSVG(t, fmt.Sprintf("%T at %d px", p, width), svg)
		}
	}
}

func TestOddInput(t *testing.T) {
	for seed := range uint64(12) {
		r := source(seed)
		data := make([]byte, 8*r.IntN(40))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		checkPlots(t, oddPlots(data, hostileName, seed%2 == 0))
	}
}

func TestSamplesAreWellFormed(t *testing.T) { checkPlots(t, samplePlots()) }

// numbers deals out the float64s of a byte string, again and again.
type numbers struct {
	data []byte
	at   int
}

func (n *numbers) next() float64 {
	if len(n.data) == 0 {
		return 0
	}
	var b [8]byte
	for i := range b {
		b[i] = n.data[(n.at+i)%len(n.data)]
	}
	n.at += 8
	return math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
}

func (n *numbers) small() int { return int(uint64(math.Float64bits(n.next())) % 13) }

func (n *numbers) list() (out []float64) {
	for range n.small() {
		out = append(out, n.next())
	}
	return out
}

func (n *numbers) singles() (out []float32) {
	for _, v := range n.list() {
		out = append(out, float32(v))
	}
	return out
}

func (n *numbers) points() (out []Point) {
	for range n.small() {
		out = append(out, Point{n.next(), n.next(), n.next(), n.next()})
	}
	return out
}

// oddPlots fills one of each with what the bytes hold.
func oddPlots(data []byte, name string, log bool) []Plot {
	n := &numbers{data: data}
	f := Frame{Title: name, Note: name, WidthPx: n.small() * 100, HeightPx: (n.small() - 3) * 50}
	x, y := Axis{name, []string{"", "s", "%", name}[n.small()%4], log}, Axis{name, []string{"", "s", "%", name}[n.small()%4], log}
	shades := []Shade{{name, n.next(), n.next()}, {name, n.next(), n.next()}}
	refs := []Reference{{name, n.next(), true}, {name, n.next(), false}}
	curves := []Curve{{name, n.points(), n.small()}, {name, n.points(), -n.small()}}
	g := GanttInput{Frame: f, Agents: []string{name, "a"}, Stages: []string{name}, Triggers: shades}
	fo := ForestInput{Frame: f, What: name, Unit: x.Unit, HigherIsBetter: log}
	pa := ParetoInput{Frame: f, X: x, Y: y}
	for i := range n.small() {
		g.Spans = append(g.Spans, Span{name[:min(i, len(name))], name, n.next(), n.next()})
		fo.Rows = append(fo.Rows, Difference{name[:min(i, len(name))], name, n.next(), n.next(), n.next(), n.small(), i%2 == 0})
		pa.Offers = append(pa.Offers, Offer{name, n.next(), n.next(), n.next(), n.next(), n.next(), n.next(), n.small(), i%2 == 0})
	}
	h := HeatMapInput{Frame: f, XLabel: name, YLabel: name, XTicks: []string{name, "b"}, YTicks: []string{"c", name}, GoodIsZero: log}
	for range n.small() % 4 {
		h.Runs, h.Recovered = append(h.Runs, []int{n.small(), n.small()}), append(h.Recovered, []int{n.small(), -n.small()})
	}
	return []Plot{
		LinesInput{f, x, y, curves, refs, shades, log, !log},
		SweepInput{f, x, y, curves, n.next()},
		LoadInput{Frame: f, Unit: name, Capacity: n.next(), Ramps: []Ramp{{name, n.points(), n.points(), n.small()}}},
		LoadInput{Frame: f, X: x, Y: y, UpName: name, Ramps: []Ramp{{name, n.points(), n.points(), n.small()}}},
		TimelineInput{f, n.next(), n.next(), []Panel{{name, name, []Track{{name, n.singles()}, {name, n.singles()}}}, {}}, shades, refs},
		SlotsInput{f, n.next(), n.next(), n.singles(), n.singles(), n.singles(), n.singles(), n.next(), shades},
		g, fo, pa, h,
		CCDFInput{f, name, []Sample{{name, n.list(), n.list()}, {name, nil, n.list()}, {}}},
		RecoveryInput{f, []Recoveries{{name, n.list(), n.list()}, {name, n.list(), nil}, {}}},
		PhaseInput{f, name, name, []Path{{name, n.list(), n.list()}, {}}},
	}
}

func FuzzPlots(f *testing.F) {
	var odd []byte
	for _, v := range []float64{1, -1, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 5e-324, 1e-9, 3600, math.Copysign(0, -1), 1e15, 1e15 + 1, 0.5} {
		odd = binary.LittleEndian.AppendUint64(odd, math.Float64bits(v))
	}
	for which := range uint8(12) {
		f.Add(odd, hostileName, true, which)
		f.Add(odd[3:], "", false, which)
		f.Add([]byte{}, "x", false, which)
	}
	f.Fuzz(func(t *testing.T, data []byte, name string, log bool, which uint8) {
		plots := oddPlots(data, name, log)
		p := plots[int(which)%len(plots)]
		svg, err := p.svg(p.frame())
		if err != nil {
			t.Fatalf("%T: %v", p, err)
		}
		checkSVG(t, fmt.Sprintf("%T", p), svg)
	})
}
