package api

import (
	"time"

	"example.com/wedge/repro/serving"
)

// ReadPage is what a scraper does with the text of a page.
func ReadPage(text []byte) ([]serving.Gauge, error) {
	p, err := parsePage(text)
	if err != nil {
		return nil, err
	}
	return gaugesOf([]page{p}), nil
}

// AppendString is appendString.
func AppendString(b []byte, s string) []byte { return appendString(b, s) }

// Hold is Config.hold.
func (c Config) Hold(scale float64) time.Duration { return c.hold(scale) }
