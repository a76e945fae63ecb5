package goroutine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
)

const labelsSetting = "tracebacklabels"

// EnableLabels makes the runtime print pprof labels in text dumps of this
// process, by adding tracebacklabels=1 to GODEBUG in the environment; Go 1.26
// refuses the setting as a //go:debug line. What GODEBUG held stays, and a second
// call changes nothing. Child processes inherit it. It returns an error if labels
// still do not show, as before Go 1.26. Call it once at start: it is as unsafe
// beside other changes of GODEBUG as any os.Setenv.
func EnableLabels() error {
	old := os.Getenv("GODEBUG")
	if !hasLabelsSetting(old) {
		added := labelsSetting + "=1"
		if old != "" {
			added = old + "," + added
		}
		if err := os.Setenv("GODEBUG", added); err != nil {
			return fmt.Errorf("goroutine: enabling labels in dumps: %w", err)
		}
	}
	if !labelsShow() {
		return errors.New("goroutine: " + runtime.Version() + " does not print labels in dumps; Go 1.26 or later does")
	}
	return nil
}

// hasLabelsSetting reports whether the GODEBUG value turns labels on. The last
// mention of a setting counts.
func hasLabelsSetting(godebug string) bool {
	on := false
	for setting := range strings.SplitSeq(godebug, ",") {
		if value, ok := strings.CutPrefix(setting, labelsSetting+"="); ok {
			on = value == "1"
		}
	}
	return on
}

// labelsShow looks at the dump of a goroutine with a label. It needs one of its
// own, since the labels of the calling one cannot be read back to restore them.
func labelsShow() bool {
	shown := make(chan bool)
	go func() {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("probe", "")))
		buf := make([]byte, 1<<10)
		header, _, _ := bytes.Cut(buf[:runtime.Stack(buf, false)], []byte("\n"))
		var g Goroutine
		shown <- parseHeader(header, &g, new(names)) && len(g.Labels) == 1
	}()
	return <-shown
}
