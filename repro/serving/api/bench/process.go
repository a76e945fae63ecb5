package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const chatPath = "/chat/completions"

// server is a server that runs as a process.
type server struct {
	cmd     *exec.Cmd
	baseURL string // ends in /v1
	cancel  context.CancelFunc
}

// grace is how long a server may take to end when it is asked to.
const grace = 5 * time.Second

// process starts a program that ends with stop, or with ctx.
func process(ctx context.Context, args []string) (*server, io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace // and then it is killed
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "WEDGE_SERVE_TOKEN=") // the loader has none
	out, err := cmd.StdoutPipe()
	if err == nil {
		_, err = cmd.StdinPipe() // whose end tells this program's own roles that this one has ended
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return &server{cmd: cmd, cancel: cancel}, out, nil
}

// stop ends the process.
func (s *server) stop() {
	s.cancel()
	_ = s.cmd.Wait() // it is asked for its end only
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// startReady starts a program whose first line on standard output is JSON with a base_url.
func startReady(ctx context.Context, args []string) (*server, error) {
	s, out, err := process(ctx, args)
	if err != nil {
		return nil, err
	}
	var ready struct {
		BaseURL string `json:"base_url"`
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err == nil && !onLoopback(ready.BaseURL) {
		err = fmt.Errorf("no base_url of this machine")
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("the ready line %q: %w", line, err)
	}
	s.baseURL = ready.BaseURL
	return s, nil
}

// startAt starts a program that serves at a known URL, and waits until it does.
func startAt(ctx context.Context, args []string, baseURL string) (*server, error) {
	s, out, err := process(ctx, args)
	if err != nil {
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until its end, so that it is not blocked
	s.baseURL = strings.TrimSuffix(baseURL, "/")
	if err := s.healthy(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// healthy waits for a status 200 of /health.
func (s *server) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	url := strings.TrimSuffix(s.baseURL, "/v1") + "/health"
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no status 200 of %s: %w", url, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// cost is what a process has used so far. Where the machine does not tell, as anywhere but on Linux,
// it is zero.
type cost struct {
	cpu      time.Duration
	rssBytes int64
}

func costOf(pid int) (c cost) {
	// Fields 14 and 15 are the times in user and kernel mode, in hundredths of a second. Field 2 is the
	// program's name in brackets, which may have anything in it.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return c
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, i := range []int{14 - 3, 15 - 3} {
		if i < len(fields) {
			ticks, _ := strconv.ParseInt(fields[i], 10, 64)
			c.cpu += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return c
	}
	if _, rest, ok := strings.Cut(string(status), "VmRSS:"); ok {
		kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseInt(kib, 10, 64)
		c.rssBytes = n << 10
	}
	return c
}

// machine says what the figures were taken on.
func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// Roles of this program in processes of its own.
const (
	roleLoad = "as-loader"
	roleBare = "as-bare-handler"
)

// endWithParent ends this process when its standard input does: nothing may outlive the program.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func runRole(role string, args []string) error {
	if role == roleBare {
		return serveBare(args)
	}
	return runLoad(args)
}
