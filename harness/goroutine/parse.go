package goroutine

import (
	"cmp"
	"fmt"
	"io"
)

// Parse reads a text for its first dump. Others are read past: Stats is the
// account of the whole text, and Dumps in it their number. It returns what was
// read also when the underlying reader fails.
func Parse(text io.Reader) (*Dump, error) {
	c := collector{r: NewReader(text), only: true}
	err := c.run()
	d := &Dump{}
	if len(c.r.dumps) > 0 {
		d = c.r.Dumps()[0]
		c.fill(d, 0)
	}
	d.Stats = c.r.Stats()
	return d, err
}

// ParseAll reads a text that holds any number of dumps and returns them in the
// order of their first blocks, none for a text without any goroutine. IDs that
// come again begin a new dump, and so do a message of a new crash, the head of a
// profile, and another form. Text that belongs to no dump is in the account of
// the first.
func ParseAll(text io.Reader) ([]*Dump, error) {
	c := collector{r: NewReader(text)}
	err := c.run()
	dumps := c.r.Dumps()
	for i, d := range dumps {
		c.fill(d, i)
		d.Stats.Dumps = 1
	}
	for _, p := range c.r.parsers {
		if p.snapshot < 0 && len(dumps) > 0 {
			dumps[0].Stats.add(&p.dump.Stats)
		}
	}
	return dumps, err
}

// A collector keeps the blocks of each dump.
type collector struct {
	r     *Reader
	only  bool // the first dump only
	parts []part
}

// A part is the blocks of one dump.
type part struct {
	goroutines, others []Goroutine
	byID               map[int64]int // index in goroutines; nil until it is needed
}

func (c *collector) run() error {
	for {
		g, err := c.r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("goroutine: reading a dump, at byte %d: %w", c.r.Stats().Bytes, err)
		}
		if g.Snapshot > 0 && c.only {
			continue
		}
		for g.Snapshot >= len(c.parts) {
			c.parts = append(c.parts, part{})
		}
		c.parts[g.Snapshot].add(g)
	}
}

func (p *part) add(g *Goroutine) {
	if g.Kind != KindGoroutine {
		p.others = append(p.others, *g.Clone())
		return
	}
	if g.Again && p.merge(g) {
		return
	}
	if p.byID != nil {
		p.byID[g.ID] = len(p.goroutines)
	}
	p.goroutines = append(p.goroutines, *g.Clone())
}

// merge puts a goroutine printed again in the place of the first, if it says more.
func (p *part) merge(g *Goroutine) bool {
	if p.byID == nil {
		p.byID = make(map[int64]int, len(p.goroutines))
		for i := range p.goroutines {
			p.byID[p.goroutines[i].ID] = i
		}
	}
	i, ok := p.byID[g.ID]
	if ok && len(g.Frames) > len(p.goroutines[i].Frames) {
		old := p.goroutines[i].State
		p.goroutines[i] = *g.Clone()
		p.goroutines[i].Again = false
		p.goroutines[i].State = cmp.Or(g.State, old) // a debugger's backtrace has none
	}
	return ok
}

func (c *collector) fill(d *Dump, i int) {
	if i < len(c.parts) {
		d.Goroutines, d.Others = c.parts[i].goroutines, c.parts[i].others
	}
}
