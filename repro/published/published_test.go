package published

import (
	"fmt"
	"strings"
	"testing"
)

// TestResults replays every result: each row must be within its tolerance.
func TestResults(t *testing.T) {
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			got := r.Run(Options{})
			if len(got.Rows) == 0 || len(got.Figures) == 0 {
				t.Error("no rows or no figures")
			}
			var table strings.Builder
			for _, row := range got.Rows {
				fmt.Fprintf(&table, "%v %s | %s | %s | %s | %s\n", row.Right, row.What, row.Grade, row.Expected, row.Here, row.Tolerance)
				if !row.Right {
					t.Errorf("seeds 1 to %d: %s: here %s, %s %s, tolerance %s", got.Seeds, row.What, row.Here, row.Grade, row.Expected, row.Tolerance)
				}
			}
			t.Log("\n" + table.String())
		})
	}
}
