// Package tidy has no code: its tests are the house rules of the whole module, which they read as
// source. What code that also runs in virtual time may not do; which package may import which; how
// long files and functions may grow; what has to have a doc comment; and which words must not appear.
// Each rule has canaries, which it must catch.
//
// The lists of packages and of exceptions, each with its reason, are in lists_test.go. The package
// imports the standard library only.
package tidy
