package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/series"
)

// resumed is what is known of a soak that goes on.
type resumed struct {
	dir string
	run struct {
		bundle.Run
		Config *repro.Scenario `json:"config"`
	}
	doc    Document // the last one; of a soak that was killed at once: empty
	at     sim.Instant
	before []series.Window  // on the wall
	took   []series.Process // on the wall
}

// Resume goes on with the soak that wrote the bundle at dir and was interrupted, or killed. In virtual time it is
// replayed from its seed, and what it wrote is compared with what is there: the result is that of a soak that was
// never broken. On the wall it goes on for the rest of its time, with what was counted before; the window that was
// under way when it was killed is lost.
//
// Of o.Run only Dumps, Version, Replay, Watch, JournalTee and the API key of Server are used: all else is as it was. The
// error is an *[repro.InputError] where there is nothing to go on with.
func Resume(ctx context.Context, dir string, o Options) (*Result, error) {
	r, err := readResumed(dir)
	if err != nil {
		return nil, err
	}
	if err := r.options(&o.Run); err != nil {
		return nil, err
	}
	o.resumed = r
	return Run(ctx, r.run.Config, o)
}

// readResumed reads what a soak has left.
func readResumed(dir string) (*resumed, error) {
	r := &resumed{dir: dir}
	refused := func(format string, args ...any) error {
		return &repro.InputError{Source: "--resume", Msg: fmt.Sprintf("%s: ", dir) + fmt.Sprintf(format, args...)}
	}
	if err := readJSON(dir, bundle.RunFile, &r.run); err != nil {
		return nil, refused("found no soak (%v), want the directory of one, such as wedge-out/soak-starvation-1", err)
	}
	s := r.run.Config
	if !strings.HasPrefix(r.run.Schema, "wedge.run/") || s == nil || !s.Soak.On() {
		return nil, refused("found a bundle that no soak wrote, want one of wedge soak")
	}
	if err := s.Validate(); err != nil {
		return nil, refused("found a scenario that this wedge does not take: %v", err)
	}
	err := readJSON(dir, DocumentFile, &r.doc)
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.run.Clock == string(repro.ClockVirtual): // it was killed as it began
	case err != nil:
		return nil, refused("found no %s to go on from (%v), want to begin anew", DocumentFile, err)
	case r.doc.Schema != Schema:
		return nil, refused("found %s of schema %q, want %q", DocumentFile, r.doc.Schema, Schema)
	case r.doc.Verdict != Running && r.doc.Verdict != Interrupted && r.doc.Verdict != Stopped:
		return nil, refused("found a soak that has ended (%s), want one that was interrupted or killed", strings.ReplaceAll(string(r.doc.Verdict), "_", " "))
	}
	if r.run.Clock == string(repro.ClockWall) {
		return r, r.readWall(refused)
	}
	return r, nil
}

// maxFileBytes bounds what is read of a JSON file.
const maxFileBytes = 64 << 20

func readJSON(dir, name string, into any) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		if at := new(fs.PathError); errors.As(err, &at) {
			err = at.Err
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = json.Unmarshal(text, into)
	if kind := new(json.UnmarshalTypeError); errors.As(err, &kind) && kind.Field == "" {
		return fmt.Errorf("%s: found a JSON %s, want an object", name, kind.Value) // not the name of Go's type
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readWall reads the windows and readings of a soak on the wall, and finds out how far its clock had come.
func (r *resumed) readWall(refused func(string, ...any) error) error {
	err := errors.Join(
		eachLine(r.dir, WindowsLog, func(w *series.Window) { r.before = append(r.before, *w) }),
		eachLine(r.dir, ProcessLog, func(p *series.Process) { r.took = append(r.took, *p) }),
	)
	if err != nil {
		return refused("found windows that cannot be read: %v", err)
	}
	at := max(0, r.doc.AtS)
	if n := len(r.before); n > 0 {
		at = max(at, r.before[n-1].ToS)
	}
	if n := len(r.took); n > 0 {
		at = max(at, r.took[n-1].AtS) // it goes on after all that there is
	}
	at = max(at, lastInstant(r.dir, bundle.EventsLog), lastInstant(r.dir, bundle.SamplesLog))
	r.at = sim.Instant(at * 1e9)
	if at >= r.run.Config.Soak.Lasts(r.run.Config.Horizon).Seconds() {
		return refused("found a soak of %s that had lasted for %s, want one with time left", Length(r.doc.ForS), Length(at))
	}
	return nil
}

// eachLine reads a log of JSON, without half a line at its end.
func eachLine[T any](dir, name string, f func(*T)) error {
	files, err := bundle.Logs(os.DirFS(dir), name)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := eachLineOf(dir, file, f); err != nil {
			return err
		}
	}
	return nil
}

func eachLineOf[T any](dir, file string, f func(*T)) error {
	in, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 1<<20)
	for n := 1; ; n++ {
		line, err := lineOf(r)
		if errors.Is(err, io.EOF) {
			return nil // what was being written when the process was killed
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		var lost struct {
			Lines *int `json:"lost_lines"`
		}
		if json.Unmarshal(line, &lost) == nil && lost.Lines != nil {
			continue
		}
		v := new(T)
		if err := json.Unmarshal(line, v); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		f(v)
	}
}

// lineBytesMax bounds a line: in the place of a log may be anything.
const lineBytesMax = 64 << 20

// lineOf reads a line, with its end.
func lineOf(r *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return append(long, part...), err
		}
		if long = append(long, part...); len(long) > lineBytesMax {
			return nil, fmt.Errorf("found a line of more than %d MiB", lineBytesMax>>20)
		}
	}
}

// lastInstant returns the instant of the last line of a log, in seconds; 0 if there is none.
func lastInstant(dir, name string) (at float64) {
	files, err := bundle.Logs(os.DirFS(dir), name)
	if err != nil || len(files) == 0 {
		return 0
	}
	type line struct {
		T float64 `json:"t_s"`
	}
	_ = eachLineOf(dir, files[len(files)-1], func(l *line) { at = max(at, l.T) }) // what can be read of it will do
	return at
}

// options fills in how the run was run.
func (r *resumed) options(o *repro.Options) error {
	key := ""
	if o.Server != nil {
		key, o.Server = o.Server.APIKey, nil
	}
	o.Clock, o.Scale, o.Out, o.Replace = repro.Clock(r.run.Clock), r.run.Scale, r.dir, false
	if o.Clock != repro.ClockVirtual && o.Clock != repro.ClockWall {
		return &repro.InputError{Source: "--resume", Msg: fmt.Sprintf("%s: found a clock %q, want virtual or wall", r.dir, r.run.Clock)}
	}
	if s := r.doc.Server; s != nil {
		o.Server = &repro.Server{BaseURL: s.BaseURL, Model: s.Model, MetricsURL: s.MetricsURL, APIKey: key}
	}
	if o.Replay == "" {
		o.Replay = r.doc.Replay
	}
	return nil
}

// into has a run go on, of which so much has been done.
func (r *resumed) into(o *repro.Options, done *Totals) {
	o.Bundle.Resume = true
	if !r.wall() {
		o.Bundle.Interrupted = r.doc.Verdict != Running && r.doc.Verdict != ""
		return
	}
	o.Bundle.AppendLogs = true
	o.Start = r.at
	// How many tasks were begun after the last window is not known: numbers go on from one that none of them had.
	const round = 1000
	o.TasksBefore = (done.TasksBegun/round + 2) * round
	if o.TasksMax > 0 {
		o.TasksMax = max(1, o.TasksMax-done.TasksDone-done.TasksFailed)
	}
}

func (r *resumed) wall() bool { return r.run.Clock == string(repro.ClockWall) }

// carry has the books begin with what there is of an earlier part on the wall.
func (r *resumed) carry(k *keeper) error {
	if !r.wall() {
		return nil
	}
	for i := range r.before {
		if err := k.history.add(&r.before[i]); err != nil {
			return err
		}
	}
	for _, p := range r.took {
		k.readings.add(p)
	}
	k.stalls.total, k.stalls.byCause = r.doc.Stalls.Total, r.doc.Stalls.ByCause
	k.history.totals.LastS = r.at.Seconds()
	return nil
}

// clear makes room for the evidence of what is to come. In virtual time it will be the same again; on the wall
// what there is moves aside, since stalls are numbered anew.
func (r *resumed) clear(b *bundle.Bundle) {
	for _, name := range [...]string{"stalls", harness.EndDir} {
		if r.wall() {
			b.Rename(name, fmt.Sprintf("%s-before-%d", name, r.doc.Resumed+1))
			continue
		}
		b.RemoveAll(name)
	}
}
