package main

import (
	"io"

	"example.com/wedge/repro/soak"
)

// printSoak writes what a person wants to know of a soak.
func printSoak(w io.Writer, r *soak.Result, verbose bool) error {
	p := &page{style: styleOf(w)}
	p.b.WriteString(p.wrap("  ", plainText(r.Document.Summary)))
	_, err := io.WriteString(w, p.b.String())
	return err
}
