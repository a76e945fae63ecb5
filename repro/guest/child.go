package guest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"example.com/wedge/repro"
)

const (
	// killWithin is how long a killed one may take: the kernel may have to finish a read of a disk.
	killWithin = 5 * time.Second
	// pipeGrace is how long what it has written may take to arrive after its end.
	pipeGrace = time.Second
	// groupPoll is how often the process group is looked at while it is to end, at first; and more and more
	// rarely, since a look may be one at all processes of the machine.
	groupPoll    = 2 * time.Millisecond
	groupPollMax = 50 * time.Millisecond
)

// child is the harness: a program in a process group of its own.
type child struct {
	cmd    *exec.Cmd
	stdout *pump // nil: the program writes there itself
	stderr *pump // the same
	ended  chan struct{}
	grace  time.Duration // how long it may take to end
	mark   string        // a line of its environment that nobody else has

	stopping sync.Mutex // held by who ends the group
}

// start starts the harness, in whose environment mark is a line that nobody else has. The error is an *repro.InputError if it cannot be started.
func start(o *Options, env []string, mark string) (*child, error) {
	c := &child{cmd: exec.Command(o.Command[0], o.Command[1:]...), ended: make(chan struct{}), grace: o.Grace, mark: mark}
	c.cmd.Dir, c.cmd.Env = o.Dir, env
	ownGroup(c.cmd)
	given, err := c.connect(o)
	if err == nil {
		if err = c.cmd.Start(); err != nil {
			err = notStarted(o.Command[0], err)
		}
	}
	for _, f := range given {
		_ = f.Close() // the program has them, if there is one
	}
	if err != nil {
		c.stdout.end(0)
		c.stderr.end(0)
		return nil, err
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // how it ended is in ProcessState
	}()
	return c, nil
}

// notStarted is the error of a command that cannot be run.
func notStarted(name string, err error) error {
	msg := err.Error()
	var at *exec.Error
	var path *fs.PathError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		msg = "no such command in PATH"
	case errors.Is(err, fs.ErrNotExist):
		msg = "no such file, or its interpreter is missing"
	case errors.Is(err, fs.ErrPermission):
		msg = "not executable"
	case errors.As(err, &at):
		msg = at.Err.Error()
	case errors.As(err, &path):
		msg = path.Err.Error()
	}
	return &repro.InputError{Source: "command " + name, Msg: msg}
}

// connect gives the harness its standard streams. Files are handed over as they are, so that the harness
// finds a terminal if there is one. The files that are returned are to be closed once it has started.
func (c *child) connect(o *Options) (given []*os.File, err error) {
	out, isFile := o.Stdout.(*os.File)
	if c.cmd.Stdout = out; !isFile {
		var w *os.File
		if c.stdout, w, err = newPump(o.Stdout); err != nil {
			return given, fmt.Errorf("guest: %w", err)
		}
		c.cmd.Stdout, given = w, append(given, w)
	}
	errs, isFile := o.Stderr.(*os.File)
	if c.cmd.Stderr = errs; !isFile || o.Quit {
		var w *os.File
		if c.stderr, w, err = newPump(o.Stderr); err != nil {
			return given, fmt.Errorf("guest: %w", err)
		}
		c.cmd.Stderr, given = w, append(given, w)
	}
	in, isFile := o.Stdin.(*os.File)
	switch {
	case o.Stdin == nil:
	case isFile && !term.IsTerminal(int(in.Fd())):
		c.cmd.Stdin = in
	default:
		// A terminal stops a program that reads from it and is in another process group than wedge, which
		// would look like a hang. So wedge reads for it.
		r, w, err := os.Pipe()
		if err != nil {
			return given, fmt.Errorf("guest: %w", err)
		}
		c.cmd.Stdin, given = r, append(given, r)
		// Nobody waits for this one: a read from a terminal cannot be called off.
		go func() {
			_, _ = io.Copy(w, o.Stdin) // the harness need not read to the end
			_ = w.Close()
		}()
	}
	return given, nil
}

// exited says whether the harness has ended by itself, or been ended.
func (c *child) exited() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// interrupt passes a Ctrl-C on.
func (c *child) interrupt() { signalGroup(c.cmd, os.Interrupt) }

// kill kills all that there is of it, and waits for nothing.
func (c *child) kill() {
	killGroup(c.cmd)
	killAll(straysOf(c.mark))
}

// end ends the process group, whether the harness itself lives or not: kindly first, and then
// by force; and then what has left the group, as far as it can be found. It returns when nothing is left of
// it, or nothing more can be done.
func (c *child) end() {
	c.stopping.Lock()
	defer c.stopping.Unlock()
	if terminateGroup(c.cmd); !c.gone(c.grace) {
		killGroup(c.cmd)
		c.gone(killWithin)
	}
	if strays := straysOf(c.mark); len(strays) > 0 {
		terminateAll(strays)
		if !poll(c.grace, func() bool { return len(straysOf(c.mark)) == 0 }) {
			killAll(straysOf(c.mark))
		}
	}
	c.stdout.end(pipeGrace)
	c.stderr.end(pipeGrace)
}

// gone waits until the group is empty, and says whether it is.
func (c *child) gone(within time.Duration) bool {
	return poll(within, func() bool { return c.exited() && groupEmpty(c.cmd) })
}

// poll waits until something holds that only a look can tell, and says whether it does.
func poll(within time.Duration, holds func() bool) bool {
	deadline := time.Now().Add(within)
	for pause := groupPoll; !holds(); pause = min(2*pause, groupPollMax) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// status says how the harness ended, once it has: its exit code, or -1 and the signal that ended it.
func (c *child) status() (code int, text string) {
	s := c.cmd.ProcessState
	return s.ExitCode(), strings.TrimSpace(s.String())
}
