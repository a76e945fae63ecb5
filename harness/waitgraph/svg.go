package waitgraph

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// drawnMax is about how many cards a picture has at most.
const drawnMax = 40

// lineMin is how many waiters make a convoy worth a sentence.
const lineMin = 3

// Measures of text, in pixels and in letters.
const (
	padding      = 10
	titleLine    = 18
	detailLine   = 16
	titleLetters = 26
	detailWide   = 32
	headHeight   = 56
	headLine     = 20
	legendLine   = 15
	pictureMin   = 350 // width
)

// WriteSVG draws the graph as a picture that stands for itself: it loads nothing, uses the fonts there
// are, follows the reader's choice of light or dark, and is the same for the same graph and title on
// every machine. Like nodes are drawn as one (see [Graph.Collapse]); cycles are drawn in red, in
// amber if somebody in them may go on.
func (g *Graph) WriteSVG(w io.Writer, title string) error {
	small := g.linked().Collapse(drawnMax)
	d := drawing{g: small, onCycle: make([]string, len(small.Nodes)), cycleEdge: make([]string, len(small.Edges))}
	for _, cycle := range small.Cycles() {
		class := wayOut
		if small.isStuck(cycle) {
			class = noWayOut
		}
		for i, n := range cycle {
			d.onCycle[n] = class
			for e := range small.Edges {
				if small.Edges[e].From == n && small.Edges[e].To == cycle[(i+1)%len(cycle)] {
					d.cycleEdge[e] = class
				}
			}
		}
	}
	d.write(title, g)
	_, err := io.WriteString(w, d.String())
	return err
}

// Classes of cycles in the style sheet: of which nobody can go on, and of which somebody may.
const (
	noWayOut = " wg-cycle"
	wayOut   = " wg-cycle wg-maybe"
)

// isStuck says whether all of the nodes are.
func (g *Graph) isStuck(nodes []int) bool {
	return !slices.ContainsFunc(nodes, func(n int) bool { return !g.Nodes[n].Stuck })
}

type drawing struct {
	strings.Builder
	g         *Graph
	l         layout
	onCycle   []string // class of the cycle, empty if there is none
	cycleEdge []string
	words     []box // where words stand beside edges
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *drawing) write(title string, whole *Graph) {
	heights := make([]int, len(d.g.Nodes))
	for i := range d.g.Nodes {
		heights[i] = cardHeight(&d.g.Nodes[i])
	}
	d.l = lay(d.g, heights)
	width := max(pictureMin, d.l.width)
	legend := d.legend(width)
	titles := wrap(title, (width-2*margin)/9, 2)
	first := 26 + headLine*max(0, len(titles)-1) // of the title's last line, from the top
	lines := append(wrap(whole.summary(), (width-2*margin)/6, 2), d.convoys(whole, width)...)
	head := headHeight + first - 26 + legendLine*max(0, len(lines)-1)
	height := head + d.l.height + legendLine*len(legend) + margin
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="wg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", width, height, width, height)
	d.printf("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", escape(title), escape(whole.summary()), style)
	d.printf(`<rect class="wg-page" width="%d" height="%d"/>`+"\n", width, height)
	for i, line := range titles {
		d.printf(`<text class="wg-head" x="%d" y="%d">%s</text>`+"\n", margin, 26+headLine*i, escape(line))
	}
	for i, line := range lines {
		d.printf(`<text class="wg-sub" x="%d" y="%d">%s</text>`+"\n", margin, first+20+legendLine*i, escape(line))
	}
	d.printf("<g transform=\"translate(0 %d)\">\n", head)
	for i := range d.g.Edges {
		d.edge(i)
	}
	for i := range d.g.Nodes {
		d.card(i)
	}
	for i := range d.g.Edges {
		d.edgeWords(i)
	}
	d.printf("</g>\n")
	for i, line := range legend {
		d.printf(`<text class="wg-sub" x="%d" y="%d">%s</text>`+"\n", margin, head+d.l.height+legendLine*i+8, escape(line))
	}
	d.printf("</svg>\n")
}

// convoys are lines of text about the largest convoy.
func (d *drawing) convoys(whole *Graph, width int) []string {
	all := whole.Convoys(lineMin)
	if len(all) == 0 {
		return nil
	}
	return wrap("Longest line: "+whole.Sentence(&all[0])+".", (width-2*margin)*10/66, 3)
}

// linked is the graph without nodes that neither need nor are needed: there is nothing to see of them.
func (g *Graph) linked() *Graph {
	to := make([]int, len(g.Nodes)) // index in the smaller graph, from 1
	for i := range g.Edges {
		to[g.Edges[i].From], to[g.Edges[i].To] = 1, 1
	}
	small := &Graph{Edges: slices.Clone(g.Edges)}
	for n := range g.Nodes {
		if to[n] > 0 || g.Nodes[n].Stuck {
			small.Nodes = append(small.Nodes, g.Nodes[n])
			to[n] = len(small.Nodes)
		}
	}
	for i := range small.Edges {
		e := &small.Edges[i]
		e.From, e.To = to[e.From]-1, to[e.To]-1
	}
	return small
}

// stuckWords says what Stuck means for the node.
func (n *Node) stuckWords() string {
	if n.Kind == Permit {
		return "nobody gives it back"
	}
	return "cannot go on"
}

// summary counts what is in the graph.
func (g *Graph) summary() string {
	if len(g.Edges) == 0 {
		return "Nobody waits for anybody."
	}
	var parts []string
	for _, kind := range []NodeKind{Agent, Process, Goroutine, Object, Permit, Outside} {
		count := 0
		for i := range g.Nodes {
			if g.Nodes[i].Kind == kind {
				count += g.Nodes[i].count()
			}
		}
		if count > 0 {
			parts = append(parts, plural(count, kind))
		}
	}
	switch cycles := len(g.Cycles()); cycles {
	case 0:
		parts = append(parts, "no cycle")
	case 1:
		parts = append(parts, "1 cycle")
	default:
		parts = append(parts, grouped(cycles)+" cycles")
	}
	return strings.Join(parts, ", ")
}

func plural(count int, kind NodeKind) string {
	word := string(kind)
	switch {
	case kind == Outside:
		return grouped(count) + " outside the program"
	case kind == Permit && count > 1:
		return grouped(count) + " permits without a holder"
	case kind == Permit:
		return "1 permit without a holder"
	case count > 1 && kind == Process:
		word = "processes"
	case count > 1:
		word += "s"
	}
	return grouped(count) + " " + word
}

func wrapOne(s string, width int) string {
	if lines := wrap(s, width, 1); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

func cardHeight(n *Node) int {
	h := 2*padding + titleLine*len(wrap(n.title(), titleLetters, 2)) + detailLine*len(wrap(n.Detail, detailWide, 3))
	if n.Stuck {
		h += detailLine
	}
	return h
}

// card draws a node.
func (d *drawing) card(i int) {
	n, b := &d.g.Nodes[i], d.l.boxes[i]
	class := "wg-card wg-" + string(n.Kind)
	if n.Stuck {
		class += " wg-stuck"
	}
	class += d.onCycle[i]
	d.printf(`<g class="%s"><title>%s</title>`, class, escape(strings.TrimSpace(n.title()+"\n"+clean(n.Detail))))
	if n.count() > 1 { // a second card behind
		d.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, b.x+5, b.y+5, b.w, b.h, round(n.Kind))
	}
	d.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, b.x, b.y, b.w, b.h, round(n.Kind))
	y := b.y + padding
	for _, line := range wrap(n.title(), titleLetters, 2) {
		y += titleLine
		d.printf(`<text class="wg-title" x="%d" y="%d">%s</text>`, b.x+padding+2, y-4, escape(line))
	}
	for _, line := range wrap(n.Detail, detailWide, 3) {
		y += detailLine
		d.printf(`<text class="wg-detail" x="%d" y="%d">%s</text>`, b.x+padding+2, y-4, escape(line))
	}
	if n.Stuck {
		d.printf(`<text class="wg-tag" x="%d" y="%d">%s</text>`, b.x+padding+2, y+detailLine-4, n.stuckWords())
	}
	d.printf("</g>\n")
}

func round(k NodeKind) int {
	switch k {
	case Object:
		return 2
	case Outside:
		return 18
	}
	return 9
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
