package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
	"example.com/wedge/repro/load"
	"example.com/wedge/repro/serving"
)

// loadFlags are the flags of load.
type loadFlags struct {
	plan      load.Plan // what flags say that take no list
	clients   []int
	maxTokens []int
	timeouts  []time.Duration
	prompt    string
	arrivals  string
	noStream  bool

	seed  uint64
	clock string
	scale float64

	server load.Server
	preset string
	set    []string
	faults []string

	json, quiet bool
}

func (f *loadFlags) register(flags *pflag.FlagSet) {
	p := &f.plan
	flags.IntSliceVar(&f.clients, "concurrency", []int{p.Clients}, "clients at once; a list makes a row each. With --rate, the most there may be (default there 10000)")
	flags.Float64Var(&p.Rate, "rate", 0, "requests a second that arrive, whatever becomes of them: an open loop")
	flags.StringVar(&f.arrivals, "arrivals", string(p.Arrivals), "how they arrive: poisson or constant")
	flags.IntVar(&p.Requests, "requests", 0, "send so many in each row (with --rate and --rounds, conversations)")
	flags.DurationVar(&p.Duration, "duration", p.Duration, "send for so long in each row; what is under way then is cut off. With --requests there is no limit unless it is given")
	flags.DurationSliceVar(&f.timeouts, "timeout", nil, "time limit of a request, from its start to its last byte; a list makes a row each (default none)")
	flags.DurationVar(&p.Backoff, "backoff", p.Backoff, "pause of a client whose request failed otherwise than by the timeout")
	flags.StringVar(&f.prompt, "prompt-tokens", p.PromptTokens.String(), "tokens of a prompt, about: a number or a distribution as in scenario files")
	flags.IntSliceVar(&f.maxTokens, "max-tokens", []int{p.MaxTokens}, "most tokens of an answer; 0 leaves it to the server; a list makes a row each")
	flags.IntVar(&p.Rounds, "rounds", p.Rounds, "rounds of a conversation: each sends all that was said before, and a prompt more")
	flags.BoolVar(&p.Stream, "stream", p.Stream, "have answers streamed")
	flags.BoolVar(&f.noStream, "no-stream", false, "have answers in one piece, over HTTP")
	flags.BoolVar(&p.IgnoreEOS, "ignore-eos", false, "ask for answers of exactly --max-tokens (SGLang and vLLM know the option)")
	flags.Float64Var(&p.Abandon, "abandon", 0, "share of requests whose client leaves in the middle of the answer, 0 to 1")
	flags.DurationVar(&p.AbortAfter, "abort-after", p.AbortAfter, "how long after the first token it leaves (given alone: all do)")
	flags.DurationVar(&p.SampleEvery, "sample", p.SampleEvery, "how often gauges are read")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of every draw")
	flags.StringVar(&f.clock, "clock", string(repro.ClockVirtual), "clock of simulated servers: virtual, in memory; or wall, over HTTP on loopback")
	flags.Float64Var(&f.scale, "scale", 1, "how much faster than the machine's the wall clock goes")
	flags.StringVar(&f.preset, "preset", "", "simulated servers to start from (default "+presetDefault+"): "+presetNames())
	flags.StringArrayVar(&f.set, "set", nil, "override a field of the simulated servers, such as servers.decode.running_max=8; may be repeated")
	flags.StringArrayVar(&f.faults, "fault", nil, "a fault of the simulated servers, such as '{id: a, where: stream, what: silence}', or a file with some; may be repeated")
	flags.StringVar(&f.server.BaseURL, "base-url", "", "base URL of a real OpenAI-compatible server, such as http://127.0.0.1:30000/v1")
	flags.StringVar(&f.server.Model, "model", "", "model to ask the real server for (default: the first that it lists)")
	flags.StringArrayVar(&f.server.MetricsURLs, "metrics-url", nil, "where to read the real server's gauges (default /metrics at its host, if that answers); may be repeated")
	flags.BoolVar(&f.json, "json", false, "print the result as one JSON document")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the result only, no progress")
}

// rowsMax bounds the combinations of lists.
const rowsMax = 256

// plans returns a plan for each combination of what the flags list.
func (f *loadFlags) plans(cmd *cobra.Command) ([]load.Plan, error) {
	base, given := f.plan, cmd.Flags().Changed
	if given("requests") && !given("duration") {
		base.Duration = 0
	}
	if given("abort-after") && !given("abandon") {
		base.Abandon = 1
	}
	if f.noStream {
		if given("stream") && base.Stream {
			return nil, &repro.InputError{Source: "--no-stream", Msg: "found it together with --stream, want one of them"}
		}
		base.Stream = false
	}
	if given("rate") && base.Rate == 0 {
		return nil, &repro.InputError{Source: "--rate", Msg: "found 0, want requests a second, more than 0"}
	}
	if given("arrivals") && !given("rate") {
		return nil, &repro.InputError{Source: "--arrivals", Msg: "found it in a closed loop, want --rate with it"}
	}
	base.Arrivals = load.Arrivals(f.arrivals)
	if err := yaml.Unmarshal([]byte(f.prompt), &base.PromptTokens); err != nil {
		return nil, &repro.InputError{Source: "--prompt-tokens", Msg: yamlMessage(err)}
	}
	clients, timeouts := f.clients, f.timeouts
	if given("rate") && !given("concurrency") {
		clients = []int{0}
	}
	if len(timeouts) == 0 {
		timeouts = []time.Duration{0}
	}
	if n := len(clients) * len(f.maxTokens) * len(timeouts); n == 0 || n > rowsMax {
		return nil, &repro.InputError{Source: "load", Msg: fmt.Sprintf("found lists that make %d rows, want 1 to %d", n, rowsMax)}
	}
	var plans []load.Plan
	for _, n := range clients {
		for _, tokens := range f.maxTokens {
			for _, timeout := range timeouts {
				p := base
				p.Clients, p.MaxTokens, p.Timeout = n, tokens, timeout
				if err := p.Validate(); err != nil {
					return nil, fieldInput(err)
				}
				plans = append(plans, p)
			}
		}
	}
	return plans, nil
}

// fieldInput turns an error about a field of a plan into one about its flag. It returns nil if it is
// none.
func fieldInput(err error) error {
	var field *load.FieldError
	if !errors.As(err, &field) {
		return nil
	}
	return &repro.InputError{Source: "--" + field.Field, Msg: field.Msg}
}

// yamlMessage is an error of the YAML library without the position, which is one in a flag.
func yamlMessage(err error) string {
	var located yaml.Error
	if errors.As(err, &located) {
		return located.GetMessage()
	}
	return err.Error()
}

// replay is the command that repeats the run.
func (f *loadFlags) replay(cmd *cobra.Command) string {
	words := []string{"wedge", "load"}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "json", "quiet", "seed":
			return
		case "set", "fault", "metrics-url":
			for _, value := range flag.Value.(pflag.SliceValue).GetSlice() {
				words = append(words, "--"+flag.Name, quote(value))
			}
			return
		}
		switch value := flag.Value.(type) {
		case pflag.SliceValue:
			words = append(words, "--"+flag.Name, quote(strings.Join(value.GetSlice(), ",")))
		default:
			if flag.Value.Type() == "bool" {
				words = append(words, "--"+flag.Name+map[string]string{"true": "", "false": "=false"}[value.String()])
				return
			}
			words = append(words, "--"+flag.Name, quote(value.String()))
		}
	})
	return strings.Join(append(words, "--seed", strconv.FormatUint(f.seed, 10)), " ")
}

// presetDefault is what simulated servers start from.
const presetDefault = "sglang-pd"

func presetNames() string {
	var names []string
	for _, line := range serving.Presets() {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
