// Command shapes gets into one of the well-known shapes of a hang, or into one
// of the states that look like it, and stays there. It serves its goroutine
// profile on the address that it prints:
//
//	shapes NAME
//
// The dumps in testdata/shapes were made by it; see testdata/README.md.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"slices"
)

// shapes are the names and what they do. They do not return while the shape lasts.
var shapes = map[string]func(){
	"slot-leak": slotLeak, "slot-stream": slotStream, "slot-nested": slotNested, "slot-lock": slotLock, "slot-slow": slotSlow,
	"errgroup-nested": errgroupNested, "sql-pool": sqlPool,
	"ab-ba": abba, "ab-ba-waiter": abbaWaiter, "once": once, "pipe": pipe, "lock-call": lockCall, "lock-write": lockWrite, "lock-sleep": lockSleep, "rw-recursive": rwRecursive,
	"http-headers": httpHeaders, "http-pool": httpPool, "h2-slots": h2Slots, "h2-stream": h2Stream, "h2-write": h2Write, "sse": sse,
	"exec-alive": execAlive, "exec-pipe": execPipe, "rate": rateLimited, "rate-zero": rateZero,
	"idle": idle, "busy": busy, "pipeline": pipeline, "workers": workers,
	"lost-wakeup": lostWakeup, "results": results,
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	if len(os.Args) != 2 || shapes[os.Args[1]] == nil {
		var names []string
		for name := range shapes {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintln(os.Stderr, "usage: shapes NAME; names:", names)
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	go http.Serve(listener, nil)
	shapes[os.Args[1]]()
}
