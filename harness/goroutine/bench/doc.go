// Package bench holds the dump reader of harness/goroutine against other readers,
// for what they read and for speed and memory, and against texts larger than
// memory. It has tests only, so that the other readers, gostackparse and
// panicparse, are dependencies of nothing else.
//
//	go test -run - -bench . ./harness/goroutine/bench      speed, with the ratios
//	go test -tags integration -run IntegrationHuge ./harness/goroutine/bench      1 GiB of text
//
// It may import harness/goroutine and the other readers.
package bench
