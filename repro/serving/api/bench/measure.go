package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is a run of this program.
type bench struct {
	options
	dir      string // for files
	progress io.Writer
	report   report
}

const wedgeModel = "simulated"

// build makes the program that is to be measured.
func (b *bench) build(ctx context.Context) error {
	if b.wedge != "" {
		return nil
	}
	b.wedge = filepath.Join(b.dir, "wedge")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.wedge, "example.com/wedge/cmd/wedge").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// contender is a server to be measured.
type contender struct {
	name  string
	model string
	start func(ctx context.Context) (*server, error)
}

// simulated returns the simulated servers, changed by some settings of a scenario file.
func (b *bench) simulated(settings ...string) contender {
	args := []string{b.wedge, "serve", "--preset", "instant", "--listen", "127.0.0.1:0", "--quiet"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	return contender{"wedge serve", wedgeModel, func(ctx context.Context) (*server, error) { return startReady(ctx, args) }}
}

// foreign returns the other server, if there is one.
func (b *bench) foreign() []contender {
	if len(b.other) == 0 {
		return nil
	}
	return []contender{{filepath.Base(b.other[0]), b.otherModel, func(ctx context.Context) (*server, error) {
		return startAt(ctx, b.other, b.otherURL)
	}}}
}

// named says whether the user has asked for a part by name.
func (b *bench) named(part string) bool { return b.only != "" && slices.Contains(b.parts(), part) }

func (b *bench) part(ctx context.Context, part string) error {
	fmt.Fprintf(b.progress, "%s …\n", part)
	switch part {
	case partSpeed:
		return b.speed(ctx)
	case partStart:
		return b.starting(ctx)
	case partSlow:
		return b.slow(ctx)
	default:
		return b.steady(ctx)
	}
}

// speed loads each server in turn, without and with streaming.
func (b *bench) speed(ctx context.Context) error {
	own := b.simulated(fmt.Sprintf("servers.model.output_tokens=%d", b.tokens))
	for _, stream := range []bool{false, true} {
		l := b.loader(stream)
		same, err := b.sample(ctx, own, l)
		if err != nil {
			return err
		}
		all := []contender{own, b.bare(bareName, same, stream)}
		if stream {
			each, err := b.eventEach()
			if err != nil {
				return err
			}
			all = append(all, b.bare(bareName+", an event a token", each, stream))
		}
		rows, err := b.rows(ctx, append(all, b.foreign()...), l)
		if err != nil {
			return err
		}
		b.report.Speed = append(b.report.Speed, rows...)
	}
	b.report.ofBare()
	return nil
}

// rows loads the servers by turns and returns the median of each one's rounds.
func (b *bench) rows(ctx context.Context, all []contender, l load) (medians []speedRow, err error) {
	rounds := make([][]speedRow, len(all))
	for range b.rounds {
		for i, c := range all {
			row, err := b.load(ctx, c, l)
			if err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], row)
		}
	}
	for _, rows := range rounds {
		slices.SortFunc(rows, func(a, b speedRow) int { return cmp.Compare(a.RequestsPerS, b.RequestsPerS) })
		medians = append(medians, rows[len(rows)/2])
	}
	return medians, nil
}

const bareName = "bare handler"

// bare returns a handler that sends the content of a file.
func (b *bench) bare(name, file string, stream bool) contender {
	return contender{name, wedgeModel, func(ctx context.Context) (*server, error) { return startBare(ctx, file, stream) }}
}

// eventEach puts an answer with an event for each token into a file.
func (b *bench) eventEach() (file string, err error) {
	var text bytes.Buffer
	const frame = `data: {"id":"chatcmpl-0","object":"chat.completion.chunk","created":0,"model":"simulated","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}` + "\n\n"
	fmt.Fprintf(&text, frame, `"role":"assistant","content":""`, "null")
	for range b.tokens {
		fmt.Fprintf(&text, frame, `"content":"text"`, "null")
	}
	fmt.Fprintf(&text, frame, "", `"stop"`)
	text.WriteString("data: [DONE]\n\n")
	file = filepath.Join(b.dir, "answer-each")
	return file, os.WriteFile(file, text.Bytes(), 0o644)
}

// loader returns the load of the part speed.
func (b *bench) loader(stream bool) load {
	return load{Connections: b.connections, Tokens: b.tokens, Stream: stream, Warmup: time.Second,
		Length: time.Duration(b.seconds * float64(time.Second))}
}

// load runs the loader against a server.
func (b *bench) load(ctx context.Context, c contender, l load) (row speedRow, err error) {
	fmt.Fprintf(b.progress, "  %s, stream %t\n", c.name, l.Stream)
	s, err := c.start(ctx)
	if err != nil {
		return row, fmt.Errorf("%s: %w", c.name, err)
	}
	defer s.stop()
	l.URL, l.Model, l.PID = s.baseURL, c.model, s.pid()
	out, err := runLoader(ctx, l)
	if err != nil {
		return row, fmt.Errorf("%s: %w", c.name, err)
	}
	return speedRow{Server: c.name, Stream: l.Stream, loaded: *out}, nil
}

// sample asks a server once and puts the body of its answer into a file.
func (b *bench) sample(ctx context.Context, c contender, l load) (file string, err error) {
	s, err := c.start(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.name, err)
	}
	defer s.stop()
	l.Model = c.model
	resp, err := http.Post(s.baseURL+chatPath, "application/json", bytes.NewReader(l.body()))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: status %d, %v: %.200s", c.name, resp.StatusCode, err, text)
	}
	file = filepath.Join(b.dir, fmt.Sprintf("answer-%t", l.Stream))
	return file, os.WriteFile(file, text, 0o644)
}

// starting times the start of servers.
func (b *bench) starting(ctx context.Context) error {
	for _, c := range append([]contender{b.simulated()}, b.foreign()...) {
		var took []time.Duration
		for range b.starts {
			begun := time.Now()
			s, err := c.start(ctx)
			if err == nil {
				if err = s.healthy(ctx); err != nil {
					s.stop()
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took = append(took, time.Since(begun))
			s.stop()
		}
		slices.Sort(took)
		b.report.Start = append(b.report.Start, startRow{c.name, b.starts, ms(took[0]), ms(quantile(took, 0.5)), ms(took[len(took)-1])})
	}
	return nil
}

const tokenGap = 200 * time.Millisecond

// slowed returns settings of simulated servers that take some time to the first token, which is that
// of a transfer from prefill to decode, and have a gap between tokens.
func (b *bench) slowed() []string {
	return []string{
		"servers.mode=pd",
		fmt.Sprintf("servers.transfer.latency=%v", b.firstToken),
		fmt.Sprintf("servers.decode.step_base=%v", tokenGap),
		fmt.Sprintf("servers.model.output_tokens=%d", b.tokens),
	}
}

// slow has many streams at once, which last about as long as their tokens take.
func (b *bench) slow(ctx context.Context) error {
	l := load{Connections: b.slowStreams, Tokens: b.tokens, Stream: true, Answers: 1}
	return b.eachSlow(ctx, partSlow, l, func(row speedRow) { b.report.Slow = append(b.report.Slow, row) })
}

// steady has as many streams as there are connections come and go, each from another instant on.
func (b *bench) steady(ctx context.Context) error {
	l := load{Connections: b.connections, Tokens: b.tokens, Stream: true, Answers: 3, Spread: b.firstToken + time.Duration(b.tokens)*tokenGap}
	return b.eachSlow(ctx, partFirstToken, l, func(row speedRow) {
		r := firstTokenRow{speedRow: row, ConfiguredMS: ms(b.firstToken)}
		r.ErrorPercent = 100 * (row.FirstTokenP50MS - r.ConfiguredMS) / r.ConfiguredMS
		b.report.FirstToken = append(b.report.FirstToken, r)
	})
}

func (b *bench) eachSlow(ctx context.Context, part string, l load, add func(speedRow)) error {
	all := []contender{b.simulated(b.slowed()...)}
	if b.named(part) {
		all = append(all, b.foreign()...)
	}
	for _, c := range all {
		row, err := b.load(ctx, c, l)
		if err != nil {
			return err
		}
		add(row)
	}
	return nil
}

// body is the request.
func (l *load) body() []byte {
	text, err := json.Marshal(map[string]any{
		"model": l.Model, "stream": l.Stream, "max_tokens": l.Tokens, "ignore_eos": true,
		"messages": []map[string]string{{"role": "user", "content": strings.Repeat("a prompt of some size ", 14)}},
	})
	if err != nil {
		panic(err) // it is made of nothing that could fail
	}
	return text
}
