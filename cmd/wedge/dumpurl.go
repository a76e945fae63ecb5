package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"example.com/wedge/repro"
)

// dumpBytesMax bounds one answer of a URL: 1 GiB.
const dumpBytesMax = 1 << 30

const pprofPath = "/debug/pprof/goroutine"

var hostPort = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]|):[0-9]{1,5}(/\S*)?$`)

// dumpURL says whether an argument is the address of a goroutine profile, and completes it: debug=2 has
// the most to tell. A file of the same name comes first.
func dumpURL(arg string) (*url.URL, bool) {
	if _, err := os.Stat(arg); err == nil {
		return nil, false
	}
	if hostPort.MatchString(arg) {
		if arg[0] == ':' {
			arg = "localhost" + arg
		}
		arg = "http://" + arg
	}
	u, err := url.Parse(arg)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	switch strings.TrimSuffix(u.Path, "/") {
	case "", "/debug", "/debug/pprof":
		u.Path = pprofPath
	}
	q := u.Query()
	if !q.Has("debug") {
		q.Set("debug", "2")
	}
	u.RawQuery = q.Encode()
	return u, true
}

// plainURL is the address without what may be secret: user, password and query.
func plainURL(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

// fetchAll asks the address for dumps.
func (f *dumpFlags) fetchAll(ctx context.Context, progress io.Writer, u *url.URL) ([]*dumpText, error) {
	var texts []*dumpText
	for i := range f.times {
		if i > 0 {
			if isTerminal(progress) {
				fmt.Fprintf(progress, "wedge: dump %d of %d read from %s; the next one in %v\n", i, f.times, plainURL(u), f.every)
			}
			select {
			case <-time.After(f.every):
			case <-ctx.Done():
				return nil, &exitError{code: exitInterrupted}
			}
		}
		t, err := f.fetch(ctx, u)
		if err != nil {
			return nil, err
		}
		if f.times > 1 {
			t.name = fmt.Sprintf("%s, dump %d", t.name, i+1)
			for _, s := range t.snapshots {
				s.name = t.name
			}
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// fetch asks for one dump.
func (f *dumpFlags) fetch(ctx context.Context, u *url.URL) (*dumpText, error) {
	limited, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	name := plainURL(u)
	bad := func(format string, a ...any) error {
		return &repro.InputError{Source: name, Msg: fmt.Sprintf(format, a...)}
	}
	request, err := http.NewRequestWithContext(limited, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, bad("%v", err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &exitError{code: exitInterrupted}
		}
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the rest repeats the address with its query
		}
		if limited.Err() != nil {
			return nil, bad("no answer within %v (--timeout): the process may stand still as a whole; --pid can still make it print its goroutines", f.limit)
		}
		return nil, bad("no dump from there: %v", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		line, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return nil, bad("status %s %q, want a goroutine profile: does the program import net/http/pprof, and is this its port?", answer.Status, oneLine(plainText(string(line))))
	}
	t, err := readDumps(name, io.LimitReader(answer.Body, dumpBytesMax))
	if err != nil && ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted}
	}
	return t, err
}
