// Package ora has a dot in the last element of its import path.
package ora

// A Pool hands out nothing.
type Pool struct{ C chan int }

// Get waits for good.
func (p *Pool) Get() int { return <-p.C }
