package waitgraph

import (
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph in Graphviz's language, with like nodes taken together as in [Graph.WriteSVG].
// Every text is quoted.
func (g *Graph) WriteDOT(w io.Writer, title string) error {
	small := g.linked().Collapse(drawnMax)
	color := make([]string, len(small.Nodes)) // of those on cycles
	for _, cycle := range small.Cycles() {
		for _, n := range cycle {
			color[n] = "#9a6700"
			if small.isStuck(cycle) {
				color[n] = "#c62828"
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph waits {\n\tlabel=%s;\n\tlabelloc=t;\n\tnode [fontname=\"sans-serif\", fontsize=11, shape=box, style=rounded];\n\tedge [fontname=\"sans-serif\", fontsize=9];\n", quoted(title))
	for i := range small.Nodes {
		n := &small.Nodes[i]
		attributes := ""
		switch n.Kind {
		case Object:
			attributes = `, style=filled, fillcolor="#e8f0fe"`
		case Permit:
			attributes = `, style="rounded,dashed", color="#9a6700"`
		case Outside:
			attributes = `, shape=ellipse, style=dotted`
		}
		if color[i] != "" {
			attributes += fmt.Sprintf(`, color="%s", penwidth=2`, color[i])
		} else if n.Stuck {
			attributes += `, color="#c62828"`
		}
		lines := []string{n.title()}
		if n.Detail != "" {
			lines = append(lines, n.Detail)
		}
		if n.Stuck {
			lines = append(lines, n.stuckWords())
		}
		fmt.Fprintf(&b, "\tn%d [label=%s%s];\n", i, quoted(lines...), attributes)
	}
	for i := range small.Edges {
		e := &small.Edges[i]
		attributes := ""
		if e.Kind == HeldBy {
			attributes = `, color="#1f6feb"`
		}
		if e.Confidence < 1 {
			attributes += ", style=dashed"
		}
		fmt.Fprintf(&b, "\tn%d -> n%d [label=%s%s];\n", e.From, e.To, quoted(e.words(small.Nodes[e.From].count() > 1)), attributes)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted makes a quoted string of lines. Graphviz reads "\n" and other letters behind a backslash in a
// label, so that a backslash of the text is doubled.
func quoted(lines ...string) string {
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
