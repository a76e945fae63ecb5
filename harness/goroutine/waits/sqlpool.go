package waits

import "fmt"

// openSQL says how many transactions and queries keep a connection: database/sql
// starts a goroutine for each. nested says that all of them were opened by those
// that wait for one more.
func (z *analyzer) openSQL(p *pool) (because string, nested bool) {
	waiting := map[int64]bool{}
	for _, w := range p.waiters {
		waiting[z.facts[w].id] = true
	}
	var tx, rows, own int
	for i := range z.facts {
		g := z.b.groups[z.facts[i].group]
		switch {
		case g.has("database/sql.(*Tx).awaitDone"):
			tx += int(z.facts[i].count)
		case g.has("database/sql.(*Rows).awaitDone"):
			rows += int(z.facts[i].count)
		default:
			continue
		}
		if parent := z.facts[i].parent; parent != 0 && waiting[parent] {
			own += int(z.facts[i].count)
		}
	}
	because = fmt.Sprintf("%s and %s are open, and each keeps a connection", plural(tx, "transaction"), plural(rows, "query"))
	if own > 0 {
		because += fmt.Sprintf("; %d of them were opened by those that wait for another connection", own)
	}
	return because, own > 0 && own == tx+rows
}

// has reports whether the function is on the stack.
func (g *group) has(name string) bool {
	for i := range g.frames {
		if g.frames[i].Func == name {
			return true
		}
	}
	return false
}
