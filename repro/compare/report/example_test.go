package report_test

import (
	"fmt"
	"os"
	"strings"

	"example.com/wedge/repro/compare/report"
)

// A picture for itself: two policies, of which one left tasks unfinished.
func ExampleCCDF() {
	svg, err := report.CCDF(report.CCDFInput{
		Frame: report.Frame{Title: "How long do tasks take?", Note: "scenario starvation, seeds 1 to 3"},
		What:  "task time",
		Samples: []report.Sample{
			{Name: "idle-60s", TookS: []float64{210, 240, 300, 420}},
			{Name: "none", TookS: []float64{250, 900}, CensoredS: []float64{3600, 3600}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range []string{"idle-60s (n = 4)", "none (n = 4, 2 never)"} {
		fmt.Println(words, strings.Contains(string(svg), words))
	}
	// Output:
	// idle-60s (n = 4) true
	// none (n = 4, 2 never) true
}

// The smallest page that answers something.
func ExampleWrite() {
	in := report.Input{
		Title:  "Use idle-60s",
		Advice: []string{"It is 31 % faster than none and kills no healthy call."},
		Tables: []report.Table{{
			Columns: []report.Column{{Name: "mean task time", Unit: "s"}},
			Rows: []report.Row{
				{Name: "none", Cells: []report.Cell{{Value: 690, Lo: 640, Hi: 735, N: 50}}},
				{Name: "idle-60s", Cells: []report.Cell{{Value: 478, Lo: 450, Hi: 509, N: 50, Mark: report.Best}}},
			},
		}},
	}
	var page strings.Builder
	if err := report.Write(&page, in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, line := range strings.Split(page.String(), "\n") {
		if strings.HasPrefix(line, "<h1>") || strings.HasPrefix(line, `<tr><th scope="row">`) {
			fmt.Println(line)
		}
	}
	// Output:
	// <h1>Use idle-60s</h1>
	// <tr><th scope="row">none</th><td data-label="mean task time"><span class="value">11.5 min</span><span class="of">10.7 to 12.2</span><span class="of">n = 50</span></td></tr>
	// <tr><th scope="row">idle-60s</th><td data-label="mean task time" class="good"><span class="value">7.97 min</span><span class="mark">best</span><span class="of">7.5 to 8.48</span><span class="of">n = 50</span></td></tr>
}
