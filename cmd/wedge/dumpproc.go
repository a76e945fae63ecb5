package main

import (
	"bufio"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"example.com/wedge/repro"
)

// process is a running Go program of this machine.
type process struct {
	pid       int
	path      string // of its program
	goVersion string
	command   string // its command line
	stderr    string // where its standard error goes, as the kernel names it
	regular   bool   // standard error is a file that can be read
}

// processOf looks a process up. It refuses what is no Go program: SIGQUIT would end it without a dump.
func processOf(pid int) (*process, error) {
	bad := func(format string, a ...any) error {
		return &repro.InputError{Source: fmt.Sprintf("--pid %d", pid), Msg: fmt.Sprintf(format, a...)}
	}
	if runtime.GOOS != "linux" {
		return nil, bad("processes can be looked up on Linux only; there, kill -QUIT does the same")
	}
	if pid == os.Getpid() {
		return nil, bad("that is wedge itself")
	}
	dir := fmt.Sprintf("/proc/%d", pid)
	if _, err := os.Stat(dir); err != nil {
		return nil, bad("no such process")
	}
	p := &process{pid: pid}
	var err error
	if p.path, err = os.Readlink(dir + "/exe"); err != nil {
		return nil, bad("its program cannot be read (%v): is it another user's?", cause(err))
	}
	info, err := buildinfo.ReadFile(dir + "/exe") // also where the file has been replaced since
	if err != nil {
		return nil, bad("%s is no Go program, as far as it says: SIGQUIT would end it without a dump of goroutines", p.path)
	}
	p.goVersion = info.GoVersion
	if text, err := os.ReadFile(dir + "/cmdline"); err == nil {
		p.command = shorten(strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")), 80)
	}
	if p.stderr, err = os.Readlink(dir + "/fd/2"); err == nil {
		if info, err := os.Stat(dir + "/fd/2"); err == nil {
			p.regular = info.Mode().IsRegular()
		}
	}
	return p, nil
}

// ended says whether the process is gone, or a zombie.
func (p *process) ended() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(text[max(0, strings.LastIndexByte(string(text), ')')):]), " ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// listens returns the TCP addresses at which the process listens.
func (p *process) listens() []string {
	inodes := map[string]bool{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.pid))
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				inodes[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	var addresses []string
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", p.pid, table))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			const listening = "0A"
			words := strings.Fields(lines.Text())
			if len(words) > 9 && words[3] == listening && inodes[words[9]] {
				if a, ok := kernelAddress(words[1]); ok && !slices.Contains(addresses, a) {
					addresses = append(addresses, a)
				}
			}
		}
		_ = file.Close() // it was only read
	}
	return addresses
}

// kernelAddress reads an address as the kernel lists it: words of four bytes, each in the machine's
// order, and the port. One that stands for all addresses becomes the loopback one.
func kernelAddress(text string) (string, bool) {
	host, port, ok := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	number, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(raw) != 4 && len(raw) != 16 {
		return "", false
	}
	for i := 0; i+4 <= len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	ip := net.IP(raw)
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return net.JoinHostPort(ip.String(), strconv.FormatUint(number, 10)), true
}
