package container_test

import (
	"fmt"
	"io"
	"strings"

	"example.com/wedge/harness/goroutine/container"
)

func ExampleReader() {
	r := container.NewReader(strings.NewReader(`api-1  | {"log":"goroutine 1 [running]:\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}
api-1  | {"log":"main.main()\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}
api-1  | {"log":"\t/app/main.go:12 +0x1d\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}
`))
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		fmt.Printf("%s %q\n", r.Sources()[line.Source], line.Text)
	}
	for _, l := range r.Layers() {
		fmt.Printf("%s: %d lines\n", l.Name, l.Lines)
	}
	// Output:
	// api-1 "goroutine 1 [running]:"
	// api-1 "main.main()"
	// api-1 "\t/app/main.go:12 +0x1d"
	// kubectl/compose prefix: 3 lines
	// docker json: 3 lines
}
