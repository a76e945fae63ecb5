package report

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzFiles puts any text in place of a file: a page comes of it, without anything in it that the text brought along,
// and no part of it fails.
func FuzzFiles(f *testing.F) {
	run, whole := bundleOf(f, "starvation", small...), soakOf(f)
	names := []string{"run.json", "verdict.json", "events.jsonl", "samples.jsonl", "stalls/01/verdict.json", "stalls/01/calls.json", "stalls/01/waits.json", "stalls/01/servers.json", "stalls/01/goroutines.txt", "soak.json", "windows.jsonl", "process.jsonl"}
	for i, name := range names {
		from := run
		if i >= 9 {
			from = whole
		}
		text := from[name]
		if text == nil {
			f.Fatalf("there is no %s to start from", name)
		}
		f.Add(uint8(i), text.Data[:min(len(text.Data), 1500)])
		f.Add(uint8(i), text.Data[:min(len(text.Data), 12_000)])
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		name := names[int(which)%len(names)]
		b := fstest.MapFS{"run.json": run["run.json"], "stalls/01/calls.json": run["stalls/01/calls.json"], "stalls/01/waits.json": run["stalls/01/waits.json"], "stalls/01/servers.json": run["stalls/01/servers.json"]}
		b[name] = &fstest.MapFile{Data: text}
		var out bytes.Buffer
		if err := Write(&out, b, Options{}); err != nil {
			if name != "run.json" {
				t.Fatal(err)
			}
			return
		}
		page := out.String()
		switch {
		case !strings.Contains(page, "</html>"):
			t.Errorf("%s: the page is not whole", name)
		case strings.Contains(page, "could not be shown"):
			t.Errorf("%s: a part of the page failed", name)
		case strings.Count(page, "<script") > 2 || strings.Contains(page, "<!--"):
			t.Errorf("%s: there is markup in the page that is none of its own", name)
		}
	})
}
