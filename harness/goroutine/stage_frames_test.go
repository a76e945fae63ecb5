package goroutine

import "testing"

// TestStackStage has the libraries that the live tests do not run.
func TestStackStage(t *testing.T) {
	for _, test := range []struct {
		stage string
		calls []string // the innermost first
	}{
		{"slot", []string{"golang.org/x/sync/errgroup.(*Group).Go", "main.run"}},
		{"", []string{"main.work", "golang.org/x/sync/errgroup.(*Group).Go.func1"}},
		{"slot", []string{"database/sql.(*DB).conn", "database/sql.(*DB).query", "main.run"}},
		{"", []string{"main.(*driver).dial", "database/sql.(*DB).conn", "main.run"}},
		{"slot", []string{"github.com/jackc/puddle/v2.(*Pool[...]).acquire", "main.run"}},
		{"backoff", []string{"runtime.selectgo", "github.com/openai/openai-go/v3/internal/requestconfig.(*RequestConfig).Execute", "main.run"}},
		{"headers", []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "github.com/openai/openai-go/v3/internal/requestconfig.(*RequestConfig).Execute", "main.run"}},
		{"headers", []string{"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader", "main.run"}},
		{"stream", []string{"google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient", "main.run"}},
		{"connect", []string{"google.golang.org/grpc.(*pickerWrapper).pick", "main.run"}},
		{"", nil},
	} {
		var frames []Frame
		for _, c := range test.calls {
			frames = append(frames, Frame{Func: c})
		}
		if got, ok := StackStage(frames); got != test.stage || ok != (test.stage != "") {
			t.Errorf("%v: %q, %v; want %q", test.calls, got, ok, test.stage)
		}
	}
}
