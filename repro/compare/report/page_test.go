package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is drawn now; look at it and run with -update if that is meant", path)
	}
}

func TestPicturesGolden(t *testing.T) {
	for _, p := range samplePlots() {
		name := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", p), "report."), "Input"))
		svg, err := p.svg(p.frame())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".svg", svg)
	}
}

// The page's golden file has the two smallest pictures only.
func TestPageGolden(t *testing.T) {
	in := samplePage()
	in.Sections = []Section{{Title: "Where it breaks", Text: []string{"A picture is there twice: for wide and for narrow windows."}, Plots: []Plot{sampleHeat(), sampleForest()}}}
	golden(t, "page.html", page(t, in))
}

func page(t *testing.T, in Input) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, in); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSameBytesFromSeveralGoroutines(t *testing.T) {
	want := page(t, samplePage())
	got := make([][]byte, 4)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			var out bytes.Buffer
			if Write(&out, samplePage()) == nil {
				got[i] = out.Bytes()
			}
		})
	}
	wg.Wait()
	for i := range got {
		if !bytes.Equal(got[i], want) {
			t.Errorf("page %d differs", i)
		}
	}
}

// The page says the answer before it shows numbers, loads nothing and runs nothing.
func TestPageOrderAndIndependence(t *testing.T) {
	s := string(page(t, samplePage()))
	at := -1
	for _, words := range []string{"<h1>Use idle-60s", "fastest on two of three", "What makes this doubtful", "The numbers", "<figure", "How it was measured"} {
		i := strings.Index(s, words)
		if i < at || i < 0 {
			t.Errorf("%q is not where it belongs", words)
		}
		at = i
	}
	for _, bad := range []string{"<script", "<link", "@import", "url(", " src=", " href=", " id="} {
		if strings.Contains(s, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if n := strings.Count(s, "<style>"); n != 1 {
		t.Errorf("%d style sheets, want 1", n)
	}
}

// A folded section says what is in it, and has its table before its pictures.
func TestFoldedSection(t *testing.T) {
	in := samplePage()
	in.Sections = []Section{{Title: "silent-stream", Gist: "idle-60s 31 % less", Folded: true, Text: []string{"A <stream> goes quiet."}, Plots: []Plot{sampleForest()}, Tables: in.Tables}}
	in.Tables = nil
	s := string(page(t, in))
	at := -1
	for _, words := range []string{`<summary>silent-stream<span class="gist">idle-60s 31 % less</span></summary>`, "A &lt;stream&gt; goes quiet", "<table", "<figure", "</details>"} {
		i := strings.Index(s, words)
		if i < at || i < 0 {
			t.Errorf("%q is not where it belongs", words)
		}
		at = i
	}
	if n := strings.Count(s, "<details"); n != 1 {
		t.Errorf("%d folds, want 1", n)
	}
}

// The loop of two starts has axes of its own, and no line for what is offered.
func TestLoadOfTwoStarts(t *testing.T) {
	in := LoadInput{X: Axis{Label: "tasks", Unit: "1/s"}, Y: Axis{Label: "goodput", Unit: "tok/s"}, UpName: "after load=1.5", DownName: "after load=15",
		Ramps: []Ramp{{Name: "as-is", Up: []Point{{X: 1, Y: 100}, {X: 2, Y: 200}}, Down: []Point{{X: 1, Y: 100}, {X: 2, Y: 1}}}}}
	svg, err := Load(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"tasks (1/s)", "goodput (tok/s)", "after load=1.5", "after load=15"} {
		if !strings.Contains(string(svg), words) {
			t.Errorf("%q is missing", words)
		}
	}
	if strings.Contains(string(svg), "all that is offered") {
		t.Error("there is a line of what is offered, in another unit")
	}
}

func TestEmptyPage(t *testing.T) {
	s := string(page(t, Input{}))
	if !strings.Contains(s, "Comparison of timeout policies") || strings.Contains(s, "<table") {
		t.Errorf("unexpected page:\n%s", s)
	}
}

// Cells of a table are as the contract of Cell says.
func TestCells(t *testing.T) {
	for _, row := range []struct {
		unit string
		cell Cell
		want shownCell
	}{
		{"s", Cell{}, shownCell{Value: "0 s"}},
		{"s", Cell{Value: 754, Lo: 700, Hi: 8000, N: 1500, Mark: Best}, shownCell{Value: "0.209 h", Interval: "0.194 to 2.22", N: "n = 1,500", Mark: "best", Class: "good"}},
		{"%", Cell{Value: 0.3149, Lo: 0.3, Hi: 0.33, Mark: Worse}, shownCell{Value: "31.5 %", Interval: "30 to 33", Mark: "worse", Class: "bad"}},
		{"", Cell{Text: "never", Value: 3, Mark: Better}, shownCell{Value: "never", Mark: "better", Class: "good"}},
		{"s", Cell{Text: "never", Lo: 700, Hi: 8000}, shownCell{Value: "never", Interval: "0.194 to 2.22 h"}},
		{"", Cell{Value: nan(), Lo: nan(), Hi: 3}, shownCell{Value: "–"}},
		{"tokens/s", Cell{Value: 12345678}, shownCell{Value: "1.2e+07 tokens/s"}},
	} {
		if got := shown(Column{Unit: row.unit}, row.cell); got != row.want {
			t.Errorf("%+v %q: got %+v, want %+v", row.cell, row.unit, got, row.want)
		}
	}
}

// Everything that is written lies inside its picture.
func TestTextStaysInside(t *testing.T) {
	text := regexp.MustCompile(`<text x="([-0-9.e]+)" y="([-0-9.e]+)"`)
	plots := samplePlots()
	for _, s := range degenerate() {
		plots = append(plots, s.Plots...)
	}
	for _, p := range plots {
		for _, width := range []int{280, pageNarrow, pageHalf, pageWhole} {
			f := p.frame()
			f.WidthPx, f.HeightPx = width, 0
			svg, err := p.svg(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range text.FindAllSubmatch(svg, -1) {
				var x, y float64
				if _, err := fmt.Sscan(string(m[1])+" "+string(m[2]), &x, &y); err != nil {
					t.Fatal(err)
				}
				if x < 0 || x > float64(width) || y > 0 {
					t.Errorf("%T %q at %d px: text at %v, %v", p, f.Title, width, x, y)
				}
			}
		}
	}
}
