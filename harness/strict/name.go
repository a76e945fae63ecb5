package strict

import (
	"path/filepath"
	"strings"
)

// NotInName says whether a name of a thing that has a file, and an option of its own, has no place for
// the rune: letters, digits, dots, dashes and underscores are allowed.
func NotInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
}

// NameOf makes a name out of that of a file, for what the file itself does not name. It is "" for a
// file that is all extension.
func NameOf(path string) string {
	base := filepath.Base(path)
	return strings.Map(func(r rune) rune {
		if NotInName(r) {
			return '-'
		}
		return r
	}, strings.TrimSuffix(base, filepath.Ext(base)))
}
