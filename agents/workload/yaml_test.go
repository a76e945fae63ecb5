package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// fleet stands for a scenario file.
type fleet struct {
	Think  Duration   `yaml:"think" json:"think"`
	Tool   Duration   `yaml:"tool" json:"tool"`
	Output Tokens     `yaml:"output_tokens" json:"output_tokens"`
	Other  []Duration `yaml:"other,omitempty" json:"other,omitempty"`
}

func strictly(text string, v any) error {
	return yaml.NewDecoder(strings.NewReader(text), yaml.Strict()).Decode(v)
}

func TestYAMLForms(t *testing.T) {
	for _, tt := range []struct{ in, yaml, json string }{
		{"2s", "2s", `"2s"`},
		{"1h30m", "1h30m", `"1h30m"`},
		{"120m", "2h", `"2h"`},
		{"600s", "10m", `"10m"`},
		{"'1.5s'", "1.5s", `"1.5s"`},
		{"250us", "250µs", `"250µs"`},
		{"{constant: 2s}", "2s", `"2s"`},
		{"{uniform: [1s, 3s]}", "{uniform: [1s, 3s]}", `{"uniform":["1s","3s"]}`},
		{"\n  uniform:\n  - 1s # a comment\n  - 3s\n  max: 2s", "{uniform: [1s, 3s], max: 2s}", `{"uniform":["1s","3s"],"max":"2s"}`},
		{"{max: 10m, lognormal: {p90: 13.6s, median: 300ms}}", "{lognormal: {median: 300ms, p90: 13.6s}, max: 10m}",
			`{"lognormal":{"median":"300ms","p90":"13.6s"},"max":"10m"}`},
		{"{lognormal: {median: 300ms, sigma: 2.98}, min: 1ms}", "{lognormal: {median: 300ms, sigma: 2.98}, min: 1ms}",
			`{"lognormal":{"median":"300ms","sigma":2.98},"min":"1ms"}`},
		{"{mixture: [{weight: 1e3, constant: 2s}]}", "{mixture: [{weight: 1000, constant: 2s}]}", `{"mixture":[{"weight":1000,"constant":"2s"}]}`},
		{"{lognormal: {median: 300ms, sigma: 2}}", "{lognormal: {median: 300ms, sigma: 2}}", `{"lognormal":{"median":"300ms","sigma":2}}`},
		{"{mixture: [{weight: 61, uniform: [0s, 1s]}, {weight: 0.5, lognormal: {median: 2s, sigma: 1}, max: 9s}, {weight: 4, constant: 1m}], min: 1ms}",
			"{mixture: [{weight: 61, uniform: [0s, 1s]}, {weight: 0.5, lognormal: {median: 2s, sigma: 1}, max: 9s}, {weight: 4, constant: 1m}], min: 1ms}",
			`{"mixture":[{"weight":61,"uniform":["0s","1s"]},{"weight":0.5,"lognormal":{"median":"2s","sigma":1},"max":"9s"},{"weight":4,"constant":"1m"}],"min":"1ms"}`},
	} {
		var f fleet
		if err := strictly("think: "+tt.in, &f); err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if got := f.Think.String(); got != tt.yaml {
			t.Errorf("%s: YAML %s, want %s", tt.in, got, tt.yaml)
		}
		if got, err := json.Marshal(f.Think); err != nil || string(got) != tt.json {
			t.Errorf("%s: JSON %s %v, want %s", tt.in, got, err, tt.json)
		}
		roundTrip(t, f.Think)
	}
}

func TestTokensForms(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"3500", "3500"}, {"3_500", "3500"}, {"0", "0"}, {"1000000000", "1000000000"},
		{"{uniform: [3000, 4500]}", "{uniform: [3000, 4500]}"},
		{"{lognormal: {median: 350, p90: 698}, max: 4000}", "{lognormal: {median: 350, p90: 698}, max: 4000}"},
	} {
		var f fleet
		if err := strictly("output_tokens: "+tt.in, &f); err != nil {
			t.Errorf("%s: %v", tt.in, err)
		} else if got := f.Output.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
		roundTrip(t, f.Output)
	}
}

// roundTrip fails unless d comes back equal from YAML and from JSON.
func roundTrip[T Quantity](t *testing.T, d Dist[T]) {
	t.Helper()
	var fromYAML, fromJSON, fromString Dist[T]
	y, err := yaml.Marshal(d)
	if err == nil {
		err = yaml.Unmarshal(y, &fromYAML)
	}
	if err != nil || !reflect.DeepEqual(d, fromYAML) {
		t.Errorf("%v: YAML %q gives %v, %v", d, y, fromYAML, err)
	}
	j, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(j, &fromJSON)
	}
	if err != nil || !reflect.DeepEqual(d, fromJSON) {
		t.Errorf("%v: JSON %s gives %v, %v", d, j, fromJSON, err)
	}
	if err := yaml.Unmarshal([]byte(d.String()), &fromString); err != nil || !reflect.DeepEqual(d, fromString) {
		t.Errorf("%v: its own text gives %v, %v", d, fromString, err)
	}
}

// randomTokens returns any distribution that the constructors allow.
func randomTokens(r *rand.Rand, mayMix bool) Tokens {
	size := func() int { return 1 + int(math.Exp(r.Float64()*math.Log(TokensLimit))) }
	var d Tokens
	switch r.IntN(5) {
	case 0:
		return Must(Constant(min(size(), TokensLimit)))
	case 1:
		low := r.IntN(1000)
		d = Must(Uniform(low, low+r.IntN(100_000)))
	case 2:
		median := 1 + r.IntN(100_000)
		d = Must(LogNormal(median, median+r.IntN(median*3)))
	case 3:
		d = Must(LogNormalSigma(min(size(), TokensLimit), r.Float64()*SigmaLimit))
	default:
		if !mayMix {
			return Must(Constant(1))
		}
		var parts []Part[int]
		for range 1 + r.IntN(5) {
			parts = append(parts, Part[int]{r.Float64() * 100, randomTokens(r, false)})
		}
		d = Must(Mixture(parts...))
	}
	if r.IntN(2) == 0 {
		low := r.IntN(1000)
		d = Must(d.Clamp(low, low+1+r.IntN(100_000)))
	}
	return d
}

func TestRandomDistributionsRoundTripAndStayInBounds(t *testing.T) {
	for seed := range uint64(300) {
		u := rand.NewPCG(seed, 7)
		d := randomTokens(rand.New(u), true)
		roundTrip(t, d)
		inBounds(t, d, u)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// inBounds samples d and fails on a value outside what it promises.
func inBounds[T Quantity](t *testing.T, d Dist[T], u Source) {
	t.Helper()
	top, bounded := d.Max()
	if top < 0 || top > limit[T]() || d.Mean() < 0 || d.Mean() > top {
		t.Errorf("%v: mean %v, max %v", d, d.Mean(), top)
	}
	if !bounded && top != limit[T]() {
		t.Errorf("%v: unbounded with max %v, want the limit", d, top)
	}
	for range 50 {
		v := d.Sample(u)
		if v < 0 || v > top || v < d.clampMin || (d.clampMax > 0 && v > d.clampMax) {
			t.Errorf("%v: sample %v, max %v", d, v, top)
		}
	}
}

func TestYAMLErrors(t *testing.T) {
	var out strings.Builder
	for _, text := range []string{
		"think: 2", "think: 0", "think: -1s", "think: 2000h", "think: 9999999999h", "think: fast", "think: 3 s", "think: ''", "think: true", "think: .inf",
		"think: []", "think: {}", "think: {max: 2s}", "think:\n  max: 2s", "think:\n  mixture:\n  - constant: 2s\n    max: 3s", "think: {constant: 1s, uniform: [1s, 2s]}", "think: {constant: 1s, max: 2s}",
		"think: {gaussian: {mean: 1s}}", "think: {<<: {constant: 1s}}", "think: {\"a\\nb\": 1}", "think: !!str 4s", "think: |\n  2s",
		"think: {uniform: [5s, 3s]}", "think: {uniform: [5s]}", "think: {uniform: [-5s, 3s]}", "think: {uniform: {min: 1s, max: 2s}}", "think: {uniform: [1s, ~]}",
		"think: {uniform: [1s, 2s], max: 0s}", "think: {uniform: [&a 1s, *a]}",
		"think:\n  lognormal:\n    median: 1s\n    p90: 2s\n  min: 3s\n  max: 2s",
		"think: {lognormal: 3s}", "think: {lognormal: {median: 300ms}}", "think: {lognormal: {p90: 1s}}", "think: {lognormal: {median: 1s, p90: 2s, sigma: 1}}",
		"think: {lognormal: {median: 1s, p99: 2s}}", "think: {lognormal: {median: 300ms, p90: 100ms}}", "think: {lognormal: {median: 0s, p90: 1s}}",
		"think: {lognormal: {median: 1s, sigma: .nan}}", "think: {lognormal: {median: 1s, sigma: 11}}", "think: {lognormal: {median: 1s, sigma: wide}}", "think: {lognormal: {median: 1ns, p90: 1000h}}",
		"think: {mixture: 3s}", "think: {mixture: []}", "think: {mixture: [{weight: 0, constant: 3s}]}", "think: {mixture: [{weight: -1, constant: 3s}]}",
		"think: {mixture: [{weight: .inf, constant: 3s}]}", "think: {mixture: [{weight: '3', constant: 3s}]}", "think: {mixture: [{constant: 3s}]}", "think: {mixture: [{weight: 1}]}",
		"think: {mixture: [{weight: 1, mixture: []}]}", "think: {mixture: [{weight: 1, constant: -3s}]}", "think: {mixture: [3s]}",
		"think:\n  mixture:\n  - {weight: 1, constant: 3s}\n  - weight: 1\n    constants: 3s",
		"output_tokens: 3.5", "output_tokens: 3k", "output_tokens: 3s", "output_tokens: -1", "output_tokens: 1000000001", "output_tokens: 99999999999999999999999999",
		"output_tokens: '5'", "output_tokens: .nan", "output_tokens: {uniform: [4500, 3000]}",
		"other: [1s, 2s, 3]", "thinks: 2s", "think: 1s\nthink: 2s",
	} {
		f := fleet{Think: Must(Constant(DurationLimit))}
		err := strictly("# a scenario\n"+text, &f)
		var positioned yaml.Error
		if !errors.As(err, &positioned) || positioned.GetToken() == nil {
			t.Errorf("%q: error %v has no position", text, err)
			continue
		}
		line := positioned.FormatError(false, false)
		if strings.Contains(line, "\n") {
			t.Errorf("%q: error has more than one line: %q", text, line)
		}
		if f.Think.String() != "1000h" {
			t.Errorf("%q: a refused value changed the default to %v", text, f.Think)
		}
		fmt.Fprintf(&out, "%s\n    %s\n", text, line)
	}
	golden(t, "testdata/yaml_errors.golden", out.String())
}

func TestYAMLNullKeepsTheDefault(t *testing.T) {
	f := fleet{Think: Must(Constant(DurationLimit))}
	if err := strictly("think: ~\ntool:\n", &f); err != nil || f.Think.String() != "1000h" || f.Tool.String() != "0s" {
		t.Errorf("got %v, %v, %v", f.Think, f.Tool, err)
	}
}

func TestYAMLAliasOfAWholeDistribution(t *testing.T) {
	var f fleet
	if err := strictly("think: &a {uniform: [1s, 2s]}\ntool: *a", &f); err != nil || !reflect.DeepEqual(f.Think, f.Tool) || f.Tool.String() != "{uniform: [1s, 2s]}" {
		t.Errorf("got %v, %v, %v", f.Think, f.Tool, err)
	}
}

// TestScenarioReadsBack prints a whole configuration, as a bundle does, and reads it.
func TestScenarioReadsBack(t *testing.T) {
	var in, fromYAML, fromJSON fleet
	if err := strictly(`
think: {lognormal: {median: 86s, sigma: 2.08}, max: 1h}
tool: {mixture: [{weight: 61, uniform: [0s, 1s]}, {weight: 27, uniform: [1s, 10s]}, {weight: 8, uniform: [10s, 1m]}, {weight: 4, uniform: [1m, 10m]}]}
output_tokens: {uniform: [3000, 4500]}
other: [1s, {uniform: [1s, 2s]}]
`, &in); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := strictly(string(text), &fromYAML); err != nil || !reflect.DeepEqual(in, fromYAML) {
		t.Errorf("read back %v, %v from\n%s", fromYAML, err, text)
	}
	golden(t, "testdata/scenario.golden", string(text))
	text, err = json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &fromJSON); err != nil || !reflect.DeepEqual(in, fromJSON) {
		t.Errorf("read back %v, %v from\n%s", fromJSON, err, text)
	}
}
