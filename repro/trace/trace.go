package trace

import (
	"fmt"
	"io"
	"io/fs"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/record"
	"example.com/wedge/harness/sim"
)

// File is the name of the trace in a bundle.
const File = "trace.json"

// Options say how much of a bundle is shown. The zero value shows all of it.
type Options struct {
	// JournalBytesMax bounds how much of events.jsonl is read: its latest bytes. The trace has about
	// as many bytes. 0: all.
	JournalBytesMax int64
}

// Processes of a trace, in the order in which they are shown.
const (
	pidRun = 1 + iota
	pidAgents
	pidServers
)

// Write writes the trace of the bundle in fsys. The error is that of a log that cannot be read or is
// broken (see [record.ReadAll]), or of w.
func Write(w io.Writer, fsys fs.FS, o Options) error {
	to := newOut(w)
	to.name("process", track{pid: pidRun}, "run", pidRun)
	to.name("process", track{pid: pidAgents}, "agents", pidAgents)
	to.name("process", track{pid: pidServers}, "servers", pidServers)
	router, err := openRouter(to, fsys)
	if err != nil {
		return err
	}
	defer router.close()
	f := &fleet{out: to, router: router, tracks: map[string]*agentTrack{}}
	sum, err := record.ReadLatest(fsys, bundle.EventsLog, o.JournalBytesMax, f.handler())
	if err != nil {
		return err
	}
	f.stages.finish(to)
	if err := router.finish(sum.To); err != nil {
		return err
	}
	if err := writeGauges(to, fsys, sum.From); err != nil {
		return err
	}
	if note := coverage(&sum); note != "" {
		to.metadata(track{pid: pidRun}, "process_labels")
		to.text("labels", note)
		to.end()
	}
	return to.close(aboutOf(&sum))
}

// about is what the trace says of itself.
type about struct {
	Tool      string  `json:"tool"`
	Run       string  `json:"run"`
	Clock     string  `json:"clock"`
	FromS     float64 `json:"from_s"`
	ToS       float64 `json:"to_s"`
	LostLines int     `json:"lost_lines,omitempty"`
	Ended     bool    `json:"ended"`
	Coverage  string  `json:"coverage"`
}

func aboutOf(sum *record.Summary) about {
	a := about{
		Tool: "wedge", Run: sum.Run, Clock: "the run's own, in microseconds since its start", LostLines: sum.Lost, Ended: sum.Ended,
		FromS: float64(sum.From) / 1e9, ToS: float64(sum.To) / 1e9, Coverage: coverage(sum),
	}
	if a.Coverage == "" {
		a.Coverage = "the whole run"
	}
	return a
}

// coverage says what the trace does not show; empty if it shows all.
func coverage(sum *record.Summary) string {
	text := ""
	add := func(format string, args ...any) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf(format, args...)
	}
	if sum.Cut {
		add("from %v on, what was before is left out", sum.From)
	}
	if sum.Lost > 0 {
		add("%d lines of the journal were lost", sum.Lost)
	}
	if !sum.Ended {
		add("up to %v, where the journal breaks off", sum.To)
	}
	return text
}

// clamp returns at, or the nearer of two limits if it lies outside them.
func clamp(at, from, to sim.Instant) sim.Instant { return max(from, min(at, to)) }
