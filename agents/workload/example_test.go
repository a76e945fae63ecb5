package workload_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/agents/workload"
)

// A configuration plugs the distributions in as fields.
func Example() {
	config := struct {
		Think  workload.Duration `yaml:"think"`
		Tool   workload.Duration `yaml:"tool"`
		Output workload.Tokens   `yaml:"output_tokens"`
	}{
		Tool: workload.Must(workload.LogNormal(300*time.Millisecond, 13600*time.Millisecond)),
	}
	text := "think: 2s\noutput_tokens: {uniform: [3000, 4500]}\n"
	if err := yaml.NewDecoder(strings.NewReader(text), yaml.Strict()).Decode(&config); err != nil {
		fmt.Println(err)
		return
	}
	u := rand.NewPCG(1, 2)
	fmt.Println(config.Think.Sample(u), config.Output.Sample(u) <= 4500, config.Output.Mean())

	all, _ := yaml.Marshal(config)
	fmt.Print(string(all))
	// Output:
	// 2s true 3750
	// think: 2s
	// tool: {lognormal: {median: 300ms, p90: 13.6s}}
	// output_tokens: {uniform: [3000, 4500]}
}

func ExampleDist_UnmarshalYAML() {
	var config struct {
		Think workload.Duration `yaml:"think"`
	}
	err := yaml.Unmarshal([]byte("think:\n  uniform: [5s, 3s]\n"), &config)
	if problem, ok := err.(yaml.Error); ok {
		fmt.Println(problem.FormatError(false, false))
	}
	// Output: [2:17] think.uniform[1]: found 3s, want at least min (5s)
}

func ExampleMixture() {
	tool := workload.Must(workload.Mixture(
		workload.Part[time.Duration]{Weight: 61, Dist: workload.Must(workload.Uniform(0, time.Second))},
		workload.Part[time.Duration]{Weight: 39, Dist: workload.Must(workload.Constant(10 * time.Second))},
	))
	most, bounded := tool.Max()
	fmt.Println(tool.Mean(), most, bounded)
	text, _ := json.Marshal(tool)
	fmt.Println(string(text))
	// Output:
	// 4.205s 10s true
	// {"mixture":[{"weight":61,"uniform":["0s","1s"]},{"weight":39,"constant":"10s"}]}
}

func ExampleReadFile() {
	trace, err := workload.ReadFile("testdata/tracelab_session_workload_example.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trace.Summary())
	first := trace.Sessions[0].Calls[0]
	fmt.Println(first.PrefixTokens, first.InputTokens, first.OutputTokens, first.WaitAfter)
	// Output:
	// 1 sessions, 11 calls, input tokens p50 1666 p95 16159, output tokens p50 362 p95 15950
	// 12461 5875 124 182ms
}

func ExampleReadMooncake() {
	_, err := workload.ReadMooncake("trace.jsonl", strings.NewReader(
		`{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 0, "input_length": "many", "output_length": 490, "hash_ids": [0, 14]}`))
	fmt.Println(err)
	// Output: trace.jsonl:2: input_length: found "many", want a whole number of tokens from 0 to 1000000000
}
