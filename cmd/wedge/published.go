package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
	"example.com/wedge/repro/compare/report"
	"example.com/wedge/repro/published"
)

// publishedFlags are the flags of wedge published.
type publishedFlags struct {
	seeds     int
	json      bool
	html, svg string
}

func newPublished() *cobra.Command {
	var f publishedFlags
	cmd := &cobra.Command{
		Use:   "published [NAME]",
		Short: "Replay what others have published on timeouts, retries and metastable failures",
		Long: `published replays results on timeouts, retries and overload that others have published or measured, and holds what comes out
against them, each with a stated tolerance. Without a name it lists them; the name all stands for all of them.

Exit codes: 0 everything is within its tolerance; 1 something is not; 2 bad input.`,
		Example: `  wedge published                     the list
  wedge published single-server       one server, one retry and an outage of ten seconds
  wedge published retry-panels --seeds 100 --html panels.html`,
		Args: atMostOne("result"),
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 0, "runs behind each row that has chance in it (default the result's own number)")
	flags.BoolVar(&f.json, "json", false, "print it as JSON")
	flags.StringVar(&f.html, "html", "", "write a page with the tables and figures to this file as well; it needs nothing else")
	flags.StringVar(&f.svg, "svg", "", "write the first figure to this file as well, further ones beside it as FILE-2.svg and so on")
	return cmd
}

func (f *publishedFlags) run(cmd *cobra.Command, args []string) error {
	results, err := f.results(cmd, args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return unwritten(printPublishedList(cmd.OutOrStdout(), results, f.json))
	}
	client, err := preset.Get("openai-go-3")
	if err != nil {
		return err
	}
	o := published.Options{Seeds: f.seeds, Each: onAllCores, OpenAIGo: &client.Policy}
	var reports []*published.Report
	right := true
	for i := range results {
		if err := cmd.Context().Err(); err != nil {
			return &exitError{code: exitInterrupted}
		}
		r := results[i].Run(o)
		reports = append(reports, r)
		right = right && r.Right
		if !f.json {
			if err := printPublished(cmd.OutOrStdout(), r); err != nil {
				return unwritten(err)
			}
		}
	}
	if f.json {
		if err := printJSON(cmd.OutOrStdout(), reports, args[0] != allResults); err != nil {
			return unwritten(err)
		}
	}
	if err := f.files(reports); err != nil {
		return err
	}
	if !right {
		return &exitError{code: exitMismatch}
	}
	return nil
}

// allResults is the name that stands for all of them.
const allResults = "all"

// results are those that are asked for: all if none is named.
func (f *publishedFlags) results(cmd *cobra.Command, args []string) ([]published.Result, error) {
	if cmd.Flags().Changed("seeds") && (f.seeds < 1 || f.seeds > published.SeedsMax) {
		return nil, &repro.InputError{Source: "--seeds", Msg: fmt.Sprintf("found %d, want a number from 1 to %d", f.seeds, published.SeedsMax)}
	}
	if len(args) == 0 {
		for _, name := range []string{"seeds", "html", "svg"} {
			if cmd.Flags().Changed(name) {
				return nil, &repro.InputError{Source: "--" + name, Msg: "found it without the name of a result, want one (wedge published lists them)"}
			}
		}
		return published.All(), nil
	}
	if args[0] == allResults {
		return published.All(), nil
	}
	r, ok := published.Find(args[0])
	if !ok {
		var names []string
		for _, r := range published.All() {
			names = append(names, r.Name)
		}
		return nil, &repro.InputError{Source: fmt.Sprintf("published %q", args[0]), Msg: "no such result, want one of " + strings.Join(names, ", ") + ", " + allResults}
	}
	return []published.Result{r}, nil
}

// files writes the page and the figures, if they are asked for.
func (f *publishedFlags) files(reports []*published.Report) error {
	if f.html != "" {
		var b bytes.Buffer
		if err := report.Write(&b, publishedPage(reports)); err != nil {
			return &exitError{code: exitFailed, err: err}
		}
		if err := os.WriteFile(f.html, b.Bytes(), 0o644); err != nil {
			return &repro.InputError{Source: "--html", Msg: err.Error()}
		}
	}
	if f.svg == "" {
		return nil
	}
	n := 0
	for _, r := range reports {
		for i := range r.Figures {
			text, err := drawPublished(&r.Figures[i])
			if err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			n++
			if err := os.WriteFile(numbered(f.svg, n), text, 0o644); err != nil {
				return &repro.InputError{Source: "--svg", Msg: err.Error()}
			}
		}
	}
	return nil
}

// numbered is a file's name for the first of several, and with a number before its ending for others.
func numbered(file string, n int) string {
	if n == 1 {
		return file
	}
	ext := filepath.Ext(file)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), n, ext)
}

// onAllCores is published.Options.Each on as many goroutines as there are cores.
func onAllCores(n int, do func(int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
}

func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
}

// printJSON writes the only report, or a list of them.
func printJSON(w io.Writer, reports []*published.Report, single bool) error {
	var v any = reports
	if single {
		v = reports[0]
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
