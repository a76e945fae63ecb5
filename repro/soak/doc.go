// Package soak runs a scenario for a long time and says what became of it.
package soak
