package sim

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
)

// PipeBytes is how much a pipe of an operating system holds that nobody reads: 64 KiB, as on Linux.
const PipeBytes = 64 << 10

// pipeBlock is how much is written at once: what Linux writes in one piece, and one page of the pipe.
const pipeBlock = 4 << 10

// Pipe carries output from somebody who writes to somebody who reads, and holds [PipeBytes] of it: who
// writes into a full pipe waits until somebody reads. In a virtual world it counts bytes. On the wall it
// is a pipe of the operating system, and a writer that waits is blocked in write(2), as its goroutine's
// stack shows. It is safe for concurrent use; its methods must be called without the monitor held. Make
// one with [NewPipe].
type Pipe struct {
	w       World
	name    string
	label   string // what a process that writes says it waits for
	held    int    // bytes written and not read
	writers waitList

	wall   *Wall // nil in a virtual world, as the files are
	in     *os.File
	out    *os.File
	closed bool
}

// NewPipe returns an empty pipe, to be closed in the end. If name is not empty, the world's Objects shows
// it for good. The error is the operating system's: too many files are open. A virtual world gives none.
func NewPipe(w World, name string) (*Pipe, error) {
	p := &Pipe{w: w, name: name, label: "room in pipe " + name}
	if wall, ok := w.(*Wall); ok {
		out, in, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("sim: NewPipe %q: %w", name, err)
		}
		p.wall, p.in, p.out = wall, in, out
	}
	if name != "" {
		w.register(p)
	}
	return p, nil
}

// Write writes n bytes, in blocks of 4 KiB, and waits while there is no room. The party's name and
// purpose are shown to whoever asks for the state of the pipe, as that of who waits; an empty name stands
// for the calling process. If ctx is cancelled, what had been written by then stays.
func (p *Pipe) Write(ctx context.Context, n int, who Party) error {
	for n > 0 {
		block := min(n, pipeBlock)
		write := p.count
		if p.wall != nil {
			write = p.writeFile
		}
		if err := write(ctx, block, who); err != nil {
			return err
		}
		n -= block
	}
	return Cause(ctx)
}

// count is a write in a virtual world.
func (p *Pipe) count(ctx context.Context, n int, who Party) error {
	p.w.Lock()
	defer p.w.Unlock()
	for p.held+n > PipeBytes {
		if err := p.writers.waitAs(ctx, p.w, p.label, who); err != nil {
			return err
		}
	}
	p.held += n
	return nil
}

// writeFile is a write on the wall. The writer is listed as waiting for as long as its system call takes,
// since nobody can tell before whether it will block.
func (p *Pipe) writeFile(ctx context.Context, n int, who Party) error {
	if err := Cause(ctx); err != nil {
		return err
	}
	p.w.Lock()
	wt := p.w.waiterFor(ctx)
	wt.who = who
	wt.who.Since = p.w.Now()
	if wt.proc != nil {
		wt.proc.waitsFor, wt.proc.since = p.label, wt.who.Since
	}
	p.writers.push(wt)
	p.w.Unlock()

	over := make(chan struct{})
	go p.interrupt(ctx, over)
	_, err := p.in.Write(make([]byte, n))
	close(over)

	p.w.Lock()
	defer p.w.Unlock()
	p.writers.remove(wt)
	if wt.proc != nil {
		wt.proc.waitsFor = ""
	}
	if err == nil {
		p.held += n
		return nil
	}
	if p.wall.isStopped() || ctx.Err() != nil {
		return causeOrStopped(ctx)
	}
	return fmt.Errorf("sim: pipe %q: %w", p.name, err)
}

// interrupt ends a write that is not over when ctx or the world ends, by closing the end it writes to.
func (p *Pipe) interrupt(ctx context.Context, over <-chan struct{}) {
	pprof.SetGoroutineLabels(context.Background()) // a dump must not take it for the agent's second goroutine
	select {
	case <-over:
	case <-ctx.Done():
		p.Close()
	case <-p.wall.stopped:
		p.Close()
	}
}

// Drain reads all that the pipe holds, and lets those go on who wait for room.
func (p *Pipe) Drain() error {
	p.w.Lock()
	n := p.held
	p.held = 0
	if p.wall == nil {
		p.writers.wakeAll(p.w)
	}
	p.w.Unlock()
	if p.wall == nil || n == 0 {
		return nil
	}
	// All of it has been written, so that no read waits.
	for buf := make([]byte, pipeBlock); n > 0; {
		read, err := p.out.Read(buf[:min(n, len(buf))])
		if err != nil {
			return fmt.Errorf("sim: pipe %q: %w", p.name, err)
		}
		n -= read
	}
	return nil
}

// Close gives the operating system its pipe back. Whoever writes gets an error. Closing twice does nothing.
func (p *Pipe) Close() {
	p.w.Lock()
	first := !p.closed
	p.closed = true
	p.w.Unlock()
	if p.wall != nil && first {
		_ = p.in.Close() // what is in it is lost in any case
		_ = p.out.Close()
	}
}

// Retire takes the pipe off the world's Objects, as [Latch.Retire] does for latches.
func (p *Pipe) Retire() { p.w.retire(p) }

func (p *Pipe) state() ObjectState {
	return ObjectState{Kind: "pipe", Name: p.name, Capacity: PipeBytes, InUse: p.held, Holders: []Party{}, Waiters: p.writers.parties()}
}
