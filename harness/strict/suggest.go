package strict

import (
	"fmt"
	"strings"
)

// Suggest returns the end of a message about an unknown name: the nearest known one, or else all there
// are.
func Suggest(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return oneOf(known)
}

func oneOf(known []string) string { return ", want one of " + strings.Join(known, ", ") }

// nearest returns the known name with the smallest edit distance, or "" if none is near.
func nearest(name string, known []string) string {
	best, least := "", 1+len(name)/2
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
		if len(name) >= 4 && strings.HasPrefix(k, name) && least > 1 {
			best, least = k, 1
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours (optimal string
// alignment).
func editDistance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		rows = [3][]int{old, row, older}
	}
	return rows[1][len(b)]
}
