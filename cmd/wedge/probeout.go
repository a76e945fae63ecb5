package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro"
	"example.com/wedge/repro/probe"
)

// roomFor says before anything is asked that the evidence could not be written.
func (f *probeFlags) roomFor() error {
	if f.out == "" {
		return nil
	}
	if _, err := os.Lstat(f.out); err == nil {
		return &repro.InputError{Source: "--out", Msg: fmt.Sprintf("found %s, which exists, want a path where nothing is", f.out)}
	}
	return nil
}

// probeRun is what run.json says of a probe. The key is no part of it.
type probeRun struct {
	Targets   []probe.Target `json:"targets"`
	RouterLog string         `json:"router_log,omitempty"`
	ForS      float64        `json:"for_s"`
	EveryS    float64        `json:"every_s"`
	Request   bool           `json:"request"`
	MaxTokens int            `json:"max_tokens"`
	LimitS    float64        `json:"limit_s"`
	Model     string         `json:"model,omitempty"`
}

// write writes the evidence as a bundle and returns its directory; "" without --out. It is that of a
// stall if calls were out all the time, else that of the end of a run.
func (f *probeFlags) write(r *probe.Report) (string, error) {
	if f.out == "" {
		return "", nil
	}
	o := &f.o
	b, err := bundle.Create(f.out, bundle.Run{Name: "probe", Clock: "wall", Scale: o.Scale, Version: version(), Config: probeRun{
		o.Targets, o.RouterLog, o.For.Seconds(), o.Every.Seconds(), o.Request, o.MaxTokens, o.Limit.Seconds(), o.Model,
	}}, bundle.Options{Secrets: []string{o.APIKey}})
	if err != nil {
		return "", err
	}
	r.Verdict.EvidenceDir = b.Dir()
	b.WriteJSON(bundle.VerdictFile, r.Document())
	b.WriteFile(bundle.SamplesLog, sampleLines(r))
	if r.Evidence != nil {
		dir := harness.EndDir
		if r.Evidence.Episode > 0 {
			dir = harness.StallDir(r.Evidence.Episode)
		}
		harness.WriteEvidence(b, dir, r.Evidence, nil)
		b.WriteJSON(dir+"/"+bundle.VerdictFile, r.Document())
		for _, d := range r.Dumps {
			b.WriteFile(dir+"/"+d.Name, d.Text)
		}
	}
	return b.Dir(), b.Close()
}

// sampleLines are the readings as a run's samples.
func sampleLines(r *probe.Report) []byte {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	for _, s := range r.Part.Readings {
		// A buffer takes everything, and a reading has no value that JSON lacks: the gauges of a page are
		// finite.
		_ = lines.Encode(struct {
			AtS    float64            `json:"t_s"`
			Sent   int                `json:"sent"`
			Calls  int                `json:"calls"`
			Error  string             `json:"error,omitempty"`
			Gauges map[string]float64 `json:"gauges"`
		}{s.AtS, s.Load, s.Load, s.Error, s.Gauges})
	}
	return out.Bytes()
}
