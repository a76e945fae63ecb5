package harness

import (
	"fmt"
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// TestWaitsBounded: a dump of very many goroutines makes a view of a bounded size, with the counts of all.
func TestWaitsBounded(t *testing.T) {
	const agents = 5000
	var b strings.Builder
	for i := range agents {
		fmt.Fprintf(&b, "goroutine %d [sync.Mutex.Lock labels:{\"agent\": \"agent-%04d\"}]:\nsync.(*Mutex).Lock(0xc000100010)\n\t/go/mutex.go:1 +0x1\nmain.save%s()\n\t/x/main.go:20 +0x1\ncreated by main.main in goroutine 1\n\t/x/main.go:3 +0x1\n\n",
			i+7, i, strings.Repeat("VeryLong", 100))
	}
	d, err := goroutine.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	before := &stacks{all: d, waits: waits.Analyze(d), at: 1e9}
	now := &stacks{all: d, waits: waits.Analyze(d), at: 3e9}
	v := waitsOf(now, before)
	if len(v.Findings) == 0 || v.Over != 2e9 || v.Still != agents || v.Moved != 0 {
		t.Fatalf("%+v", v)
	}
	f := &v.Findings[0]
	if f.Members != agents || f.AgentsIn != agents || f.Still != agents || len(f.Agents) != waitsNamesMax || f.Agents[0] != "agent-0000" {
		t.Errorf("%d members, %d agents of which %d are named, %d still", f.Members, f.AgentsIn, len(f.Agents), f.Still)
	}
	for _, text := range append([]string{v.Reason, f.Text, f.Because}, f.Objects...) {
		if len(text) > waitsTextMax+len("…") {
			t.Errorf("a text of %d bytes", len(text))
		}
	}
}
