// Package goroutine reads the goroutine dumps of any Go program and takes those
// of its own process.
//
// A dump is what runtime.Stack, the profiles of goroutines and of leaked ones, or
// a crash (SIGQUIT, fatal error, panic, a test out of time) print; and what delve,
// gdb, panicparse and goroutine-inspect make of it. Form names them and says what
// each cannot tell. A text may hold several dumps, of several programs, behind
// the prefixes of logs or in strings of JSON: package container undoes those.
//
// ParseAll reads all dumps of a text, Parse the first one, and Reader streams
// them, in memory that does not grow with the text. Group puts identical stacks
// together and GroupSimilar like ones, Compare tells from two dumps what moved,
// Stage names what a goroutine waits for, and Capturer takes the text of this
// process cheaply enough to do it during a stall.
//
// The reader is driven by headers, never by blank lines, and accounts for every
// byte: what it could not use is counted and the first of it is kept as text. It
// knows the text of Go 1.3 to 1.27:
//
//	goroutine 7 gp=0xc0 m=3 mp=0xa0 [select (durable), 4 minutes, locked to thread, synctest bubble 1 labels:{"call": "12"}]:
//	net/http.(*persistConn).roundTrip(0xc000126000, 0xc00010e080)
//		/usr/local/go/src/net/http/transport.go:2774 +0x9cf fp=0xc0 sp=0xb8 pc=0x64
//	...12 frames elided...
//	main.main()
//		/app/main.go:9 +0x1d
//	created by main.start in goroutine 1
//		/app/main.go:4 +0x25
//	[originating from goroutine 1]:
//	main.start(...)
//		/app/main.go:5 +0x25
//
// Only the ID, the brackets and the first word of the state are always there. Go
// 1.27 prints labels behind the brackets: [select] {call: 12, note: "a b"}:
//
// A dump can mislead; three rules guard against it. "N minutes" is stamped by
// the garbage collector and may be late, early or missing, so Wait is a hint and
// movement is judged from two dumps. Argument words followed by ? are stale. And
// a goroutine inherits the labels of the one that started it, so a connection's
// read loop carries the labels of the call that dialled: see Inherited.
//
// The package imports the standard library, package container, and, for profiles
// in protobuf, github.com/google/pprof/profile; it knows nothing of wedge's other
// packages. It is not simulated: it may use the runtime, the clock, os and sync.
package goroutine
