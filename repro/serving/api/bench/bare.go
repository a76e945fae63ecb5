package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// startBare starts a handler that does nothing but send the content of a file.
func startBare(ctx context.Context, file string, stream bool) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	kind := "application/json"
	if stream {
		kind = "text/event-stream"
	}
	return startReady(ctx, []string{self, roleBare, file, kind})
}

// serveBare is the process of such a handler. The content goes out in one piece, and as a stream's
// would: of an unknown length.
func serveBare(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: want a file and a content type", roleBare)
	}
	answer, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"base_url": "http://" + l.Addr().String() + "/v1"}); err != nil {
		return err
	}
	kind, chunked := []string{args[1]}, args[1] == "text/event-stream"
	return http.Serve(l, http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		_, _ = io.Copy(io.Discard, in.Body)
		out.Header()["Content-Type"] = kind
		if chunked {
			out.Header()["Transfer-Encoding"] = []string{"chunked"}
		}
		_, _ = out.Write(answer) // an error means that the client has gone
	}))
}
