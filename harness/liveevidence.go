package harness

import (
	"path"

	"example.com/wedge/harness/bundle"
)

// WriteEvidence writes evidence that was put together outside of a run, as of a live system that was
// looked at, into a folder of a bundle ([StallDir] or [EndDir]), in the files that [ReadEvidence] reads.
// dump is the text of the goroutines at that instant; nil: there is none. The bundle keeps its errors.
func WriteEvidence(b *bundle.Bundle, dir string, e *Evidence, dump []byte) {
	writeCapture(b, dir, e, nil)
	if len(dump) > 0 {
		b.WriteFile(path.Join(dir, GoroutinesText), dump)
	}
}
