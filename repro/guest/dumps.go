package guest

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/repro"
)

// Dump is what a goroutine dump of the harness tells.
type Dump struct {
	From       string  `json:"from"` // how it was had
	AtS        float64 `json:"at_s"` // of the run's clock
	File       string  `json:"file"` // within the evidence; empty without any
	Goroutines int     `json:"goroutines"`
	// Analysis is what they wait for, and why; nil if there is none to read.
	Analysis *waits.Analysis `json:"-"`
	// SinceS is how much earlier the dump was that it could be compared with, on the run's clock, and Moved
	// how many goroutines have another stack since, are new, or gone; 0 and 0: there was none.
	SinceS   float64       `json:"compared_over_s,omitempty"`
	Moved    int           `json:"moved,omitempty"`
	Outcome  waits.Outcome `json:"outcome,omitempty"` // of the harness's own goroutines
	Reason   string        `json:"reason,omitempty"`
	Findings []string      `json:"findings,omitempty"`
	Err      string        `json:"error,omitempty"` // why there is none
}

// dumps takes dumps of the harness. Its methods may be called by several goroutines.
type dumps struct {
	g      *session
	client *http.Client

	mu     sync.Mutex
	latest *Dump // nil: none was taken
}

const (
	// pprofWithin is how long the harness may take to show its goroutines, on the machine's clock.
	pprofWithin = 10 * time.Second
	// quitWithin is how long it may take to write them down and end.
	quitWithin   = 10 * time.Second
	findingsMax  = 5
	quitDumpFile = "goroutines.txt"
)

func newDumps(g *session) *dumps {
	return &dumps{g: g, client: &http.Client{
		// Straight to the harness, and no connection that it would have to show.
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: pprofWithin,
	}}
}

// validPprof says what is wrong with the URL of the harness's goroutines.
func validPprof(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return &repro.InputError{Source: "--pprof", Msg: fmt.Sprintf("found %.200q, want a URL such as http://127.0.0.1:6060", text)}
	}
	return nil
}

// goroutinesOf completes the URL: the page of all goroutines with their stacks, unless it names one.
func goroutinesOf(text string) string {
	u, err := url.Parse(text)
	if err != nil { // validPprof has looked
		return text
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/debug/pprof/goroutine"
	}
	if strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/pprof") {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/goroutine"
	}
	q := u.Query()
	q.Set("debug", "2")
	u.RawQuery = q.Encode()
	return u.String()
}

// take takes a dump over HTTP for a capture, if there is where to.
func (d *dumps) take(now *harness.Evidence) {
	if d.g.o.PprofURL == "" {
		return
	}
	from := goroutinesOf(d.g.o.PprofURL)
	text, err := d.fetch(from)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.latest = &Dump{From: from, AtS: now.At.Seconds(), Err: err.Error()}
		return
	}
	d.read(from, now.At.Seconds(), harness.StallDir(now.Episode)+"/"+harness.GoroutinesText, text)
}

func (d *dumps) fetch(from string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pprofWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	resp, err := d.client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the rest is said already
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %d, want 200", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, keptBytesMax))
}

// last returns the latest dump, or nil.
func (d *dumps) last() *Dump {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.latest
}

// read reads a dump and keeps it. mu is held.
func (d *dumps) read(from string, atS float64, file string, text []byte) {
	out, before := &Dump{From: from, AtS: atS}, d.latest
	d.latest = out
	if d.g.bundle != nil {
		out.File = file
		d.g.bundle.WriteFile(file, text)
	}
	parsed, err := goroutine.Parse(bytes.NewReader(text))
	if err != nil {
		out.Err = err.Error()
		return
	}
	if out.Goroutines = len(parsed.Goroutines); out.Goroutines == 0 {
		out.Err = "no goroutine in what it wrote"
		return
	}
	out.Analysis = waits.Analyze(parsed)
	out.judge(before)
	for i := range out.Analysis.Findings {
		if f := &out.Analysis.Findings[i]; len(out.Findings) < findingsMax && !f.Symptom {
			out.Findings = append(out.Findings, f.Text)
		}
	}
}

// judge says what the dump shows, in the light of an earlier one if there is any: one dump cannot tell slow
// from stuck.
func (d *Dump) judge(before *Dump) {
	v := d.Analysis.Verdict
	if before != nil && before.Analysis != nil {
		m := waits.Compare(before.Analysis, d.Analysis)
		v = m.Verdict
		d.SinceS, d.Moved = d.AtS-before.AtS, m.Moved+m.New+m.Gone
	}
	d.Outcome, d.Reason = v.Outcome, v.Reason
}

// quit has the harness dump its goroutines and end, if it is a Go program. It is given up anyhow.
func (d *dumps) quit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.g.child
	at := d.g.w.Now().Seconds()
	path, err := d.g.o.program()
	if err == nil {
		_, err = buildinfo.ReadFile(path)
	}
	if err != nil {
		d.failed(at, "it is no Go program, and SIGQUIT would tell nothing")
		return
	}
	if c.exited() {
		return
	}
	c.stderr.keep()
	if err := quitProcess(c.cmd); err != nil {
		d.failed(at, err.Error())
		return
	}
	select {
	case <-c.ended:
		c.stderr.end(pipeGrace)
	case <-time.After(quitWithin):
	}
	d.read("SIGQUIT", at, quitDumpFile, c.stderr.text())
}

// failed notes why there is no dump by SIGQUIT, unless there is one by other means.
func (d *dumps) failed(atS float64, why string) {
	if d.latest == nil || d.latest.Err != "" {
		d.latest = &Dump{From: "SIGQUIT", AtS: atS, Err: why}
	}
}
