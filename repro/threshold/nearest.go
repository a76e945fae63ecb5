package threshold

import "strings"

// nearest returns the name that differs from another by the fewest letters, if these are few, be they large or small;
// empty: there is none.
func nearest(name string, names []string) string {
	name = strings.ToLower(name)
	best, distance := "", max(1, min(len(name)/3, 3))+1
	for _, n := range names {
		if d := edits(name, n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// edits returns how many letters must be put in, taken out or changed (Levenshtein).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
