package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Schema is the first field of run.json. An existing directory is taken for a bundle, which may be
// replaced, if its run.json has a schema of this family.
const Schema = "wedge.run/1"

// schemaFamily is what the schemas of all versions begin with.
const schemaFamily = "wedge.run/"

// Names of files in a bundle that more than one package knows.
const (
	RunFile       = "run.json"
	EventsLog     = "events.jsonl"
	SamplesLog    = "samples.jsonl"
	RouterLogFile = "router.log"
	VerdictFile   = "verdict.json"
)

// Run is what run.json says: everything that determines a run. Environment and request headers are
// no part of it.
type Run struct {
	Schema  string  `json:"schema"` // filled in
	Name    string  `json:"name"`   // of the scenario
	Seed    uint64  `json:"seed"`
	Clock   string  `json:"clock"` // "virtual" or "wall"
	Scale   float64 `json:"scale,omitempty"`
	Version string  `json:"version"` // of wedge
	Config  any     `json:"config"`  // the scenario with all defaults

	// What determines a run on the wall too, filled in when Clock is "wall" and left out otherwise, so
	// that a virtual run's bytes depend on its input alone.
	Go       string `json:"go,omitempty"`       // Go's version
	Platform string `json:"platform,omitempty"` // operating system and architecture
	Started  string `json:"started,omitempty"`  // calendar time, RFC 3339
}

// Bundle is a directory of evidence. Make one with [Create]. All methods may be called by several
// goroutines at once.
type Bundle struct {
	dir     string
	disk    disk
	o       Options
	secrets [][]byte

	mu     sync.Mutex // guards the rest
	err    error      // the first failure
	halted bool       // nothing is written any more
	gone   bool       // the directory was not where it should be when last looked for
	lost   int        // lines that no log could write
	dirs   []string   // made so far
	logs   []*Log
	closed bool
}

// Create makes the directory with its run.json: built beside dir under another name and renamed into
// place, so that dir never holds half a bundle and stays untouched if anything fails.
func Create(dir string, run Run, o Options) (*Bundle, error) {
	return create(dir, run, o, openDisk)
}

func create(dir string, run Run, o Options, open func(dir string) (disk, error)) (*Bundle, error) {
	run.Schema = Schema
	if run.Clock == "wall" {
		run.Go, run.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
		run.Started = time.Now().UTC().Format(time.RFC3339)
	}
	text, err := json.MarshalIndent(run, "", "\t")
	if err != nil {
		return nil, fmt.Errorf("bundle: %s of %s: %w", RunFile, dir, err)
	}
	b := &Bundle{o: o, secrets: secretsOf(o.Secrets)}
	text = b.redact(append(text, '\n'))
	if o.Resume {
		b.dir, b.disk, err = takeUp(dir, text, o.AppendLogs, open)
	} else {
		b.dir, b.disk, err = place(dir, text, o.Replace, open)
	}
	if err != nil {
		return nil, err
	}
	if o.Resume {
		if err := b.markInterrupted(); err != nil {
			b.disk.close()
			return nil, fmt.Errorf("bundle: %s cannot be resumed: %w", b.dir, withoutPath(err))
		}
	}
	return b, nil
}

// Dir returns the path of the bundle, "" for a nil one.
func (b *Bundle) Dir() string {
	if b == nil {
		return ""
	}
	return b.dir
}

// Err returns the first failure, or nil. Nothing has been written since, unless the bundle goes on.
func (b *Bundle) Err() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// fail keeps the first error.
func (b *Bundle) fail(what string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	consequence := "nothing more is written"
	if b.o.GoOn {
		consequence = "lines are lost until it can be written again"
	}
	b.keep(what, err, consequence)
	b.halted = b.halted || !b.o.GoOn
}

// stop keeps the error, if it is the first, and ends all writing, whatever the options say.
func (b *Bundle) stop(what string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep(what, err, "nothing more is written")
	b.halted = true
}

func (b *Bundle) keep(what string, err error, consequence string) {
	if b.err == nil {
		b.err = fmt.Errorf("bundle: %s: %s: %w; %s", b.dir, what, withoutPath(err), consequence)
	}
}

// stopped says whether nothing is written any more.
func (b *Bundle) stopped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.halted
}

// isGone says whether the directory vanished and has not come back.
func (b *Bundle) isGone() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = b.gone && b.disk.vanished() != nil
	return b.gone
}

// withoutPath takes off the path that the os package adds: the message has a better one.
func withoutPath(err error) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err
	}
	if at := new(os.LinkError); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Lost returns how many lines no log could write, be it that they were told by {"lost_lines":N} or
// not: 0 as long as there is no error.
func (b *Bundle) Lost() int {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// Log returns the log with the given name, which it makes, as the bundle's options say, if there is
// none.
func (b *Bundle) Log(name string) *Log {
	if b == nil {
		return nil
	}
	return b.OpenLog(name, LogOptions{Rotate: b.o.Rotate, Append: b.o.AppendLogs})
}

// OpenLog returns the log with the given name, which it makes, with options of its own, if there is
// none.
func (b *Bundle) OpenLog(name string, o LogOptions) *Log {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	for _, l := range b.logs {
		if l.name == name {
			b.mu.Unlock()
			return l
		}
	}
	l := &Log{b: b, name: name, o: o}
	l.writing.Lock() // before anybody else can see it
	defer l.writing.Unlock()
	b.logs = append(b.logs, l)
	b.mu.Unlock()
	l.begin()
	return l
}

// Flush brings every log's lines to the disk, and notices if the directory has vanished.
func (b *Bundle) Flush() {
	if b == nil {
		return
	}
	b.mu.Lock()
	logs := slices.Clone(b.logs)
	b.mu.Unlock()
	for _, l := range logs {
		l.flush(false)
	}
	if b.stopped() || b.isGone() {
		return
	}
	if err := b.disk.vanished(); err != nil {
		b.fail("the directory", err)
		b.mu.Lock()
		b.gone = true
		b.mu.Unlock()
		for _, l := range logs {
			l.drop()
		}
		return
	}
	for _, l := range logs {
		l.check()
	}
}

// Close flushes and closes the bundle and returns its first failure. A second call does nothing else.
func (b *Bundle) Close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	closed := b.closed
	b.mu.Unlock()
	if closed {
		return b.Err()
	}
	b.Flush()
	b.mu.Lock()
	b.closed = true
	logs := b.logs
	b.mu.Unlock()
	passed := true
	for _, l := range logs {
		passed = l.close() && passed
	}
	if passed {
		b.unmarkInterrupted()
	}
	b.disk.close()
	return b.Err()
}

// parent returns the folder of a slash-separated name within the bundle, "" for the bundle itself.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}
