package goroutine

import (
	"fmt"
	"strings"
	"testing"
)

// keysOf shows a list of pairs: key and number of goroutines before and after.
func keysOf(pairs []Pair) string {
	var b strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&b, "%s:%d>%d ", p.Key, len(p.Before), len(p.After))
	}
	return strings.TrimSpace(b.String())
}

func TestCompare(t *testing.T) {
	block := func(id int, call, state, line string) string {
		return fmt.Sprintf("goroutine %d [%s labels:{\"call\": \"%s\"}]:\nmain.f(0x%d)\n\t/a.go:%s +0x1\n\n", id, state, call, id, line)
	}
	before := parseString(t, block(1, "still", "select", "1")+block(2, "moved", "select", "1")+block(3, "woke", "select", "1")+
		block(4, "gone", "select", "1")+block(5, "two", "select", "1")+block(6, "two", "sleep", "2")+block(7, "fewer", "sleep", "2")+
		block(8, "fewer", "sleep", "2")+block(9, "", "sleep", "2"))
	after := parseString(t, block(6, "two", "sleep", "2")+block(5, "two", "select", "1")+block(1, "still", "select (scan), 4 minutes", "1")+
		block(2, "moved", "select", "2")+block(3, "woke", "runnable", "1")+block(7, "fewer", "sleep", "2")+
		block(10, "new", "select", "1")+block(11, "newer", "select", "1"))
	for _, test := range []struct {
		name                       string
		key                        func(*Goroutine) string
		still, changed, gone, news string
		unkeyed                    int
	}{
		{"label", ByLabel("call"), "still:1>1 two:2>2", "moved:1>1 woke:1>1 fewer:2>1", "gone:1>0", "new:0>1 newer:0>1", 1},
		{"ID", ByID, "1:1>1 5:1>1 6:1>1 7:1>1", "2:1>1 3:1>1", "4:1>0 8:1>0 9:1>0", "10:0>1 11:0>1", 0},
		{"none", ByLabel("none"), "", "", "", "", 17},
	} {
		m := Compare(before, after, test.key)
		got := [...]string{keysOf(m.Still), keysOf(m.Changed), keysOf(m.Gone), keysOf(m.New)}
		if want := [...]string{test.still, test.changed, test.gone, test.news}; got != want || m.Unkeyed != test.unkeyed {
			t.Errorf("by %s:\n got %q, %d without a key\nwant %q, %d", test.name, got, m.Unkeyed, want, test.unkeyed)
		}
	}
}

// TestCompareLive tells a goroutine that is stuck from one that went on.
func TestCompareLive(t *testing.T) {
	showLabels(t)
	stuck, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	stuckDone := withLabels(func() { <-stuck }, "call", "stuck")
	movingDone := withLabels(func() {
		<-first
		<-second
	}, "call", "moving")
	blocked := func(d *Dump) bool {
		return len(find(d, func(g *Goroutine) bool { return g.Label("call") != "" && g.State == "chan receive" })) == 2
	}
	before := poll(t, "both blocked", blocked)
	first <- struct{}{}
	after := poll(t, "both blocked again", blocked)
	m := Compare(before, after, ByLabel("call"))
	if keysOf(m.Still) != "stuck:1>1" || keysOf(m.Changed) != "moving:1>1" || len(m.Gone)+len(m.New) != 0 {
		t.Errorf("%s | %s | %s | %s", keysOf(m.Still), keysOf(m.Changed), keysOf(m.Gone), keysOf(m.New))
	}
	close(stuck)
	close(second)
	<-stuckDone
	<-movingDone
}
