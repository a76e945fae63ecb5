package waitgraph

import (
	"cmp"
	"slices"
)

// sweeps is how often the rows are sorted, and moved, downwards and upwards.
const sweeps = 12

// sort sorts each row by the middle of what its items are connected with in the row before, down and
// up in turn, and keeps the order that has the fewest crossings.
func (p *part) sort() {
	best, fewest := p.orders(), p.crossings()
	for sweep := 0; sweep < sweeps && fewest > 0; sweep++ {
		p.sweep(sweep%2 == 0, p.arrange)
		if n := p.crossings(); n < fewest {
			best, fewest = p.orders(), n
		}
	}
	p.rows = best
}

func (p *part) orders() [][]int {
	rows := make([][]int, len(p.rows))
	for i := range rows {
		rows[i] = slices.Clone(p.rows[i])
	}
	return rows
}

// sweep calls do for each row but the first in the direction.
func (p *part) sweep(down bool, do func(row int, down bool)) {
	for i := 1; i < len(p.rows); i++ {
		row := i
		if !down {
			row = len(p.rows) - 1 - i
		}
		do(row, down)
	}
}

// near are the items that the sweep has passed already.
func (p *part) near(i int, down bool) []int {
	if down {
		return p.items[i].up
	}
	return p.items[i].down
}

func (p *part) arrange(row int, down bool) {
	place := p.places(row, down)
	want := make([]int, len(p.items))
	for at, i := range p.rows[row] {
		want[i] = at * 1000
		if near := p.near(i, down); len(near) > 0 {
			sum := 0
			for _, n := range near {
				sum += place[n]
			}
			want[i] = sum * 1000 / len(near)
		}
	}
	slices.SortStableFunc(p.rows[row], func(a, b int) int { return cmp.Compare(want[a], want[b]) })
}

// places numbers the items of the row that the sweep comes from.
func (p *part) places(row int, down bool) []int {
	before := row + 1
	if down {
		before = row - 1
	}
	place := make([]int, len(p.items))
	for at, i := range p.rows[before] {
		place[i] = at
	}
	return place
}

// crossings counts the pairs of edges that cross between neighbouring rows.
func (p *part) crossings() int {
	count := 0
	for row := 1; row < len(p.rows); row++ {
		place := p.places(row, true)
		var ends []int // upper ends of the edges seen so far
		for _, i := range p.rows[row] {
			for _, u := range p.items[i].up {
				for _, e := range ends {
					if e > place[u] {
						count++
					}
				}
			}
			for _, u := range p.items[i].up {
				ends = append(ends, place[u])
			}
		}
	}
	return count
}

// place finds the centres: each row is moved as close as can be to what it is connected with.
func (p *part) place() {
	for _, row := range p.rows {
		x := 0
		for k, i := range row {
			x += p.gap(row, k)
			p.items[i].x = x + p.items[i].w/2
			x += p.items[i].w
		}
	}
	for sweep := range sweeps {
		p.sweep(sweep%2 == 0, p.shift)
	}
	p.sweep(true, p.shift)
}

// gap is what lies before the k-th item of a row: between cards more than beside an edge that passes.
func (p *part) gap(row []int, k int) int {
	switch {
	case k == 0:
		return 0
	case p.items[row[k]].node >= 0 && p.items[row[k-1]].node >= 0:
		return cardGap
	}
	return laneGap
}

// block is a run of items of a row that touch: the first one's left edge wants to be at sum/weight.
type block struct{ sum, weight, first, count int }

func (b *block) at() int { return floorDiv(b.sum, b.weight) }

// shift solves for a row: centres as close as can be to what each item wants, in the least squares, with
// the order and the gaps kept. Items that would overlap are pooled into blocks that move as one.
func (p *part) shift(row int, down bool) {
	items := p.rows[row]
	offset := make([]int, len(items)) // of each centre from the left end of the row, if all touch
	blocks := make([]block, 0, len(items))
	x := 0
	for k, i := range items {
		it := &p.items[i]
		x += p.gap(items, k)
		offset[k] = x + it.w/2
		x += it.w
		want, weight := it.x, 1
		if near := p.near(i, down); len(near) > 0 {
			want, weight = 0, 4
			for _, n := range near {
				want += p.items[n].x
			}
			want = floorDiv(want, len(near))
			if it.node < 0 {
				weight = 16 // an edge that bends is hard to follow
			}
		}
		blocks = append(blocks, block{(want - offset[k]) * weight, weight, k, 1})
		for len(blocks) > 1 && blocks[len(blocks)-2].at() > blocks[len(blocks)-1].at() {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			to := &blocks[len(blocks)-1]
			to.sum, to.weight, to.count = to.sum+last.sum, to.weight+last.weight, to.count+last.count
		}
	}
	for _, b := range blocks {
		for k := b.first; k < b.first+b.count; k++ {
			p.items[items[k]].x = b.at() + offset[k]
		}
	}
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}
