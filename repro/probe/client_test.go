package probe_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// clientPlan is what the client program of these tests does: so many goroutines that each send one
// chat request after the other, through plain net/http, and read the streamed answer.
type clientPlan struct {
	BaseURL        string // without /v1
	Clients        int
	MaxTokens      int
	ConnectionsMax int           // per host; 0: no limit
	Pause          time.Duration // after a refusal
	Deadlock       bool          // two goroutines take two locks in two orders, and there is no call
}

// clientVariable makes the test binary the client program.
const clientVariable = "WEDGE_TEST_PROBE_CLIENT"

func TestMain(m *testing.M) {
	if text := os.Getenv(clientVariable); text != "" {
		var plan clientPlan
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		plan.run()
	}
	os.Exit(m.Run())
}

// run is the client program. It ends with its standard input.
func (plan clientPlan) run() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	go func() { _ = http.Serve(l, nil) }()
	fmt.Println("http://" + l.Addr().String())
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: plan.ConnectionsMax, MaxIdleConnsPerHost: plan.Clients}}
	if plan.Deadlock {
		go plan.lock()
	}
	for range plan.Clients {
		go func() {
			for {
				if !plan.ask(client) {
					time.Sleep(plan.Pause)
				}
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// lock has two goroutines wait for each other's lock, and a third one for both.
func (plan clientPlan) lock() {
	var a, b sync.Mutex
	var both, done sync.WaitGroup
	both.Add(2)
	take := func(first, second *sync.Mutex) {
		first.Lock()
		defer first.Unlock()
		both.Done()
		both.Wait()
		second.Lock()
		defer second.Unlock()
	}
	done.Go(func() { take(&a, &b) })
	done.Go(func() { take(&b, &a) })
	done.Wait()
}

func (plan clientPlan) ask(client *http.Client) bool {
	body := fmt.Sprintf(`{"model":"simulated","max_tokens":%d,"ignore_eos":true,"stream":true,"messages":[{"role":"user","content":"write"}]}`, plan.MaxTokens)
	resp, err := client.Post(plan.BaseURL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// start starts the client program and returns the URL of its goroutines.
func (plan clientPlan) start(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientVariable+"="+string(text))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the client did not say where it listens: %v, %s", err, errs.String())
	}
	return strings.TrimSpace(line)
}

// holding is a proxy that lets the first few connections through and holds the others: it takes them
// and never reads.
type holding struct {
	url string
}

func holdAfter(t *testing.T, target string, through int) holding {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open = append(open, c)
			if n >= through {
				continue
			}
			up, err := net.Dial("tcp", strings.TrimPrefix(target, "http://"))
			if err != nil {
				continue
			}
			open = append(open, up)
			go func() { _, _ = io.Copy(up, c) }()
			go func() { _, _ = io.Copy(c, up) }()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-over
		for _, c := range open {
			_ = c.Close()
		}
	})
	return holding{"http://" + l.Addr().String()}
}

// closedPort is an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
