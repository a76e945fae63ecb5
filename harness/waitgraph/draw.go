package waitgraph

import (
	"cmp"
	"slices"
)

// extent returns the size of the part, and moves it so that it begins at 0.
func (p *part) extent() (width, height int) {
	left, right := 1<<30, -1<<30
	for i := range p.items {
		left = min(left, p.items[i].x-p.items[i].w/2)
		right = max(right, p.items[i].x+p.items[i].w/2)
	}
	for i := range p.items {
		p.items[i].x -= left
	}
	for row := range p.rows {
		height += p.rowHeight(row)
	}
	return right - left, height + (len(p.rows)-1)*rowGap
}

func (p *part) rowHeight(row int) int {
	h := 0
	for _, i := range p.rows[row] {
		if n := p.items[i].node; n >= 0 {
			h = max(h, p.heights[n])
		}
	}
	return h
}

// draw puts the part into the layout, with its left upper corner at (x, y).
func (p *part) draw(l *layout, x, y int) {
	tops, bottoms := make([]int, len(p.rows)), make([]int, len(p.rows))
	for row := range p.rows {
		tops[row], bottoms[row] = y, y+p.rowHeight(row)
		y = bottoms[row] + rowGap
	}
	for _, n := range p.nodes {
		it := &p.items[p.first[n]]
		l.boxes[n] = box{x + it.x - it.w/2, tops[it.row], it.w, p.heights[n]}
	}
	for i, passes := range p.passes {
		if passes == nil {
			continue
		}
		line := make([]point, 0, 2*len(passes))
		last := len(passes) - 1
		for k, at := range passes {
			it := &p.items[at]
			switch {
			case k == 0:
				line = append(line, point{x + p.port(i, at, true), tops[it.row] + p.heights[it.node]})
			case k == last:
				line = append(line, point{x + p.port(i, at, false), tops[it.row]})
			default:
				line = append(line, point{x + it.x, tops[it.row]}, point{x + it.x, bottoms[it.row]})
			}
		}
		if !p.upper[i] {
			slices.Reverse(line)
		}
		l.lines[i] = line
	}
}

// port returns where the edge meets the lower, or the upper, side of the card: the edges of a side are
// spread over it in the order of where they come from.
func (p *part) port(edge, at int, lower bool) int {
	type end struct{ edge, far int }
	var ends []end
	for i, passes := range p.passes {
		switch last := len(passes) - 1; {
		case passes == nil:
		case lower && passes[0] == at:
			ends = append(ends, end{i, p.items[passes[1]].x})
		case !lower && passes[last] == at:
			ends = append(ends, end{i, p.items[passes[last-1]].x})
		}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.edge, b.edge)) })
	k := slices.IndexFunc(ends, func(e end) bool { return e.edge == edge })
	it := &p.items[at]
	return it.x - it.w/2 + it.w*(k+1)/(len(ends)+1)
}
