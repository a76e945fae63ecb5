package main

import (
	"fmt"
	"sync/atomic"

	"example.com/wedge/repro/load"
)

// loadProgress is how far a load has come. The run writes it, the goroutine that shows it reads it.
type loadProgress struct {
	row, rows atomic.Int64
	latest    atomic.Pointer[load.Progress]
}

func (p *loadProgress) begin(row, rows int) {
	p.rows.Store(int64(rows))
	p.row.Store(int64(row))
	p.latest.Store(&load.Progress{})
}

func (p *loadProgress) set(now load.Progress) { p.latest.Store(&now) }

func (p *loadProgress) line() string {
	now := p.latest.Load()
	if now == nil {
		return "not begun"
	}
	row := ""
	if n := p.rows.Load(); n > 1 {
		row = fmt.Sprintf("row %d/%d  ", p.row.Load(), n)
	}
	return fmt.Sprintf("%st=%.0f s  sent %d  answered %d  failed %d  out %d", row, now.At.Seconds(), now.Sent, now.OK, now.Failed, now.Out)
}
