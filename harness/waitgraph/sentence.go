package waitgraph

import (
	"fmt"
	"strings"
)

// namesMax is how many nodes or convoys a sentence names.
const namesMax = 3

// Sentence says a convoy of g in words: who waits, for what, who stands at the head, and what is behind.
func (g *Graph) Sentence(c *Convoy) string {
	var b strings.Builder
	verb := "wait for"
	if c.Waiting == 1 {
		verb = "waits for"
	}
	fmt.Fprintf(&b, "%s %s %s", grouped(c.Waiting), verb, g.Nodes[c.Object].name())
	if len(c.Holders) > 0 {
		b.WriteString(" behind " + g.list(c.Holders))
	}
	switch {
	case len(c.Holders) == 0:
		b.WriteString(", with nobody in sight who could end it")
	case len(c.Heads) == 0:
		b.WriteString(", which leads back into a cycle")
	case !sameNodes(c.Heads, c.Holders):
		b.WriteString("; at the head: " + g.list(c.Heads))
	}
	for i := range c.Behind {
		if i == namesMax {
			fmt.Fprintf(&b, "; and %d more such lines behind them", len(c.Behind)-i)
			break
		}
		behind := &c.Behind[i]
		fmt.Fprintf(&b, "; %s more behind them, at %s", grouped(behind.Total), g.Nodes[behind.Object].name())
	}
	return b.String()
}

// list names the first of some nodes.
func (g *Graph) list(nodes []int) string {
	var words []string
	for i, n := range nodes {
		if i == namesMax && len(nodes) > namesMax+1 {
			words = append(words, fmt.Sprintf("%d more", len(nodes)-i))
			break
		}
		words = append(words, g.Nodes[n].title())
	}
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " and " + words[last]
	}
	return strings.Join(words, "")
}

func sameNodes(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	in := map[int]bool{}
	for _, n := range b {
		in[n] = true
	}
	for _, n := range a {
		if !in[n] {
			return false
		}
	}
	return true
}
