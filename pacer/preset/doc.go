// Package preset has policies that go by a name: those that clients, frameworks and proxies of the
// field have when nobody changes them, and a few of wedge's own. Each is a YAML file of the format
// that [ReadFile] reads from users, so that a preset can be copied and changed.
//
//	name: my-policy
//	about: Gives up on a stream that is silent for a minute.
//	policy: {idle: 60s, max_attempts: 3}
//	set: [pacer.slots=8]
//
// It reads files and what is compiled in, has no state, and imports package pacer, those of its parts,
// and harness/strict to read with.
package preset
