package api

import "example.com/wedge/repro/serving"

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
