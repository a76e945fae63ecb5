package waitgraph

import "slices"

// Measures of the picture, in pixels.
const (
	cardWidth  = 236
	cardGap    = 28 // between cards of a row
	laneWidth  = 14 // of an edge that passes between cards
	laneGap    = 6  // beside it
	rowGap     = 64 // between rows
	margin     = 20
	shelfWidth = 1240 // parts that are not connected stand beside each other up to this width
	rowMax     = 5    // cards of a row
)

// point is a place in the picture, in pixels from its left upper corner.
type point struct{ x, y int }

// box is where a card stands.
type box struct{ x, y, w, h int }

// layout is where everything stands. Edges of which both ends are the same have no line.
type layout struct {
	boxes         []box     // of each node
	lines         [][]point // of each edge, from its From to its To
	width, height int
}

// item is a card, or a place where an edge passes a row.
type item struct {
	node int // -1: an edge passes
	row  int
	up   []int // items of the row above that it is connected to
	down []int
	x    int // of its centre
	w    int
}

// part is a connected part of a graph while it is laid out.
type part struct {
	g       *Graph
	nodes   []int
	heights []int // of each node of the graph
	row     []int // of each node of the graph
	items   []item
	rows    [][]int // items of each row, from the left
	first   []int   // item of each node of the graph
	passes  [][]int // items that each edge of the graph passes, from its upper end to its lower one
	upper   []bool  // of each edge: its From is the upper end
}

// lay lays out a graph whose cards have the given heights. It is the layered way of drawing: whoever
// waits stands above what it waits for, rows are sorted so that few edges cross, and then everything
// moves as close as it can to what it is connected with. All of it is in whole numbers, so that every
// machine draws the same.
func lay(g *Graph, heights []int) layout {
	l := layout{boxes: make([]box, len(g.Nodes)), lines: make([][]point, len(g.Edges))}
	x, y, shelf := margin, margin, 0
	for _, nodes := range g.parts() {
		p := part{
			g: g, nodes: nodes, heights: heights, row: make([]int, len(g.Nodes)), first: make([]int, len(g.Nodes)),
			passes: make([][]int, len(g.Edges)), upper: make([]bool, len(g.Edges)),
		}
		p.rank()
		p.split()
		p.fill()
		p.sort()
		p.place()
		w, h := p.extent()
		if x > margin && x+w > shelfWidth+margin {
			x, y, shelf = margin, y+shelf+rowGap/2, 0
		}
		p.draw(&l, x, y)
		x += w + 2*cardGap
		shelf = max(shelf, h)
		l.width = max(l.width, x-2*cardGap+margin)
		l.height = max(l.height, y+shelf+margin)
	}
	return l
}

// parts returns the nodes of each connected part: those with a cycle first, then the largest.
func (g *Graph) parts() [][]int {
	a := g.adjacency()
	of := make([]int, len(g.Nodes)) // number of the part, from 1
	var parts [][]int
	for n := range g.Nodes {
		if of[n] > 0 {
			continue
		}
		nodes := []int{n}
		of[n] = len(parts) + 1
		for i := 0; i < len(nodes); i++ {
			m := nodes[i]
			for _, e := range slices.Concat(a.out[m], a.in[m]) {
				for _, next := range []int{g.Edges[e].From, g.Edges[e].To} {
					if of[next] == 0 {
						of[next] = of[n]
						nodes = append(nodes, next)
					}
				}
			}
		}
		slices.Sort(nodes)
		parts = append(parts, nodes)
	}
	weight := make([]int, len(parts))
	for i, nodes := range parts {
		for _, n := range nodes {
			weight[i] += g.Nodes[n].count()
		}
	}
	for _, cycle := range g.Cycles() {
		weight[of[cycle[0]]-1] += 1 << 40
	}
	slices.SortStableFunc(parts, func(a, b []int) int { return weight[of[b[0]]-1] - weight[of[a[0]]-1] })
	return parts
}

// rank gives each node its row: below all that need it, but for edges that close a cycle.
func (p *part) rank() {
	a := p.g.adjacency()
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(p.g.Nodes))
	var order []int // each node after all that it needs
	var visit func(n int)
	visit = func(n int) { // as deep as the graph that people can read
		state[n] = open
		for _, e := range a.out[n] {
			to := p.g.Edges[e].To
			p.upper[e] = state[to] != open
			if state[to] == unseen {
				visit(to)
			}
		}
		state[n] = done
		order = append(order, n)
	}
	for _, ends := range []bool{false, true} { // those that nobody needs come first
		for _, n := range p.nodes {
			if state[n] == unseen && (ends || len(a.in[n]) == 0) {
				visit(n)
			}
		}
	}
	slices.Reverse(order)
	for range order { // edges that close a cycle point up, so that the order holds only for the others
		changed := false
		for _, n := range order {
			for _, e := range a.out[n] {
				to := p.g.Edges[e].To
				upper, lower := n, to
				if !p.upper[e] {
					upper, lower = to, n
				}
				if upper != lower && p.row[lower] <= p.row[upper] {
					p.row[lower], changed = p.row[upper]+1, true
				}
			}
		}
		if !changed {
			break
		}
	}
	for _, n := range order { // whom nobody waits for stands right above what it needs
		if len(a.in[n]) > 0 || len(a.out[n]) == 0 {
			continue
		}
		lowest := len(p.g.Nodes)
		for _, e := range a.out[n] {
			lowest = min(lowest, p.row[p.g.Edges[e].To])
		}
		p.row[n] = max(p.row[n], lowest-1)
	}
}

// split makes several rows of one that has too many cards.
func (p *part) split() {
	var rows [][]int
	for _, n := range p.nodes {
		for len(rows) <= p.row[n] {
			rows = append(rows, nil)
		}
		rows[p.row[n]] = append(rows[p.row[n]], n)
	}
	next := 0
	for _, nodes := range rows {
		pieces := (len(nodes) + rowMax - 1) / rowMax
		for i, n := range nodes {
			p.row[n] = next + i*pieces/len(nodes)
		}
		next += pieces
	}
	p.rows = make([][]int, next)
}

// fill makes the items of the rows.
func (p *part) fill() {
	for _, n := range p.nodes {
		p.first[n] = p.item(n, p.row[n], cardWidth)
	}
	for i := range p.g.Edges {
		e := &p.g.Edges[i]
		upper, lower := e.From, e.To
		if !p.upper[i] {
			upper, lower = lower, upper
		}
		if upper == lower || !slices.Contains(p.nodes, upper) {
			continue
		}
		at := p.first[upper]
		p.passes[i] = []int{at}
		for row := p.row[upper] + 1; row < p.row[lower]; row++ {
			at = p.join(at, p.item(-1, row, laneWidth))
			p.passes[i] = append(p.passes[i], at)
		}
		p.passes[i] = append(p.passes[i], p.join(at, p.first[lower]))
	}
}

func (p *part) item(node, row, width int) int {
	p.items = append(p.items, item{node: node, row: row, w: width})
	p.rows[row] = append(p.rows[row], len(p.items)-1)
	return len(p.items) - 1
}

func (p *part) join(above, below int) int {
	p.items[above].down = append(p.items[above].down, below)
	p.items[below].up = append(p.items[below].up, above)
	return below
}
