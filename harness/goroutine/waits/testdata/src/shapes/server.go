package main

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"time"
)

// server starts a server in a process of its own, which ends with this one, and
// returns its address.
func server(behaviour string) string {
	exe, _ := os.Executable()
	cmd := exec.Command(exe, "serve", behaviour)
	in, hold, _ := os.Pipe()
	out, from, _ := os.Pipe()
	cmd.Stdin, cmd.Stdout = in, from
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	holders = append(holders, hold)
	line, _ := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line)
}

// holders keep the standard inputs of servers open.
var holders []*os.File

// h2 starts a HTTP/2 server that takes two requests at once on a connection.
func h2(behaviour string) (*http.Client, string) {
	url := server("h2-" + behaviour)
	return &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		HTTP2:             &http.HTTP2Config{StrictMaxConcurrentRequests: true},
	}}, url
}

// serve is the server's process.
func serve(behaviour string) {
	if behaviour == "deaf" {
		deaf()
	} else {
		s := httptest.NewUnstartedServer(handler(strings.TrimPrefix(behaviour, "h2-")))
		if strings.HasPrefix(behaviour, "h2-") {
			s.EnableHTTP2 = true
			s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2}
			s.StartTLS()
		} else {
			s.Start()
		}
		fmt.Println(s.URL)
	}
	io.Copy(io.Discard, os.Stdin)
}

func handler(behaviour string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch behaviour {
		case "slow":
			time.Sleep(100 * time.Millisecond)
			return
		case "stream":
			io.WriteString(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
			http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
}

// deaf speaks HTTP/2 and takes nothing after its first frame, the settings.
func deaf() {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println("http://" + l.Addr().String())
	conn, _ := l.Accept()
	frame := make([]byte, 9)
	frame[3] = 4
	binary.BigEndian.PutUint32(frame[5:], 0)
	conn.Write(frame)
}
