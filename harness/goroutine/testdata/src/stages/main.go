// Command stages blocks one goroutine in each stage of a call that its stack can
// tell and dumps itself.
package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

func main() {
	ctx := context.Background()

	slots := semaphore.NewWeighted(1)
	slots.Acquire(ctx, 1)
	go slots.Acquire(ctx, 1)

	limiter := rate.NewLimiter(rate.Every(time.Hour), 1)
	limiter.Wait(ctx)
	go limiter.Wait(ctx)

	dial := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, errors.New("no")
	}}
	go (&http.Client{Transport: dial}).Get("http://192.0.2.1/")

	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stream" {
				io.WriteString(w, "data: 1\n\n")
				http.NewResponseController(w).Flush()
			}
			if r.Method == "POST" {
				io.ReadAll(r.Body)
			}
			<-r.Context().Done()
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		go server.Client().Get(server.URL + "/headers")
		go func() {
			resp, err := server.Client().Get(server.URL + "/stream")
			if err == nil {
				io.ReadAll(resp.Body)
			}
		}()
		body, _ := io.Pipe()
		go server.Client().Post(server.URL+"/upload", "text/plain", body)
	}

	go exec.Command("sleep", "5").Output()

	time.Sleep(500 * time.Millisecond) // let them block
	buf := make([]byte, 1<<20)
	os.Stdout.Write(buf[:runtime.Stack(buf, true)])
}
