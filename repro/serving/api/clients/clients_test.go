//go:build integration

package clients

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/wedge/harness/fault"
)

var update = flag.Bool("update", false, "rewrite the part of README.md that the tests compare with")

// TestMain has more tests run at a time than there are processors: most of the time they all wait for
// the patience of a client.
func TestMain(m *testing.M) {
	flag.Parse()
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil && n < 8 {
		_ = flag.Set("test.parallel", "8")
	}
	os.Exit(m.Run())
}

const (
	readme = "README.md"
	// mark is the line of README.md after which everything is written by the test.
	mark = "## What each client sees\n"
)

// TestIntegrationClients plays every episode to every client, each with servers of its own, and
// compares what they see with README.md.
func TestIntegrationClients(t *testing.T) {
	clients := []client{node(t), official(t), goOpenAI(t)}
	list := episodes()
	sections := make([]string, len(list))
	all := make([][][]turn, len(list)) // by episode and client
	t.Run("play", func(t *testing.T) {
		for i := range list {
			e := &list[i]
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				sections[i], all[i] = e.play(t, clients)
			})
		}
	})
	if t.Failed() {
		return
	}
	checkTexts(t, list, all)
	checkReadme(t, list, sections)
}

// play plays an episode to each client and returns the section about it, and what the clients saw.
func (e *episode) play(t *testing.T, clients []client) (section string, seen [][]turn) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s\n", e.name, e.story)
	for i := range e.faults {
		fmt.Fprintf(&b, "Fault: `%s`\n", faultText(t, &e.faults[i]))
	}
	b.WriteString("\n| client | requests | what arrives, in tokens | finish | usage | ends |\n|---|---|---|---|---|---|\n")
	for _, c := range clients {
		turns := c.run(t, e.serve(t), e.call, e.patience())
		seen = append(seen, turns)
		for i := range turns {
			b.WriteString(turns[i].row(c.name, e.call, e.race))
		}
		if slices.Contains(c.helpers, e.call) {
			turns := c.helper(t, e.serve(t), e.call, e.patience())
			seen = append(seen, turns)
			for i := range turns {
				b.WriteString(turns[i].row(c.name+", helper", e.call, e.race))
			}
		}
	}
	return b.String(), seen
}

func (e *episode) serve(t *testing.T) (baseURL string) {
	cfg := instant()
	if e.servers != nil {
		e.servers(&cfg)
	}
	s := serve(t, cfg, e.faults)
	if e.held {
		s.hold(t)
	}
	return s.url
}

// faultText is the fault as a scenario file has it.
func faultText(t *testing.T, f *fault.Fault) string {
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkTexts checks that what a client has of an answer is the beginning of what it is.
func checkTexts(t *testing.T, list []episode, all [][][]turn) {
	t.Helper()
	whole := map[string]*turn{}
	for i := range list {
		if name := list[i].name; all[i] != nil && (name == "chat-whole" || name == "tool-call") {
			whole[list[i].call] = &all[i][0][0]
		}
	}
	whole[callStream] = whole[callWhole]
	for i := range list {
		want := whole[list[i].call]
		if want == nil {
			continue
		}
		for _, turns := range all[i] {
			if got := &turns[0]; !strings.HasPrefix(want.Reasoning, got.Reasoning) || !strings.HasPrefix(want.Content, got.Content) {
				t.Errorf("seed %d: %s: a client saw\n%q\n%q\nwhich is no part of\n%q\n%q", seed, list[i].name, got.Reasoning, got.Content, want.Reasoning, want.Content)
			}
		}
	}
}

// checkReadme compares the sections with those of README.md, or rewrites them.
func checkReadme(t *testing.T, list []episode, sections []string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s has no line %q", readme, mark)
	}
	if *update {
		if slices.Contains(sections, "") {
			t.Fatal("-update: wants every episode")
		}
		if err := os.WriteFile(readme, []byte(before+mark+strings.Join(sections, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i, section := range sections { // one that was not asked for is empty
		if !strings.Contains(after+"\n", section) {
			t.Errorf("seed %d: %s: differs from %s: want there\n%s", seed, list[i].name, readme, section)
		}
	}
	if after != strings.Join(sections, "") && !t.Failed() && !slices.Contains(sections, "") {
		t.Errorf("%s has sections that no episode writes, or in another order: go test -tags integration -run Clients -update", readme)
	}
}
