package goroutine

import (
	"cmp"
	"slices"
	"strings"
)

// A SimilarGroup is groups whose goroutines wait in the same functions, at other
// lines of them or in other closures.
type SimilarGroup struct {
	// Groups are the exact ones, in the order that they were given in: with those
	// of Group, the largest first.
	Groups []StackGroup
}

// Count is the number of goroutines.
func (s *SimilarGroup) Count() int {
	n := 0
	for i := range s.Groups {
		n += s.Groups[i].Count()
	}
	return n
}

// GroupSimilar puts groups together that have the same state and call the same
// functions in the same order. Lines, files, and numbers that the compiler gives
// to closures and wrappers may differ, and so may the depth of a recursion and of
// what was left out. The largest come first, equal sizes as their first groups
// were given.
func GroupSimilar(groups []StackGroup) []SimilarGroup {
	var similar []SimilarGroup
	byKey := map[string]int{}
	var key []byte
	for i := range groups {
		key = appendSimilarKey(key[:0], &groups[i])
		at, ok := byKey[string(key)]
		if !ok {
			at = len(similar)
			byKey[string(key)] = at
			similar = append(similar, SimilarGroup{})
		}
		similar[at].Groups = append(similar[at].Groups, groups[i])
	}
	slices.SortStableFunc(similar, func(a, b SimilarGroup) int { return cmp.Compare(b.Count(), a.Count()) })
	return similar
}

func appendSimilarKey(key []byte, g *StackGroup) []byte {
	key = appendText(key, g.State)
	last := ""
	for i := range g.Frames {
		name := similarName(g.Frames[i].Func)
		if name != last {
			key = appendText(key, name)
		}
		last = name
	}
	return key
}

// numbered are the parts of names that the compiler ends in a number.
var numbered = []string{".func", ".gowrap", ".deferwrap", "-range", "func·", ".init."}

// similarName leaves the compiler's numbers out of a name: run.func2.1 becomes
// run.func, and the address of a function without a name nothing.
func similarName(name string) string {
	if strings.HasPrefix(name, "0x") {
		return "0x"
	}
	for _, start := range numbered {
		for from := 0; ; {
			i := strings.Index(name[from:], start)
			if i < 0 {
				break
			}
			from += i + len(start)
			rest := strings.TrimLeft(name[from:], "0123456789")
			if len(rest) == len(name[from:]) || rest != "" && !strings.ContainsRune(".-[(", rune(rest[0])) {
				continue // a name of the program's own, such as b.function or b.func2nd
			}
			for len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' {
				rest = strings.TrimLeft(rest[1:], "0123456789")
			}
			name = name[:from] + rest
		}
	}
	return name
}
