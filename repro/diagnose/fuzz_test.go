package diagnose

import (
	"encoding/json"
	"testing"

	"example.com/wedge/harness"
)

// tiny are small fleets, one for each of the ways that evidence can be looked at: the fuzzer works
// byte by byte.
func tiny() []*builder {
	return []*builder{
		stallOf("a", 3, 2, 300*s, m).stream(1, 90*s, 0).silent(1, 90*s, 50*s).slot(1, m),
		stallOf("b", 2, 0, 300*s, m).headers(1, 90*s).connect(1, 80*s),
		stallOf("c", 1, 1, 300*s, m).slot(1, m).leak(1, 200*s),
		stallOf("d", 2, 0, 300*s, m).tool(1, "save", 80*s).think(1, 5*s),
	}
}

// FuzzDiagnose reads two captures from JSON, as they stand in somebody's bundle, and diagnoses them.
func FuzzDiagnose(f *testing.F) {
	for i, b := range tiny() {
		if i < 2 {
			b.gauges(5, 5, gauge(harness.GaugeDecodeRunning, 1))
			b.ev.Samples = b.ev.Samples[10:]
		}
		text, err := json.Marshal(b.done())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	nothing, err := json.Marshal(harness.Evidence{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(nothing, []byte(`{"at_ns":-1}`))
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
