package guest

import (
	"io"
	"os"
	"sync"
	"time"
)

// pump carries what a program writes to where it belongs, and keeps what comes from a certain moment on.
type pump struct {
	from  *os.File
	ended chan struct{}

	mu    sync.Mutex
	to    io.Writer
	kept  []byte // from keep on
	keeps bool
}

// keptBytesMax bounds what a pump keeps: a dump of 100,000 goroutines has some 64 MiB.
const keptBytesMax = 128 << 20

// newPump returns a pump and the end that the program is to be given. The caller closes that once the
// program has it.
func newPump(to io.Writer) (*pump, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	p := &pump{from: r, to: to, ended: make(chan struct{})}
	go p.run()
	return p, w, nil
}

func (p *pump) run() {
	defer close(p.ended)
	buffer := make([]byte, 64<<10)
	for {
		n, err := p.from.Read(buffer)
		if n > 0 {
			p.pass(buffer[:n])
		}
		if err != nil {
			return // its end, or the pump's: see end
		}
	}
}

func (p *pump) pass(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.keeps {
		_, _ = p.to.Write(b) // who reads may have gone; the program must not be held up by that
		return
	}
	if room := keptBytesMax - len(p.kept); len(b) > room {
		b = b[:room]
	}
	p.kept = append(p.kept, b...)
}

// keep has what comes from now on kept instead of passed on.
func (p *pump) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keeps = true
}

// text returns what was kept.
func (p *pump) text() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept
}

// end waits for the other end to be closed by all who have it, but not for long: a program that has
// left the process group may keep it for ever. Nor does it wait for long for a reader who takes nothing.
func (p *pump) end(grace time.Duration) {
	if p == nil {
		return
	}
	_ = p.from.SetReadDeadline(time.Now().Add(grace)) // pipes can do that
	select {
	case <-p.ended:
	case <-time.After(2 * grace): // who reads has stopped to, and only he can end that
	}
	_ = p.from.Close()
}
