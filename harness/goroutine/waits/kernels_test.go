package waits_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A kernel is one of the blocking programs that come with Go, made from a bug of
// a well-known project (GoBench).
type kernel struct {
	name string
	// bench is GoBench's class. classes are those that the source shows, best
	// first; more than one where the interleaving decides.
	bench   string
	classes []string
	// sites are what Go's own test expects: "function(arguments) [state]".
	sites []*regexp.Regexp
}

// goroot asks the go command where its sources are.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// kernels reads testdata/kernels.txt, and the expected sites from GOROOT.
func kernels(t *testing.T) []kernel {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(goroot(t), "src/runtime/goroutineleakprofile_test.go"))
	if err != nil {
		t.Skipf("this Go has no kernels of goroutine leaks (it needs Go 1.26 with its sources): %v", err)
	}
	table, err := os.ReadFile("testdata/kernels.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []kernel
	for _, line := range strings.Split(string(table), "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Split(line, "|")
		if len(f) < 3 {
			continue
		}
		k := kernel{name: strings.TrimSpace(f[0]), bench: strings.TrimSpace(f[1]), classes: strings.Fields(f[2])}
		k.sites = expectedSites(string(source), k.name)
		list = append(list, k)
	}
	return list
}

// expectedSites finds the patterns of a case such as
//
//	makeFlakyTest("Etcd6873",
//		`pattern`,
//		`pattern`),
func expectedSites(source, name string) []*regexp.Regexp {
	call := regexp.MustCompile(`(?s)make(?:Flaky)?Test\((?:testCase\{name: )?"` + name + `"\}?,(.*?)\),?\s*(?://)?\s*\n\s*(?:make|//|\})`).FindStringSubmatch(source)
	if call == nil {
		return nil
	}
	var sites []*regexp.Regexp
	for _, m := range regexp.MustCompile("(?m)^[^`]*`([^`]*)`").FindAllStringSubmatch(call[1], -1) {
		sites = append(sites, regexp.MustCompile(m[1]))
	}
	return sites
}

// entries are the lines that Go's test matches: the function of the go statement
// and the state, with the wrapper around it, if any, as some cases name that.
func entries(g *goroutine.Goroutine) []string {
	var lines []string
	for i := len(g.Frames) - 1; i >= 0; i-- {
		name := g.Frames[i].Func
		if strings.HasPrefix(name, "runtime.") {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s(%s) [%s]", strings.TrimPrefix(name, "main."), g.Frames[i].Args, g.State))
		if !strings.Contains(name, ".gowrap") {
			break
		}
	}
	return lines
}

// A score is how one dump of a kernel was read.
type score struct {
	kernel
	present, found int // sites that are in the dump, and of them in the stuck set
	stuck, wrong   int // goroutines called stuck, and of them at no expected site
	moving         int // goroutines that run or could, main among them
	class          waits.FindingClass
	outcome        waits.Outcome
}

// stuckHere reports whether the kernel got stuck in the dump at all.
func (s *score) stuckHere() bool { return s.present > 0 }

func (s *score) classRight() bool { return slices.Contains(s.classes, string(s.class)) }

// judgeKernel scores the analysis of a dump.
func judgeKernel(k kernel, d *goroutine.Dump) score {
	a := waits.Analyze(d)
	s := score{kernel: k, outcome: a.Verdict.Outcome, stuck: len(a.Stuck)}
	stuck := map[int64]bool{}
	for _, id := range a.Stuck {
		stuck[id] = true
	}
	present, found := make([]bool, len(k.sites)), make([]bool, len(k.sites))
	for i := range d.Goroutines {
		g := &d.Goroutines[i]
		lines, expected := entries(g), false
		for n, site := range k.sites {
			if slices.ContainsFunc(lines, site.MatchString) {
				expected = true
				present[n] = true
				found[n] = found[n] || stuck[g.ID]
			}
		}
		if g.State == "running" || g.State == "runnable" || g.State == "sleep" {
			s.moving++
		}
		if stuck[g.ID] && !expected {
			s.wrong++
		}
	}
	s.present, s.found = count(present), count(found)
	if len(a.Findings) > 0 {
		s.class = a.Findings[0].Class
	}
	return s
}

func count(list []bool) int {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// scoreTable shows the scores, with the sums below.
func scoreTable(scores []score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-15s  %-43s  %-22s  %-22s   %5s %7s %5s %6s %5s  %s\n", "kernel", "GoBench", "class by the source", "class found", "sites", "in dump", "stuck", "gorout", "other", "outcome")
	var sites, present, found, sticks, right, abstained int
	for _, s := range scores {
		mark := " "
		sites += len(s.sites)
		present, found = present+s.present, found+s.found
		if s.stuckHere() {
			sticks++
			switch {
			case s.class == "":
				abstained++
				mark = "?"
			case s.classRight():
				right++
			default:
				mark = "!"
			}
		}
		class := string(s.class)
		if class == "" {
			class = "-"
		}
		fmt.Fprintf(&b, "%-15s  %-43s  %-22s  %-22s%s  %5d %7d %5d %6d %5d  %s\n", s.name, s.bench, s.classes[0], class, mark, len(s.sites), s.present, s.found, s.stuck, s.wrong, s.outcome)
	}
	fmt.Fprintf(&b, "\nkernels %d, stuck in their dump %d: class right %d, wrong %d, none given %d\n", len(scores), sticks, right, sticks-right-abstained, abstained)
	fmt.Fprintf(&b, "expected sites %d, in the dumps %d, of these in the stuck set %d\n", sites, present, found)
	return b.String()
}

// checkScores holds the scores to the aims: 95 of 100 sites, 90 of 100 classes.
func checkScores(t *testing.T, scores []score) {
	t.Helper()
	var present, found, sticks, right int
	for _, s := range scores {
		present, found = present+s.present, found+s.found
		if s.stuckHere() {
			sticks++
			if s.classRight() {
				right++
			}
		}
	}
	if found*100 < present*95 {
		t.Errorf("%d of %d expected sites are in the stuck set, want at least 95 of 100", found, present)
	}
	if right*100 < sticks*90 {
		t.Errorf("the class of %d of %d kernels is right, want at least 90 of 100", right, sticks)
	}
}

// parseGzip reads a dump that was recorded here.
func parseGzip(t *testing.T, path string) *goroutine.Dump {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	d, err := goroutine.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d
}

// TestKernelsRecorded scores one recorded dump of each kernel; TestIntegrationKernelsLive,
// with the tag integration, makes them anew.
func TestKernelsRecorded(t *testing.T) {
	var scores []score
	sites := 0
	for _, k := range kernels(t) {
		sites += len(k.sites)
		path := filepath.Join("testdata/kernels", k.name+".txt.gz")
		scores = append(scores, judgeKernel(k, parseGzip(t, path)))
	}
	table := scoreTable(scores)
	t.Log("\n" + table)
	golden(t, "testdata/kernels.golden", table)
	checkScores(t, scores)
	if strings.HasPrefix(runtime.Version(), "go1.26") && (len(scores) != 63 || sites != 110+2) {
		t.Errorf("%d kernels with %d sites, want 63 with 112: 110 and those of the case that Go's test leaves out", len(scores), sites)
	}
}

// golden compares with a file, or rewrites it under -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept):\n got:\n%s\nwant:\n%s", path, got, want)
	}
}
