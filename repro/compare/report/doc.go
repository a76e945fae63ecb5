// Package report turns a comparison of timeout policies into a page that can be read without anything else: words
// first, then the table with its intervals, then the pictures. It draws plain data and decides nothing: what is best,
// what is significant and what to advise is in its input.
//
// Each picture is also a function of its own (CCDF of CCDFInput, Forest of ForestInput, and so on) from plain data to the bytes of an SVG that
// stands alone. Pictures follow the reader's light or dark theme, name their units and their n, tell series apart by
// dash and marker as well as by colour, and come out the same bytes for the same data. Odd data (nothing at all, one
// seed, NaN, infinity, negative times on a log axis) give a picture that says so, never a panic.
//
// It may import repro/metrics, repro/compare/stats and gonum.org/v1/plot, which lays out and writes the drawings.
// Everything here may be called from several goroutines at once.
package report
