package soak

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"

	"example.com/wedge/repro/series"
)

// packer makes windows small for as long as nobody looks at them: their histograms and gauges take some kilobytes, of
// which a quarter is left. The zero value is ready.
type packer struct {
	writer *flate.Writer // which takes more room than hundreds of windows, and so is used again
	reader io.ReadCloser
	out    bytes.Buffer
}

// packed is a window as the packer keeps it.
type packed []byte

// pack packs a window. What it returns is good until the next call of any method.
func (p *packer) pack(w *series.Window) (packed, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("window %d: %w", w.Index, err)
	}
	if p.writer == nil {
		if p.writer, err = flate.NewWriter(nil, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	p.out.Reset()
	p.writer.Reset(&p.out)
	_, _ = p.writer.Write(text) // to memory
	_ = p.writer.Close()
	return p.out.Bytes(), nil
}

func (p *packer) unpack(b packed) (series.Window, error) {
	var w series.Window
	if p.reader == nil {
		p.reader = flate.NewReader(nil)
	}
	if err := p.reader.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
		return w, err
	}
	p.out.Reset()
	if _, err := p.out.ReadFrom(p.reader); err != nil {
		return w, err
	}
	err := json.Unmarshal(p.out.Bytes(), &w)
	return w, err
}
