//go:build integration

package waits_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

var (
	record = flag.Bool("record", false, "keep the dumps of this run in testdata/kernels")
	runs   = flag.Int("runs", 3, "the runs of each kernel; the one that sticks best counts")
)

const kernelsDir = "src/runtime/testdata/testgoroutineleakprofile/goker"

// buildKernels builds the kernels straight from GOROOT. Without the experiment
// that marks leaks the nil profile makes main panic, and with GOTRACEBACK=system
// the panic dumps all goroutines; with it the dump has the marks.
func buildKernels(t *testing.T, experiment string) string {
	t.Helper()
	root := goroot(t)
	dir := filepath.Join(root, kernelsDir)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("this Go has no kernels of goroutine leaks (it needs Go 1.26 with its sources): %v", err)
	}
	exe := filepath.Join(t.TempDir(), "kernels.exe")
	build := exec.Command(filepath.Join(root, "bin", "go"), "build", "-trimpath", "-o", exe)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT="+experiment)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the kernels: %v\n%s", err, out)
	}
	return exe
}

// runKernel returns what one run prints.
func runKernel(t *testing.T, exe, name string, procs int) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, name)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOTRACEBACK=system", "GOMAXPROCS="+strconv.Itoa(procs))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err == nil && out.Len() == 0 {
		t.Skip("the goroutineleak profile exists without the experiment: this Go is newer than 1.26")
	}
	return out.Bytes()
}

// TestIntegrationKernelsLive builds and runs the kernels and scores their dumps.
func TestIntegrationKernelsLive(t *testing.T) {
	list := kernels(t)
	exe := buildKernels(t, "")
	var scores []score
	for _, k := range list {
		var best score
		var text []byte
		for run, procs := range bestOf(*runs) {
			out := runKernel(t, exe, k.name, procs)
			d, err := goroutine.Parse(bytes.NewReader(out))
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			s := judgeKernel(k, d)
			if run == 0 || s.present > best.present || s.present == best.present && s.moving < best.moving {
				best, text = s, out
			}
			if best.present == len(k.sites) && best.moving <= 1 {
				break
			}
		}
		scores = append(scores, best)
		if *record {
			writeGzip(t, filepath.Join("testdata/kernels", k.name+".txt.gz"), text)
		}
	}
	t.Log("\n" + scoreTable(scores))
	checkScores(t, scores)
}

// TestIntegrationKernelsLeakKey holds the stuck set to what the runtime proves: the same
// programs with the experiment mark the goroutines that nobody can reach. The marks
// are taken off before the analysis, and main is made to panic, as in the other build. Such a
// dump has no addresses of channels and no frames of the runtime.
func TestIntegrationKernelsLeakKey(t *testing.T) {
	exe := buildKernels(t, "goroutineleakprofile")
	var marked, stuck, both, expected, deadlocked int
	for _, k := range kernels(t) {
		d, err := goroutine.Parse(bytes.NewReader(runKernel(t, exe, k.name, 2)))
		if err != nil {
			t.Fatal(err)
		}
		leaked, site := map[int64]bool{}, map[int64]bool{}
		for i := range d.Goroutines {
			g := &d.Goroutines[i]
			if g.Leaked {
				leaked[g.ID] = true
				g.Leaked = false
			}
			site[g.ID] = slices.ContainsFunc(k.sites, func(r *regexp.Regexp) bool { return slices.ContainsFunc(entries(g), r.MatchString) })
			if g.ID == 1 {
				g.Frames = append([]goroutine.Frame{{Func: "panic", Args: "0x1"}}, g.Frames[3:]...)
			}
		}
		a := waits.Analyze(d)
		hit := 0
		for _, id := range a.Stuck {
			if leaked[id] {
				hit++
			} else if site[id] {
				expected++ // the search for leaks is incomplete: a stale word on a stack hides one
			}
		}
		if hit < len(a.Stuck) || hit < len(leaked) {
			t.Logf("%-16s %5d leaked, %5d called stuck, %5d of them leaked; %s", k.name, len(leaked), len(a.Stuck), hit, a.Verdict.Outcome)
		}
		marked, stuck, both = marked+len(leaked), stuck+len(a.Stuck), both+hit
		if a.Verdict.Outcome == waits.Deadlocked {
			deadlocked++
		}
	}
	t.Logf("%d goroutines are leaked; %d are called stuck, %d of these are leaked and %d more at expected sites; %d kernels are called deadlocked", marked, stuck, both, expected, deadlocked)
	if (both+expected)*100 < stuck*95 {
		t.Errorf("of %d goroutines called stuck %d are leaked and %d at expected sites, want at least 95 of 100", stuck, both, expected)
	}
	// One that goes on and is near nobody makes the analysis abstain from the whole dump, be it of 2,000.
	if both*100 < marked*80 {
		t.Errorf("of %d leaked goroutines %d are called stuck, want at least 80 of 100", marked, both)
	}
}

// bestOf lists numbers of processors, one a run: interleavings differ by them.
func bestOf(n int) []int {
	procs := make([]int, n)
	for i := range procs {
		procs[i] = []int{2, 1, 4, 8}[i%4]
	}
	return procs
}

// TestIntegrationKernelsAtStart interrupts the same programs just after their start, when
// their main goroutine goes on: nothing may be called a deadlock.
func TestIntegrationKernelsAtStart(t *testing.T) {
	exe := buildKernels(t, "")
	dumps := 0
	for _, k := range kernels(t) {
		cmd := exec.CommandContext(t.Context(), exe, k.name)
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOTRACEBACK=system")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * time.Millisecond)
		interrupt(cmd.Process)
		cmd.Wait()
		if !strings.Contains(out.String(), "SIGQUIT") {
			continue // it had ended, or not yet begun
		}
		text := out.Bytes()
		d, err := goroutine.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		dumps++
		if *record && len(text) < startBytesMax {
			writeGzip(t, filepath.Join("testdata/start", k.name+".txt.gz"), text)
		}
		if a := waits.Analyze(d); a.Verdict.Outcome == waits.Deadlocked {
			t.Errorf("%s just after its start is called deadlocked: %s", k.name, a.Verdict.Reason)
		}
	}
	t.Logf("%d of the programs were interrupted in time", dumps)
}

// startBytesMax bounds the dumps of starts that are kept.
const startBytesMax = 60_000

func writeGzip(t *testing.T, path string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
