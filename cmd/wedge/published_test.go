package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"example.com/wedge/repro/published"
)

func TestPublishedList(t *testing.T) {
	out, errs, code := wedgeHere(t, "published")
	if code != exitOK || errs != "" {
		t.Errorf("exit code %d, %q", code, errs)
	}
	golden(t, "testdata/published.txt", out)
	out, _, _ = wedgeHere(t, "published", "--json")
	var list []publishedEntry
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != len(published.All()) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPublished replays results that take no time: the table, the page, the figures, JSON.
func TestPublished(t *testing.T) {
	for file, name := range map[string]string{"published-openai-go.txt": "openai-go", "published-timeout-cliff.txt": "timeout-cliff"} {
		t.Run(name, func(t *testing.T) {
			file := here(t, "testdata/"+file)
			t.Chdir(t.TempDir())
			out, errs, code := wedgeHere(t, "published", name, "--html", "page.html", "--svg", "figure.svg")
			if code != exitOK || errs != "" {
				t.Fatalf("exit code %d, %q\n%s", code, errs, out)
			}
			golden(t, file, out)
			wellFormed(t, "figure.svg")
			if text := readFile(t, "page.html"); !strings.Contains(text, "wedge published "+name) || !strings.Contains(text, "<svg") || strings.Contains(text, "https://cdn") {
				t.Error("the page lacks its command or its figure, or needs something else")
			}
			out, _, code = wedgeHere(t, "published", name, "--json", "--seeds", "2")
			var r published.Report
			if err := json.Unmarshal([]byte(out), &r); err != nil || r.Schema != published.Schema || r.Seeds != 2 || (code == exitOK) != r.Right {
				t.Errorf("%v, exit code %d, %+v", err, code, r)
			}
		})
	}
}

func wellFormed(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := xml.NewDecoder(f); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// TestPublishedWrong prints a report that is not within its tolerance.
func TestPublishedWrong(t *testing.T) {
	var b strings.Builder
	r := published.Report{Name: "n", Source: "s", About: "a", Seeds: 3, Rows: []published.Row{
		{What: "one", Grade: published.GradeToy, Expected: "1", Here: "1", Tolerance: "± 1", Right: true},
		{What: "two", Grade: published.GradePublished, Expected: "2", Here: "9", Tolerance: "± 1"},
	}}
	if err := printPublished(&b, &r); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/published-wrong.txt", b.String())
	if page := publishedPage([]*published.Report{&r}); page.Title != "1 of 2 rows are within their tolerance" || page.Command != "wedge published n" {
		t.Errorf("%q, %q", page.Title, page.Command)
	}
}

// TestOpenAIGoPreset: the preset does in the measured table what the package's own policy does.
func TestOpenAIGoPreset(t *testing.T) {
	r, _ := published.Find("openai-go")
	own := r.Run(published.Options{})
	out, _, _ := wedge(t, "published", "openai-go", "--json")
	var preset published.Report
	if err := json.Unmarshal([]byte(out), &preset); err != nil {
		t.Fatal(err)
	}
	for i := range own.Rows {
		if own.Rows[i] != preset.Rows[i] {
			t.Errorf("own policy:\n%+v\npreset:\n%+v", own.Rows[i], preset.Rows[i])
		}
	}
}

func TestPublishedBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"published \"no-such\": no such result, want one of msf-model": {"published", "no-such"},
		"--seeds: found 0, want a number from 1 to":                    {"published", "openai-go", "--seeds", "0"},
		"--seeds: found \"many\"":                                      {"published", "openai-go", "--seeds", "many"},
		"--svg: found it without the name of a result":                 {"published", "--svg", "x.svg"},
		"retry-panels: found it after \"msf-model\"":                   {"published", "msf-model", "retry-panels"},
		"--html: open no/such/page.html: no such file or direc":        {"published", "openai-go", "--html", "no/such/page.html"},
	} {
		out, errs, code := wedge(t, args...)
		if code != exitUsage || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}
