// Package workload says how big and how long the things are that a simulated
// agent does: think times, tool times, prompts, answers. They come from a
// distribution ([Dist], written in a scenario file) or from a public trace
// ([ReadFile]).
//
// A distribution is data without state. Randomness is an argument ([Source]),
// and a sample takes [DrawsPerSample] draws whatever its outcome and whatever
// its kind, so that a changed distribution leaves the rest of a stream as it
// was.
//
// The package may import the standard library and github.com/goccy/go-yaml,
// and nothing else of this module: it does not wait, and it knows neither worlds
// nor agents. Reading a file is its only effect.
package workload
