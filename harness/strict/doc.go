// Package strict reads YAML files that people write onto structs that hold the defaults. YAML and its
// libraries let much pass that its author did not mean: an unknown field, 1.5 for an integer, 010 for
// eight, 60 for sixty nanoseconds. Here each is refused, in one line that says where it stands, what was
// found, and what is allowed:
//
//	f.yaml:2:3: policy.idel: unknown field, did you mean "idle"?
//
// [Parse] reads a text and [Document.Decode] puts it on a struct; [Set] does the same for a single field
// that a flag names. Checks of what the values mean are the caller's, who has [Document.At] to say where
// a value stands.
//
// The package has no state and starts nothing. It may import the standard library and
// github.com/goccy/go-yaml, and nothing of this module.
package strict
