package workload

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
)

func BenchmarkSample(b *testing.B) {
	u := rand.NewPCG(1, 2)
	for _, bench := range []struct {
		name string
		d    Tokens
	}{
		{"constant", Must(Constant(3500))},
		{"uniform", Must(Uniform(3000, 4500))},
		{"lognormal", Must(LogNormal(350, 698))},
		{"mixture", Must(Mixture(Part[int]{61, Must(Uniform(0, 1000))}, Part[int]{39, Must(LogNormal(350, 698))}))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.d.Sample(u)
			}
		})
	}
}

func BenchmarkReadYAML(b *testing.B) {
	text := []byte("{mixture: [{weight: 61, uniform: [0s, 1s]}, {weight: 39, lognormal: {median: 3s, p90: 10s}}], max: 5m}")
	b.ReportAllocs()
	for b.Loop() {
		var d Duration
		if err := yaml.Unmarshal(text, &d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadMooncake(b *testing.B) {
	benchmarkFile(b, "testdata/mooncake_conversation_first40.jsonl", func(text []byte) error {
		_, err := ReadMooncake("b", bytes.NewReader(text))
		return err
	})
}

func BenchmarkReadTraceLab(b *testing.B) {
	benchmarkFile(b, "testdata/tracelab_multi_session_large_first60.csv", func(text []byte) error {
		_, err := ReadTraceLab("b", bytes.NewReader(text))
		return err
	})
}

func benchmarkFile(b *testing.B, path string, read func([]byte) error) {
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := read(text); err != nil {
			b.Fatal(err)
		}
	}
}
