package reprotest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/repro/reprotest"
)

var update = flag.Bool("update", false, "write the golden files")

// errIdle is how an attempt ends for which nothing has come for too long.
var errIdle = errors.New("nothing has come for too long")

// attemptsMax is how often a harness asks.
const attemptsMax = 8

// harness is somebody's own, of few lines: it has an article written, and asks again when that fails. idle is how
// long nothing may come; 0: for ever.
type harness func(ctx context.Context, k *reprotest.Kit, idle time.Duration) (article string, err error)

// again asks until one attempt succeeds.
func again(ctx context.Context, attempt func(ctx context.Context) (string, error)) (article string, err error) {
	for range attemptsMax {
		if article, err = attempt(ctx); err == nil || errors.Is(err, reprotest.ErrStalled) {
			break
		}
	}
	return article, err
}

// limited is a context that ends when nothing has come for a while. moved says that something has.
func limited(ctx context.Context, idle time.Duration) (_ context.Context, moved, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if idle == 0 {
		return ctx, func() {}, func() { cancel(nil) }
	}
	timer := time.AfterFunc(idle, func() { cancel(errIdle) })
	return ctx, func() { timer.Reset(idle) }, func() { timer.Stop(); cancel(nil) }
}

// tapped takes note of what a test says instead of failing.
type tapped struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (t *tapped) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func (t *tapped) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.said, "\n") + "\n"
}

// fatal takes note of what a test says last.
type fatal struct {
	testing.TB
	said string
}

func (t *fatal) Fatalf(format string, args ...any) {
	t.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// start starts a kit that is to be refused.
func (t *fatal) start(given ...reprotest.Option) {
	var over sync.WaitGroup
	over.Go(func() { reprotest.Start(t, given...) })
	over.Wait()
}

// fails runs a harness that is to fail the test, and returns what was said.
func fails(t *testing.T, run func(t *testing.T, k *reprotest.Kit), given ...reprotest.Option) (said string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tap := &tapped{TB: t}
		k := reprotest.Start(tap, given...)
		run(t, k)
		v, stalled := k.Verdict()
		if said = tap.text(); len(tap.said) != 1 || !stalled || v.Scenario == "" {
			t.Errorf("stalled %v, verdict %+v, said %q", stalled, v, said)
		}
	})
	return said
}

// golden compares a text with a file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (-update writes it):\n%s", path, text)
	}
}

// both runs a harness against silent streams with an idle limit, which must do, and without one, which must not.
func both(t *testing.T, name string, h harness) {
	t.Run("with an idle limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := reprotest.Start(t, reprotest.Scenario("silent-stream"))
			article, err := h(t.Context(), k, time.Minute)
			if c := k.Counts(); err != nil || article == "" || c.Completed == 0 || c.Requests < 2 {
				t.Errorf("%d bytes, %v, %+v", len(article), err, c)
			}
		})
	})
	t.Run("without", func(t *testing.T) {
		said := fails(t, func(t *testing.T, k *reprotest.Kit) {
			if _, err := h(t.Context(), k, 0); !errors.Is(err, reprotest.ErrStalled) {
				t.Errorf("ended with %v, want %v", err, reprotest.ErrStalled)
			}
		}, reprotest.Scenario("silent-stream"))
		golden(t, name+".txt", said)
	})
}

// TestReadme: the README shows what a test says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile("testdata/nethttp.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```text\n"+string(said)+"```") {
		t.Error("the section on go test in README.md does not have testdata/nethttp.txt as it is")
	}
}
