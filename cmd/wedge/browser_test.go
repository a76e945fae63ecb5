//go:build integration

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// screenshotsVariable is the environment variable with the directory that keeps the pictures of pages. Without it
// they go with the test.
const screenshotsVariable = "WEDGE_SCREENSHOTS"

// browserWithin bounds all that is done in a browser.
const browserWithin = 2 * time.Minute

// browser is a Chromium without a window.
type browser struct {
	ctx      context.Context
	wedge    string // the program
	pictures string // a directory
}

// TestIntegrationBrowser opens reports and live pages in a browser, as people do. It is not run beside other tests: a
// browser takes the time of the machine that runs on the wall clock need.
func TestIntegrationBrowser(t *testing.T) {
	b := openBrowser(t)
	b.wedge = build(t, ".")
	t.Run("report", b.reports)
	t.Run("live", b.live)
	t.Run("live-hostile", b.liveHostile)
}

// openBrowser starts Debian's Chromium.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: .ci/clients installs it", err)
	}
	b := &browser{pictures: os.Getenv(screenshotsVariable)}
	if b.pictures == "" {
		b.pictures = t.TempDir()
	} else if err := os.MkdirAll(b.pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserWithin)
	t.Cleanup(cancel)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-gpu", true))
	if os.Getuid() == 0 { // root has no sandbox
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancelAllocator)
	tab, cancelTab := chromedp.NewContext(allocator)
	t.Cleanup(cancelTab)
	if err := chromedp.Do(tab); err != nil { // it starts, and lives as long as this context
		t.Fatal(err)
	}
	b.ctx = tab
	return b
}

// look is a way of looking at a page.
type look struct {
	width, height int64 // pixels
	dark          bool
}

// looks are those that every page must stand.
var looks = []look{{1280, 900, false}, {1280, 900, true}, {390, 844, false}, {390, 844, true}}

func (l look) String() string {
	if l.dark {
		return fmt.Sprintf("%d-dark", l.width)
	}
	return fmt.Sprintf("%d-light", l.width)
}

// visit is a page that is open in a tab of its own.
type visit struct {
	t      *testing.T
	b      *browser
	ctx    context.Context
	name   string // of its pictures
	origin string // of all it may ask for

	mu       sync.Mutex
	wrong    []string // errors on the console, exceptions, loads that failed
	requests []string
}

// open opens a page, in a tab that is closed with the test. Whatever goes wrong in it from here on is kept.
func (b *browser) open(t *testing.T, name, url, origin string) *visit {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	v := &visit{t: t, b: b, ctx: ctx, name: name, origin: origin}
	if err := chromedp.Listen(ctx, v.hear); err != nil {
		t.Fatal(err)
	}
	v.do(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), command(runtime.Enable, cdp.Empty{}))
	v.look(looks[0])
	v.do(chromedp.Navigate(url))
	return v
}

// hear takes note of what goes wrong.
func (v *visit) hear(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if o := e.ExceptionDetails.Exception; o != nil {
			text += " " + o.Description
		}
		v.wrong = append(v.wrong, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			var text []string
			for _, a := range e.Args {
				text = append(text, string(a.Value)+a.Description)
			}
			v.wrong = append(v.wrong, fmt.Sprintf("console.%s: %s", e.Type, strings.Join(text, " ")))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			v.wrong = append(v.wrong, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		v.requests = append(v.requests, e.Request.URL)
	}
}

// command is a command of the browser's protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (v *visit) do(actions ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	if err := chromedp.Do(v.ctx, actions...); err != nil {
		v.t.Fatalf("%s: %v", v.name, err)
	}
}

// look changes size and colours.
func (v *visit) look(l look) {
	v.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	v.do(
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.width < 600,
		}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}),
	)
}

// value evaluates an expression in the page.
func value[T any](v *visit, expression string) T {
	v.t.Helper()
	out, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		v.t.Fatalf("%s: %s: %v", v.name, expression, err)
	}
	return out
}

// until waits until an expression in the page is true.
func (v *visit) until(expression string) {
	v.t.Helper()
	poll := chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second))
	if err := chromedp.Do(v.ctx, poll); err != nil {
		v.t.Fatalf("%s: waiting for %s: %v\n%s", v.name, expression, err, strings.Join(v.wrong, "\n"))
	}
}

// pictures takes a picture of the whole page in each look, and finds out whether it is wider than the window.
func (v *visit) pictures() {
	v.t.Helper()
	for _, l := range looks {
		v.look(l)
		if wide := value[int64](v, "document.documentElement.scrollWidth"); wide > l.width {
			v.t.Errorf("%s: %v: the page is %d pixels wide", v.name, l, wide)
		}
		if err := os.WriteFile(filepath.Join(v.b.pictures, v.name+"-"+l.String()+".png"), v.picture(l), 0o644); err != nil {
			v.t.Fatal(err)
		}
	}
	v.look(looks[0])
}

// Of a picture: a browser that is short of time now and then never takes one, and does so when asked again.
const (
	pictureWithin = 5 * time.Second
	pictureTries  = 5
)

// picture takes a picture of the whole page: the window is made as high as it is.
func (v *visit) picture(l look) (png []byte) {
	v.t.Helper()
	l.height = value[int64](v, "document.documentElement.scrollHeight")
	v.look(l)
	var err error
	for range pictureTries {
		ctx, cancel := context.WithTimeout(v.ctx, pictureWithin)
		png, err = chromedp.Run(ctx, chromedp.CaptureScreenshot())
		cancel()
		if err == nil {
			return png
		}
	}
	v.t.Fatalf("%s: %v: %v", v.name, l, err)
	return nil
}

// clean fails the test if something has gone wrong in the page, or it has asked for something from elsewhere.
func (v *visit) clean() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.wrong {
		v.t.Errorf("%s: %s", v.name, w)
	}
	if len(v.requests) == 0 {
		v.t.Errorf("%s: no request was seen, not even for the page", v.name)
	}
	for _, url := range v.requests {
		if !strings.HasPrefix(url, v.origin) && !strings.HasPrefix(url, "data:") {
			v.t.Errorf("%s: asks for %s", v.name, url)
		}
	}
}
