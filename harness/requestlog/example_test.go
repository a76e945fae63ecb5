package requestlog_test

import (
	"fmt"
	"strings"

	"example.com/wedge/harness/requestlog"
)

func ExampleLog() {
	log := requestlog.New()
	err := log.Read("router.log", strings.NewReader(`
2026-02-26 19:44:13  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="a"}: smg::request: src/middleware.rs:352: started processing request
2026-02-26 19:44:20  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="b"}: smg::request: src/middleware.rs:352: started processing request
2026-02-26 19:45:16  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="a" status_code=200 latency=62690782}: smg::response: src/middleware.rs:406: finished processing request
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := log.Report()
	fmt.Println(r.Summary)
	fmt.Println(r.Unit.Text)
	for _, s := range r.Slowest {
		fmt.Printf("%s is %.2f s\n", s.Logged, s.Seconds)
	}
	// Output:
	// 1 request of 2 is started and not finished, since 19:44:20 (56 s before the log ends), no longer than some finished ones took. One that was answered took 62.69 s.
	// microseconds (1 of 1 agrees with the time stamps), likely rather than certain
	// 62690782 is 62.69 s
}
