package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Files of a capture. They stand in the folder of the episode, stalls/NN, or in end for the capture
// at the end of the run. The latest capture has these names; those of an earlier one have its number
// before the extension, such as calls-1.json and goroutines-1.pb.gz.
const (
	CallsFile          = "calls.json"          // agents and calls, what has been finished, and the set-up
	WaitsFile          = "waits.json"          // waiting objects with holders and waiters, and processes
	WaitsDOT           = "waits.dot"           // who waits for whom, for Graphviz, if Options.Graph tells
	WaitsSVG           = "waits.svg"           // the same, drawn
	ServersFile        = "servers.json"        // samples of the gauges, and what the router's log says
	GoroutinesText     = "goroutines.txt"      // the dump
	GoroutinesProfile  = "goroutines.pb.gz"    // the same for go tool pprof
	LeaksProfile       = "goroutineleak.pb.gz" // goroutines blocked for good, as the collector proves; Go 1.27
	GoroutinesViewFile = "goroutines.json"     // what the dump says about the agents
	VerdictFile        = bundle.VerdictFile    // what Judge made of it
	EndDir             = "end"                 // of the capture at the end of the run
	stallDirs          = "stalls"              // of the episodes' folders
	evidenceSchema     = "wedge.evidence/1"    // of every file but the dump and the verdict
)

// captureFiles are all files of a capture.
var captureFiles = [...]string{CallsFile, WaitsFile, WaitsDOT, WaitsSVG, ServersFile, GoroutinesText, GoroutinesProfile, LeaksProfile, GoroutinesViewFile, VerdictFile}

// StallDir returns the folder of an episode within a bundle, such as "stalls/01".
func StallDir(episode int) string { return fmt.Sprintf("%s/%02d", stallDirs, episode) }

// numbered returns the name of a file of an earlier capture.
func numbered(name string, capture int) string {
	stem, ext, _ := strings.Cut(name, ".")
	return fmt.Sprintf("%s-%d.%s", stem, capture, ext)
}

// evidenceHead begins every file of a capture, so that none of them can be mistaken for another's.
type evidenceHead struct {
	Schema     string        `json:"schema"`
	Run        string        `json:"run"`
	Episode    int           `json:"episode"`
	Capture    int           `json:"capture"`
	At         sim.Instant   `json:"at_ns"`
	StalledFor time.Duration `json:"stalled_for_ns"`
	DetectedAt sim.Instant   `json:"detected_at_ns,omitempty"`
}

type callsFile struct {
	evidenceHead
	Setup   Setup             `json:"setup"`
	Totals  Totals            `json:"totals"`
	Window  Totals            `json:"window"`
	Agents  []AgentState      `json:"agents"`
	Unheard []AgentEnd        `json:"unheard,omitempty"`
	Tools   []ToolStats       `json:"tools"`
	Calls   []pacer.CallState `json:"calls"`
}

type waitsFile struct {
	evidenceHead
	Objects   []sim.ObjectState  `json:"objects"`
	Processes []sim.ProcessState `json:"processes"`
}

type serversFile struct {
	evidenceHead
	Samples []Sample    `json:"samples"`
	Router  *RouterView `json:"router"`
}

type goroutinesFile struct {
	evidenceHead
	Goroutines *GoroutineView `json:"goroutines"`
	Err        string         `json:"error,omitempty"` // why there is no dump
}

// drawWaits writes the graph of who waits for whom, if somebody tells it.
func (f *Fleet) drawWaits(dir string, now, before *Evidence) {
	if f.o.Bundle == nil || f.o.Graph == nil {
		return
	}
	g := f.o.Graph(now, before)
	title := fmt.Sprintf("Who waits for whom: %s at %s", now.Run, time.Duration(now.At).Round(time.Second))
	var dot, svg bytes.Buffer // which do not fail
	_, _ = g.WriteDOT(&dot, title), g.WriteSVG(&svg, title)
	f.o.Bundle.WriteFile(path.Join(dir, WaitsDOT), dot.Bytes())
	f.o.Bundle.WriteFile(path.Join(dir, WaitsSVG), svg.Bytes())
}

// writeCapture writes the files of a capture, but for the verdict. Those of the one before keep a
// place beside them.
func writeCapture(b *bundle.Bundle, dir string, e *Evidence, d *dump) {
	if b == nil {
		return
	}
	if e.Capture > 1 {
		for _, name := range captureFiles {
			b.Rename(path.Join(dir, name), path.Join(dir, numbered(name, e.Capture-1)))
		}
	}
	head := evidenceHead{evidenceSchema, e.Run, e.Episode, e.Capture, e.At, e.StalledFor, e.DetectedAt}
	b.WriteJSON(path.Join(dir, CallsFile), callsFile{head, e.Setup, e.Totals, e.Window, e.Agents, e.Unheard, e.Tools, e.Calls})
	b.WriteJSON(path.Join(dir, WaitsFile), waitsFile{head, e.Objects, e.Processes})
	b.WriteJSON(path.Join(dir, ServersFile), serversFile{head, e.Samples, e.Router})
	if e.Goroutines != nil || e.DumpErr != "" {
		b.WriteJSON(path.Join(dir, GoroutinesViewFile), goroutinesFile{head, e.Goroutines, e.DumpErr})
	}
	if d != nil {
		b.WriteFile(path.Join(dir, GoroutinesText), d.text)
		b.WriteFile(path.Join(dir, GoroutinesProfile), d.profile)
		if len(d.leaks) > 0 {
			b.WriteFile(path.Join(dir, LeaksProfile), d.leaks)
		}
	}
}

// ReadEvidence reads a capture back from a bundle: of the folder dir ("stalls/01", or [EndDir]), the
// capture with the given number, or the latest one if that is 0. What is known of its end only (EndedAt, EndedBy,
// EndTotals, After) is not part of it.
func ReadEvidence(fsys fs.FS, dir string, capture int) (*Evidence, error) {
	var (
		calls      callsFile
		waits      waitsFile
		servers    serversFile
		goroutines goroutinesFile
	)
	err := cmp.Or(
		readPart(fsys, dir, CallsFile, capture, &calls),
		readPart(fsys, dir, WaitsFile, capture, &waits),
		readPart(fsys, dir, ServersFile, capture, &servers),
	)
	if err != nil {
		return nil, fmt.Errorf("harness: reading evidence: %w", err)
	}
	h := calls.evidenceHead
	if h.Schema != evidenceSchema || waits.evidenceHead != h || servers.evidenceHead != h || capture > 0 && h.Capture != capture {
		return nil, fmt.Errorf("harness: reading evidence: the files of capture %d in %s are not of one capture", capture, dir)
	}
	// A run without dumps has none.
	if readPart(fsys, dir, GoroutinesViewFile, capture, &goroutines) != nil || goroutines.evidenceHead != h {
		goroutines = goroutinesFile{}
	}
	return &Evidence{
		Run: h.Run, Episode: h.Episode, Capture: h.Capture, At: h.At, StalledFor: h.StalledFor, DetectedAt: h.DetectedAt,
		Setup: calls.Setup, Totals: calls.Totals, Window: calls.Window, Agents: calls.Agents, Unheard: calls.Unheard, Tools: calls.Tools, Calls: calls.Calls,
		Objects: waits.Objects, Processes: waits.Processes, Samples: servers.Samples, Router: servers.Router,
		Goroutines: goroutines.Goroutines, DumpErr: goroutines.Err,
	}, nil
}

// readPart reads a file of a capture, which has its number in its name unless it is the latest.
func readPart(fsys fs.FS, dir, name string, capture int, into any) error {
	latest := path.Join(dir, name)
	text, err := readBounded(fsys, latest)
	if capture > 0 {
		if earlier, err := readBounded(fsys, path.Join(dir, numbered(name, capture))); err == nil {
			text = earlier
		}
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", latest, err)
	}
	return nil
}

// captureBytesMax bounds a file of a capture that is read: in the place of one may be anything.
const captureBytesMax = 256 << 20

func readBounded(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, captureBytesMax+1))
	if err == nil && len(text) > captureBytesMax {
		err = fmt.Errorf("%s: found more than %d MiB, want a file of evidence", name, captureBytesMax>>20)
	}
	return text, err
}
