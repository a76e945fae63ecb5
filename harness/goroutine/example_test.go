package goroutine_test

import (
	"fmt"
	"io"
	"log"
	"strings"

	"example.com/wedge/harness/goroutine"
)

const before = `goroutine 1 [running]:
main.main()
	/app/main.go:9 +0x1d

goroutine 7 [select, 4 minutes labels:{"call": "17", "stage": "headers"}]:
net/http.(*persistConn).roundTrip(0xc000126000, 0xc00010e080)
	/usr/local/go/src/net/http/transport.go:2774 +0x9cf
created by main.main in goroutine 1
	/app/main.go:5 +0x25

goroutine 8 [select labels:{"call": "18"}]:
net/http.(*persistConn).roundTrip(0xc000126100, 0xc00010e180)
	/usr/local/go/src/net/http/transport.go:2774 +0x9cf
created by main.main in goroutine 1
	/app/main.go:5 +0x25
`

const after = `goroutine 7 [select, 5 minutes labels:{"call": "17", "stage": "headers"}]:
net/http.(*persistConn).roundTrip(0xc000126000, 0xc00010e080)
	/usr/local/go/src/net/http/transport.go:2774 +0x9cf
created by main.main in goroutine 1
	/app/main.go:5 +0x25
`

func parse(text string) *goroutine.Dump {
	d, err := goroutine.Parse(strings.NewReader(text))
	if err != nil {
		log.Fatal(err)
	}
	return d
}

func ExampleParse() {
	d := parse(before + "exit status 2\n")
	for i := range d.Goroutines {
		g := &d.Goroutines[i]
		stage, _ := goroutine.Stage(g)
		fmt.Printf("%d [%s] %s call=%q stage=%q\n", g.ID, g.State, g.Frames[0].Func, g.Label("call"), stage)
	}
	fmt.Println("skipped", d.SkippedBytes, "bytes")
	// Output:
	// 1 [running] main.main call="" stage=""
	// 7 [select] net/http.(*persistConn).roundTrip call="17" stage="headers"
	// 8 [select] net/http.(*persistConn).roundTrip call="18" stage="headers"
	// skipped 14 bytes
}

// A log of two containers that were asked in two ways.
func ExampleParseAll() {
	const log = `api-1  | SIGQUIT: quit
api-1  | goroutine 7 [select, 4 minutes]:
db-1   | goroutine profile: total 12
api-1  | main.wait()
db-1   | 12 @ 0x401000
api-1  | 	/app/main.go:9 +0x1d
db-1   | #	0x401000	main.work+0x1d	/app/db.go:7
`
	dumps, err := goroutine.ParseAll(strings.NewReader(log))
	if err != nil {
		fmt.Println(err)
	}
	for _, d := range dumps {
		fmt.Printf("%s: %s of %d goroutines, in %s; %q; lacks %q\n", d.Source, d.Form, d.N(), d.Goroutines[0].Frames[0].Func, d.Messages, d.Form.Lacks())
	}
	// Output:
	// api-1: dump of 1 goroutines, in main.wait; ["SIGQUIT: quit"]; lacks []
	// db-1: profile text of 12 goroutines, in main.work; []; lacks ["no ids" "no states" "no waits" "no arguments" "no creators"]
}

// A Reader and a Grouper take a dump of any size.
func ExampleReader() {
	r := goroutine.NewReader(strings.NewReader(before))
	var groups goroutine.Grouper
	for {
		g, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if g.Kind == goroutine.KindGoroutine {
			groups.Add(g)
		}
	}
	fmt.Println(len(groups.Groups()), "groups in", r.Stats().Bytes, "bytes")
	// Output:
	// 2 groups in 524 bytes
}

func ExampleGroup() {
	for _, g := range goroutine.Group(parse(before)) {
		fmt.Println(g.Count(), g.State, g.Frames[0].Func, g.IDs)
	}
	// Output:
	// 2 select net/http.(*persistConn).roundTrip [7 8]
	// 1 running main.main [1]
}

func ExampleCompare() {
	m := goroutine.Compare(parse(before), parse(after), goroutine.ByLabel("call"))
	for _, p := range m.Still {
		fmt.Println("did not move:", p.Key)
	}
	for _, p := range m.Gone {
		fmt.Println("gone:", p.Key)
	}
	// Output:
	// did not move: 17
	// gone: 18
}

func ExampleCapturer() {
	var c goroutine.Capturer
	text, truncated := c.Text()
	fmt.Println(strings.HasPrefix(string(text), "goroutine "), truncated)
	// Output:
	// true false
}
