package waitgraph

import (
	"slices"
	"unicode/utf8"
)

// loopSize is how far the line of a node that needs itself stands out, in pixels.
const loopSize = 22

// line returns the way of an edge. A node that needs itself has a loop at its right side.
func (d *drawing) line(i int) []point {
	if line := d.l.lines[i]; line != nil {
		return line
	}
	b := d.l.boxes[d.g.Edges[i].From]
	right, middle := b.x+b.w, b.y+b.h/2
	return []point{{right, middle - 8}, {right + loopSize, middle - 8}, {right + loopSize, middle + 8}, {right, middle + 8}}
}

// edge draws an edge as a curve that leaves and enters cards upright, with its head drawn by hand: what
// a marker looks like differs between programs that show pictures.
func (d *drawing) edge(i int) {
	e, line := &d.g.Edges[i], d.line(i)
	class := "wg-edge wg-" + string(e.Kind)
	if e.Confidence < 1 {
		class += " wg-inferred"
	}
	class += d.cycleEdge[i]
	loop := e.From == e.To
	end := line[len(line)-1]
	dy := 9 // from the head's base to its tip
	if end.y < line[len(line)-2].y {
		dy = -9
	}
	d.printf(`<g class="%s"><title>%s</title><path d="M%d %d`, class, escape(d.sentence(i)), line[0].x, line[0].y)
	stop := point{end.x, end.y - dy}
	if loop {
		stop = end
	}
	for k := 1; k < len(line); k++ {
		from, to := line[k-1], line[k]
		if k == len(line)-1 {
			to = stop
		}
		if from.x == to.x || loop {
			d.printf(" L%d %d", to.x, to.y)
			continue
		}
		middle := (from.y + to.y) / 2
		d.printf(" C%d %d %d %d %d %d", from.x, middle, to.x, middle, to.x, to.y)
	}
	d.printf(`"/>`)
	if loop {
		d.printf(`<polygon points="%d,%d %d,%d %d,%d"/>`, end.x, end.y, end.x+9, end.y-5, end.x+9, end.y+5)
	} else {
		d.printf(`<polygon points="%d,%d %d,%d %d,%d"/>`, end.x, end.y, end.x-5, end.y-dy, end.x+5, end.y-dy)
	}
	d.printf("</g>\n")
}

// sentence says what the edge means.
func (d *drawing) sentence(i int) string {
	e := &d.g.Edges[i]
	words := " waits for "
	if e.Kind == HeldBy {
		words = " is held by "
	}
	s := d.g.Nodes[e.From].title() + words + d.g.Nodes[e.To].title()
	if more := e.words(false); more != "" {
		s += ": " + more
	}
	if e.Why != "" {
		s += "; " + e.Why
	}
	return clean(s)
}

// edgeWords writes beside an edge what is known about it: at the end where fewer edges meet, or wherever
// nothing else stands.
func (d *drawing) edgeWords(i int) {
	e, line := &d.g.Edges[i], d.line(i)
	words := wrapOne(e.words(d.g.Nodes[e.From].count() > 1 || d.g.Nodes[e.To].count() > 1), 26)
	if words == "" {
		return
	}
	last := len(line) - 1
	starts, ends := beside(line[0], line[1]), beside(line[last], line[last-1])
	if d.meet(e.To) < d.meet(e.From) {
		starts, ends = ends, starts
	}
	width := utf8.RuneCountInString(words) * 6
	var best box
	anchor := ""
	for _, at := range []point{starts, ends} {
		for _, side := range []string{"start", "end"} {
			b := box{at.x + 6, at.y - 9, width, 12}
			if side == "end" {
				b.x = at.x - 6 - width
			}
			if free := b.x >= 0 && b.x+b.w <= max(pictureMin, d.l.width) && !d.taken(b); free || anchor == "" {
				best, anchor = b, side
				if free {
					d.words = append(d.words, b)
					d.writeWords(best, anchor, words)
					return
				}
			}
		}
	}
	d.words = append(d.words, best)
	d.writeWords(best, anchor, words)
}

func (d *drawing) writeWords(b box, anchor, words string) {
	x := b.x
	if anchor == "end" {
		x += b.w
	}
	d.printf(`<text class="wg-words" text-anchor="%s" x="%d" y="%d">%s</text>`+"\n", anchor, x, b.y+9, escape(words))
}

// beside is where words stand that belong to the end of a line, given the next point of it.
func beside(end, next point) point {
	switch {
	case next.y > end.y:
		return point{end.x, end.y + rowGap/3}
	case next.y < end.y:
		return point{end.x, end.y - rowGap/3 + 8}
	}
	return point{next.x, end.y + 12} // a loop
}

// taken says whether other words or a card stand there.
func (d *drawing) taken(b box) bool {
	return slices.ContainsFunc(d.words, b.meets) || slices.ContainsFunc(d.l.boxes, b.meets)
}

func (b box) meets(c box) bool {
	return b.x < c.x+c.w && c.x < b.x+b.w && b.y < c.y+c.h && c.y < b.y+b.h
}

// meet counts the edges of a node.
func (d *drawing) meet(n int) int {
	count := 0
	for i := range d.g.Edges {
		if d.g.Edges[i].From == n || d.g.Edges[i].To == n {
			count++
		}
	}
	return count
}

// legend explains lines and colours, as far as they occur.
func (d *drawing) legend(width int) []string {
	if len(d.g.Edges) == 0 {
		return nil
	}
	text := "An arrow leads from who waits to what it waits for; a blue one from what is held to who holds it."
	for i := range d.g.Edges {
		if d.g.Edges[i].Confidence < 1 {
			text += " Dashed: inferred."
			break
		}
	}
	if slices.Contains(d.onCycle, noWayOut) {
		text += " Red: a cycle."
	}
	if slices.Contains(d.onCycle, wayOut) {
		text += " Amber: a cycle that somebody may leave."
	}
	for i := range d.g.Nodes {
		if d.g.Nodes[i].Stuck {
			text += " Red border: nobody it waits for can go on."
			break
		}
	}
	return wrap(text, (width-2*margin)*10/66, 6)
}
