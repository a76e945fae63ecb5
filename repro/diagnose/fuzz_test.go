package diagnose

import (
	"encoding/json"
	"testing"

	"example.com/wedge/harness"
)

// FuzzDiagnose reads two captures from JSON, as they stand in somebody's bundle, and diagnoses them.
func FuzzDiagnose(f *testing.F) {
	var texts [][]byte
	for _, name := range goldenStories {
		text, err := json.Marshal(storyNamed(f, name).now())
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, text)
	}
	for i, text := range texts {
		f.Add(text, texts[(i+1)%len(texts)])
	}
	f.Add([]byte(`{}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var now, before harness.Evidence
		if json.Unmarshal(a, &now) != nil {
			return
		}
		v := Diagnose(&now, nil)
		checkWords(t, &v)
		if json.Unmarshal(b, &before) == nil {
			v = Diagnose(&now, &before)
			checkWords(t, &v)
		}
		Final(&now, []Verdict{v}, EndedInterrupted)
	})
}
