package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/wedge/repro"
)

// readProcess gets the dump of a running process: from a pprof address if that is wanted, else with
// SIGQUIT, after asking.
func (f *dumpFlags) readProcess(cmd *cobra.Command) ([]*dumpText, error) {
	p, err := processOf(f.pid)
	if err != nil {
		return nil, err
	}
	if f.ports {
		return f.askPorts(cmd, p)
	}
	source := fmt.Sprintf("--pid %d", p.pid)
	if p.stderr == os.DevNull || p.stderr == "" {
		return nil, &repro.InputError{Source: source, Msg: "its standard error goes nowhere, so that SIGQUIT would end it and the dump be lost; " +
			"if it has net/http/pprof, try --ports"}
	}
	if err := f.agree(cmd, p); err != nil {
		return nil, err
	}
	var at int64
	if info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/2", p.pid)); err == nil {
		at = info.Size()
	}
	var file *os.File
	if p.regular { // by way of the process, while it lives: the name may lead to another file by now
		if file, err = os.Open(fmt.Sprintf("/proc/%d/fd/2", p.pid)); err != nil {
			return nil, &repro.InputError{Source: source, Msg: fmt.Sprintf("its standard error, %s, cannot be read: %v; nothing was sent", p.stderr, cause(err))}
		}
		defer file.Close()
	}
	if err := p.quit(cmd, f.limit); err != nil {
		return nil, err
	}
	if file == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "Process %d has ended. Its dump went to its standard error, which wedge cannot read: %s\n", p.pid, p.whereToLook())
		return nil, nil
	}
	if info, err := file.Stat(); err == nil && info.Size() < at { // rotated in place
		at = 0
	}
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return nil, &exitError{code: exitFailed, err: err}
	}
	t, err := readDumps(p.stderr, file)
	if err != nil {
		return nil, fmt.Errorf("%w (process %d has printed none: GOTRACEBACK=none, or it does something else on SIGQUIT)", err, p.pid)
	}
	return []*dumpText{t}, nil
}

// explain says what is about to happen.
func (p *process) explain() string {
	where := p.whereToLook()
	if p.regular {
		where = "the file " + p.stderr + ", from which wedge reads it"
	}
	return fmt.Sprintf("process %d is %s (%s, %s). SIGQUIT makes it print its goroutines and END. The dump goes to its standard error: %s",
		p.pid, p.path, p.goVersion, p.command, where)
}

// whereToLook says how to get at a standard error that is no file.
func (p *process) whereToLook() string {
	switch {
	case strings.HasPrefix(p.stderr, "/dev/pts/"), strings.HasPrefix(p.stderr, "/dev/tty"):
		return "the terminal " + p.stderr + "; copy it from there into a file, then: wedge dump FILE"
	case strings.HasPrefix(p.stderr, "socket:"):
		return fmt.Sprintf("a socket, most likely the journal: journalctl _PID=%d -o cat | wedge dump", p.pid)
	case strings.HasPrefix(p.stderr, "pipe:"):
		return "a pipe to whatever started it: docker logs NAME 2>&1 | wedge dump, kubectl logs --previous POD | wedge dump, or what its supervisor writes"
	}
	return p.stderr
}

// agree asks before the signal is sent.
func (f *dumpFlags) agree(cmd *cobra.Command, p *process) error {
	explanation := plainText(p.explain())
	in := cmd.InOrStdin()
	switch {
	case f.yes:
		fmt.Fprintln(cmd.ErrOrStderr(), "wedge: "+explanation)
		return nil
	case !isTerminal(in):
		return &repro.InputError{Source: fmt.Sprintf("--pid %d", p.pid), Msg: explanation + ". Nobody can be asked here, so nothing was sent: --yes sends it"}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wedge: %s\nSend SIGQUIT to %d, which ends it? [y/N] ", explanation, p.pid)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err != nil || word != "y" && word != "yes" {
		return &repro.InputError{Source: fmt.Sprintf("--pid %d", p.pid), Msg: "nothing was sent"}
	}
	return nil
}

// quit sends SIGQUIT and waits for the end.
func (p *process) quit(cmd *cobra.Command, limit time.Duration) error {
	bad := func(format string, a ...any) error {
		return &exitError{code: exitFailed, err: fmt.Errorf("--pid %d: "+format, append([]any{p.pid}, a...)...)}
	}
	target, err := os.FindProcess(p.pid)
	if err == nil {
		err = target.Signal(syscall.SIGQUIT)
	}
	if err != nil {
		return bad("SIGQUIT: %w", err)
	}
	const look = 20 * time.Millisecond
	for waited := time.Duration(0); !p.ended(); waited += look {
		if waited >= limit {
			return bad("SIGQUIT was sent and it has not ended within %v: it may handle the signal itself; see its standard error, %s", limit, p.stderr)
		}
		select {
		case <-time.After(look):
		case <-cmd.Context().Done():
			return &exitError{code: exitInterrupted}
		}
	}
	return nil
}

// askPorts asks every address at which the process listens for its goroutines.
func (f *dumpFlags) askPorts(cmd *cobra.Command, p *process) ([]*dumpText, error) {
	addresses := p.listens()
	probe := *f
	probe.limit = min(f.limit, 5*time.Second)
	for _, address := range addresses {
		u, ok := dumpURL(address)
		if !ok {
			continue
		}
		if _, err := probe.fetch(cmd.Context(), u); err != nil {
			var exit *exitError
			if errors.As(err, &exit) {
				return nil, err
			}
			continue
		}
		return f.fetchAll(cmd.Context(), cmd.ErrOrStderr(), u)
	}
	return nil, &repro.InputError{Source: fmt.Sprintf("--pid %d", p.pid), Msg: fmt.Sprintf("found no goroutine profile at %s, want net/http/pprof on a TCP port; without --ports, SIGQUIT can make it print its goroutines, and ends it", listed(addresses))}
}

func listed(addresses []string) string {
	if len(addresses) == 0 {
		return "any port, since it listens on none"
	}
	return strings.Join(addresses, ", ")
}

// isTerminal says whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(file.Fd()))
}
