package reprotest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing/synctest"

	"example.com/wedge/harness/goroutine"
)

// ownBubble returns the number of the bubble of the calling goroutine, 0 for none.
func ownBubble() int64 {
	text := make([]byte, 4<<10)
	d, err := goroutine.Parse(bytes.NewReader(text[:runtime.Stack(text, false)]))
	if err != nil || len(d.Goroutines) == 0 {
		return 0
	}
	return d.Goroutines[0].Bubble
}

// Bounds of what is shown of the goroutines.
const (
	groupsShown = 12
	framesShown = 8
)

// among says whether a goroutine is one of the test's bubble; that which made it, and waits for its end, is not.
func (k *Kit) among(g *goroutine.Goroutine) bool {
	return g.Bubble == k.bubble && g.State != "synctest.Run"
}

// dump returns the goroutines of the test's bubble.
func (k *Kit) dump() (*goroutine.Dump, error) {
	var c goroutine.Capturer
	text, _ := c.Text()
	d, err := goroutine.Parse(bytes.NewReader(text))
	if err == nil {
		d.Goroutines = slices.DeleteFunc(d.Goroutines, func(g goroutine.Goroutine) bool { return !k.among(&g) })
	}
	return d, err
}

// leftBehind says whether goroutines of the harness are in the bubble besides the calling one, once all are blocked:
// while one runs, a dump may not say that it is in a bubble, such as when it helps the garbage collector.
func (k *Kit) leftBehind() bool {
	synctest.Wait()
	d, err := k.dump()
	from := newOrigins()
	return err == nil && slices.ContainsFunc(d.Goroutines, func(g goroutine.Goroutine) bool {
		return !g.HasFunc("reprotest.(*Kit).leftBehind") && slices.ContainsFunc(g.Frames, from.own)
	})
}

// goroutines writes where the test's own goroutines are, those at the same place together. Those that only
// carry requests, on either side, are counted.
func (k *Kit) goroutines(b *strings.Builder) {
	d, err := k.dump()
	if err != nil {
		fmt.Fprintf(b, "goroutines: %v\n", err)
		return
	}
	others, from := 0, newOrigins()
	d.Goroutines = slices.DeleteFunc(d.Goroutines, func(g goroutine.Goroutine) bool {
		if !slices.ContainsFunc(g.Frames, from.own) {
			others++
			return true
		}
		return false
	})
	groups := goroutine.Group(d)
	fmt.Fprintf(b, "goroutines of the test (and %d that carry requests), those at the same place together:\n", others)
	for i := range groups {
		if i == groupsShown {
			fmt.Fprintf(b, "  and %d places more\n", len(groups)-i)
			break
		}
		from.group(b, &groups[i])
	}
}

func (o origins) group(b *strings.Builder, g *goroutine.StackGroup) {
	fmt.Fprintf(b, "  %d %s:\n", g.Count(), waitsFor(g))
	shown := 0
	for _, f := range g.Frames {
		if !o.own(f) {
			continue
		}
		if shown == framesShown {
			b.WriteString("      ...\n")
			break
		}
		shown++
		fmt.Fprintf(b, "      %s %s:%d\n", f.Func, filepath.Base(f.File), f.Line)
	}
}

// waitsFor says what goroutines wait for: in words for those that wait for the servers, whose state is how the
// standard library waits.
func waitsFor(g *goroutine.StackGroup) string {
	for _, known := range []struct{ frame, words string }{
		{"reprotest.(*half).read", "reading an answer"},
		{"reprotest.(*half).write", "sending a request"},
		{"net/http.(*persistConn).roundTrip", "waiting for the headers of an answer"},
		{"net/http.(*Transport).getConn", "waiting for a connection"},
	} {
		if slices.ContainsFunc(g.Frames, func(f goroutine.Frame) bool { return strings.HasSuffix(f.Func, known.frame) }) {
			return fmt.Sprintf("%s (%s)", known.words, g.State)
		}
	}
	return g.State
}

// origins tells whose code a frame is.
type origins struct {
	standard string   // where the standard library's files are; empty: this program does not say
	modules  []string // paths of all others
}

func newOrigins() origins {
	var o origins
	file, _ := runtime.FuncForPC(reflect.ValueOf(strings.Cut).Pointer()).FileLine(0)
	o.standard, _ = strings.CutSuffix(filepath.ToSlash(file), "strings/strings.go")
	if info, ok := debug.ReadBuildInfo(); ok {
		o.modules = append(o.modules, info.Main.Path)
		for _, m := range info.Deps {
			o.modules = append(o.modules, m.Path)
		}
	}
	return o
}

// own says whether a frame is of the test, its harness or what that uses: neither of the standard library nor of
// what serves it here.
func (o origins) own(f goroutine.Frame) bool {
	if rest, wedges := strings.CutPrefix(f.Func, "example.com/wedge/"); wedges {
		return strings.Contains(rest, "_test.")
	}
	if o.standard != "" {
		return !strings.HasPrefix(filepath.ToSlash(f.File), o.standard)
	}
	return slices.ContainsFunc(o.modules, func(m string) bool {
		return m != "" && (strings.HasPrefix(f.Func, m+".") || strings.HasPrefix(f.Func, m+"/"))
	})
}
