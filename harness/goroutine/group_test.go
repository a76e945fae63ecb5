package goroutine

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const groupDump = `goroutine 1 [running]:
main.main()
	/a.go:1 +0x1

goroutine 5 [select, 3 minutes labels:{"agent": "1", "call": "a"}]:
main.work(0x1)
	/a.go:2 +0x1
created by main.main in goroutine 1
	/a.go:9 +0x1

goroutine 6 [select labels:{"agent": "1", "call": "b"}]:
main.work(0x2)
	/a.go:2 +0x1
created by main.main in goroutine 1
	/a.go:9 +0x1

goroutine 7 [chan receive labels:{"agent": "1"}]:
main.work(0x2)
	/a.go:2 +0x1
created by main.main in goroutine 1
	/a.go:9 +0x1

goroutine 8 [select labels:{"agent": "2", "call": "c"}]:
main.work(0x3)
	/a.go:2 +0x1
created by main.other in goroutine 1
	/a.go:9 +0x1

goroutine 9 [select]:
main.work(0x3)
	/a.go:3 +0x1
`

func TestGroup(t *testing.T) {
	groups := Group(parseString(t, groupDump))
	var counts []int
	for _, g := range groups {
		counts = append(counts, g.Count())
	}
	if want := []int{3, 1, 1, 1}; !reflect.DeepEqual(counts, want) {
		t.Fatalf("sizes %v, want %v", counts, want)
	}
	want := StackGroup{
		State: "select", Frames: []Frame{{"main.work", "0x1", "/a.go", 2}}, IDs: []int64{5, 6, 8}, Members: 3, WaitMax: 3 * time.Minute,
		Labels:   []LabelCount{{"agent", []ValueCount{{"1", 2}, {"2", 1}}, 0}, {"call", []ValueCount{{"a", 1}, {"b", 1}, {"c", 1}}, 0}},
		Creators: []ValueCount{{"main.main", 2}, {"main.other", 1}},
	}
	if !reflect.DeepEqual(groups[0], want) {
		t.Errorf("largest group:\n got %+v\nwant %+v", groups[0], want)
	}
	if groups[1].IDs[0] != 1 || groups[2].IDs[0] != 7 || groups[3].IDs[0] != 9 {
		t.Errorf("equal sizes not by first member: %v %v %v", groups[1].IDs, groups[2].IDs, groups[3].IDs)
	}
}

// TestGroupApart lists what keeps two goroutines apart.
func TestGroupApart(t *testing.T) {
	const stack = "goroutine 5 [select]:\nmain.a()\n\t/a.go:1 +0x1\nmain.b()\n\t/b.go:2 +0x1\n\n"
	for _, other := range []string{
		strings.Replace(stack, "select", "sleep", 1),
		strings.Replace(stack, "main.a()", "main.c()", 1),
		strings.Replace(stack, "/b.go:2", "/b.go:3", 1),
		strings.Replace(stack, "/b.go:2", "/c.go:2", 1),
		strings.Replace(stack, "main.b()", "...9 frames elided...\nmain.b()", 1),
		strings.Replace(stack, "main.b()\n\t/b.go:2 +0x1\n", "", 1),
	} {
		if n := len(Group(parseString(t, stack+strings.Replace(other, "5", "6", 1)))); n != 2 {
			t.Errorf("%d groups with\n%s", n, other)
		}
	}
	for _, other := range []string{
		strings.Replace(stack, "5", "6", 1),
		strings.Replace(stack, "]", ", 5 minutes, locked to thread labels:{\"a\": \"b\"}]", 1),
		strings.Replace(stack, "main.a()", "main.a(0x1)", 1),
		strings.Replace(stack, "+0x1", "+0x2", 1),
	} {
		if n := len(Group(parseString(t, stack+strings.Replace(other, "goroutine 5", "goroutine 6", 1)))); n != 1 {
			t.Errorf("%d groups with\n%s", n, other)
		}
	}
}

// TestGrouperWithReader checks that a Grouper keeps nothing a Reader reuses.
func TestGrouperWithReader(t *testing.T) {
	for _, path := range fixtures(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := parseString(t, string(text))
		var g Grouper
		bare := false
		for r := NewReader(strings.NewReader(string(text))); ; {
			one, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			bare = bare || one.NoStack
			if one.Kind == KindGoroutine {
				g.Add(one)
			}
		}
		if bare {
			continue // Parse has each once, the Reader has both
		}
		if got, want := g.Groups(), Group(d); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: streamed groups differ:\n got %+v\nwant %+v", path, got, want)
		}
	}
}

func TestGroupNothing(t *testing.T) {
	if got := Group(&Dump{}); len(got) != 0 {
		t.Errorf("groups of nothing: %v", got)
	}
}

// TestGroupBounds has more members, labels and values than a group keeps.
func TestGroupBounds(t *testing.T) {
	var g Grouper
	const members = idsMax + 5
	for i := range members {
		one := &Goroutine{ID: int64(i + 1), State: "select", Frames: []Frame{{Func: "main.f"}},
			Labels: []Label{{"call", strconv.Itoa(i)}, {"key" + strconv.Itoa(i), ""}}}
		g.Add(one)
	}
	got := g.Groups()[0]
	if got.Count() != members || len(got.IDs) != idsMax || len(got.Labels) != labelKeysMax {
		t.Errorf("%d members, %d ids, %d labels", got.Count(), len(got.IDs), len(got.Labels))
	}
	if l := got.Labels[0]; len(l.Values) != labelValuesMax || l.Others != members-labelValuesMax {
		t.Errorf("label %s: %d values, %d others", l.Key, len(l.Values), l.Others)
	}
}

// TestGroupSimilar lists what may differ between similar stacks, and what not.
func TestGroupSimilar(t *testing.T) {
	const stack = "[select]:\nmain.run.func2.1(0x1)\n\t/tmp/build1/a.go:1 +0x1\nmain.walk(0x1)\n\t/a.go:2 +0x1\nmain.b.gowrap1()\n\t/b.go:2 +0x1\n\n"
	var text strings.Builder
	similar := []string{
		strings.Replace(stack, "a.go:1", "a.go:7", 1),
		strings.Replace(stack, "func2.1", "func3.2", 1),
		strings.Replace(stack, "build1", "build2", 1),
		strings.Replace(stack, "gowrap1", "gowrap12", 1),
		strings.Replace(stack, "main.walk(0x1)", "main.walk(0x2)\n\t/a.go:2 +0x1\nmain.walk(0x3)", 1),
	}
	others := []string{
		strings.Replace(stack, "select", "sleep", 1),
		strings.Replace(stack, "walk", "talk", 1),
		strings.Replace(stack, "main.run", "main.run2", 1),
		strings.Replace(stack, "main.walk", "main.func1st", 1),
		strings.Replace(stack, "main.walk", "main.func2nd", 1),
	}
	for i, s := range slices.Concat([]string{stack, stack}, similar, others) {
		fmt.Fprintf(&text, "goroutine %d %s", i+1, s)
	}
	got := GroupSimilar(Group(parseString(t, text.String())))
	if len(got) != 1+len(others) || got[0].Count() != 2+len(similar) || len(got[0].Groups) != 1+len(similar) {
		t.Fatalf("%d groups, the first of %d in %d", len(got), got[0].Count(), len(got[0].Groups))
	}
	if got[0].Groups[0].Count() != 2 || got[1].Groups[0].IDs[0] != 8 || got[3].Groups[0].IDs[0] != 10 {
		t.Errorf("order: %+v", got)
	}
	if got := GroupSimilar(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
