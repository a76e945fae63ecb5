package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// load is what the loader is to do: so many connections, each of which asks again as soon as it has
// its answer.
type load struct {
	URL         string
	Model       string
	PID         int // of the server
	Connections int
	Tokens      int // of an answer
	Stream      bool
	Warmup      time.Duration // at the start, which does not count
	Length      time.Duration // after it
	Answers     int           // of each connection, instead of Warmup and Length; 0: these
	Spread      time.Duration // over which the connections start; 0: all at once
}

// loaded is what came of it.
type loaded struct {
	Requests        int     `json:"requests"`
	RequestsPerS    float64 `json:"requests_per_s"`
	P50MS           float64 `json:"p50_ms"`
	P99MS           float64 `json:"p99_ms"`
	FirstTokenP50MS float64 `json:"first_token_p50_ms,omitempty"` // of streams
	FirstTokenP99MS float64 `json:"first_token_p99_ms,omitempty"`
	Events          int     `json:"events,omitempty"`                    // of all streams
	CPUPerRequestUS float64 `json:"server_cpu_per_request_us,omitempty"` // 0: not known
	RSSMaxMiB       float64 `json:"server_rss_max_mib,omitempty"`        // 0: not known
}

// runLoader runs the loader as a process.
func runLoader(ctx context.Context, l load) (*loaded, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(&l)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, roleLoad, string(text))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // see endWithParent
		return nil, err
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the loader: %w", err)
	}
	result := &loaded{}
	return result, json.Unmarshal(out, result)
}

// runLoad is the process of the loader.
func runLoad(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s: want a load as JSON", roleLoad)
	}
	var l load
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return err
	}
	w := &worker{load: l, request: l.body(), client: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: l.Connections, MaxConnsPerHost: l.Connections, DisableCompression: true}}}
	out, err := w.run()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// worker is the loader at work.
type worker struct {
	load
	request []byte
	client  *http.Client

	from, to time.Time // answers that begin and end between them count

	mu     sync.Mutex
	took   []time.Duration
	first  []time.Duration
	events int
	err    error // the first
}

func (w *worker) run() (*loaded, error) {
	begun := time.Now()
	w.from, w.to = begun.Add(w.Warmup), begun.Add(w.Warmup+w.Length)
	if w.Answers > 0 {
		w.from, w.to = begun, begun.Add(24*time.Hour) // all count
	}
	var connections sync.WaitGroup
	for i := range w.Connections {
		connections.Go(func() {
			time.Sleep(w.Spread * time.Duration(i) / time.Duration(w.Connections))
			w.connection()
		})
	}
	var before, after cost
	stop, stopped := make(chan struct{}), make(chan float64)
	go func() { stopped <- w.watch(stop, &before) }()
	connections.Wait()
	after = costOf(w.PID)
	close(stop)
	rss := <-stopped
	if w.err != nil {
		return nil, w.err
	}
	if len(w.took) == 0 {
		return nil, errors.New("no answer in the time given")
	}
	length := w.Length
	if w.Answers > 0 {
		length = time.Since(begun)
	}
	slices.Sort(w.took)
	slices.Sort(w.first)
	n := float64(len(w.took))
	out := &loaded{Requests: len(w.took), RequestsPerS: n / length.Seconds(), P50MS: ms(quantile(w.took, 0.5)), P99MS: ms(quantile(w.took, 0.99)),
		Events: w.events, CPUPerRequestUS: float64((after.cpu - before.cpu).Microseconds()) / n, RSSMaxMiB: rss}
	if len(w.first) > 0 {
		out.FirstTokenP50MS, out.FirstTokenP99MS = ms(quantile(w.first, 0.5)), ms(quantile(w.first, 0.99))
	}
	return out, nil
}

// watch notes what the server has used when the warm-up is over, and returns the most memory that it
// has had from then on, in MiB.
func (w *worker) watch(stop chan struct{}, before *cost) (rssMaxMiB float64) {
	select {
	case <-stop:
	case <-time.After(time.Until(w.from)):
	}
	*before = costOf(w.PID)
	for {
		rssMaxMiB = max(rssMaxMiB, float64(costOf(w.PID).rssBytes)/(1<<20))
		select {
		case <-stop:
			return rssMaxMiB
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// connection asks again and again.
func (w *worker) connection() {
	var took, first []time.Duration
	events := 0
	for n := 0; ; n++ {
		begun := time.Now()
		if w.Answers > 0 && n == w.Answers || w.Answers == 0 && !begun.Before(w.to) {
			break
		}
		a, err := w.once(begun)
		if err != nil {
			w.mu.Lock()
			if w.err == nil {
				w.err = err
			}
			w.mu.Unlock()
			return
		}
		ended := time.Now()
		if begun.Before(w.from) || ended.After(w.to) {
			continue
		}
		took = append(took, ended.Sub(begun))
		events += a.events
		if w.Stream {
			first = append(first, a.first)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took, w.first, w.events = append(w.took, took...), append(w.first, first...), w.events+events
}

// answer is what the loader makes of one.
type answer struct {
	first  time.Duration // until the first token
	events int
}

func (w *worker) once(begun time.Time) (a answer, err error) {
	resp, err := w.client.Post(w.URL+chatPath, "application/json", bytes.NewReader(w.request))
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return a, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	if !w.Stream {
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil && n == 0 {
			err = errors.New("an empty answer")
		}
		return a, err
	}
	done := false
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		a.events++
		done = bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]"))
		if a.first == 0 && hasText(data) {
			a.first = time.Since(begun)
		}
	}
	if err := lines.Err(); err != nil {
		return a, err
	}
	if !done {
		return a, errors.New("a stream without [DONE]")
	}
	return a, nil
}

// hasText says whether an event brings text, be it content or reasoning_content.
func hasText(data []byte) bool {
	for {
		_, rest, ok := bytes.Cut(data, []byte(`content":"`))
		if !ok {
			return false
		}
		if len(rest) > 0 && rest[0] != '"' {
			return true
		}
		data = rest
	}
}
