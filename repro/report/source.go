package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro/soak"
)

// fileBytesMax bounds a file that is read as a whole.
const fileBytesMax = 64 << 20

// reportFile is the name that the page has in a bundle.
const reportFile = "report.html"

// trouble is a file that could not be read, and why.
type trouble struct{ File, Msg string }

// source reads the files of a bundle, and keeps what is wrong with them.
type source struct {
	fs       fs.FS
	troubles []trouble
}

// isBundle says whether there is any evidence.
func (s *source) isBundle() bool {
	for _, name := range []string{bundle.RunFile, bundle.VerdictFile, bundle.EventsLog, soak.DocumentFile} {
		if s.has(name) {
			return true
		}
	}
	return false
}

// rotated says whether a log was written as a sequence of files.
func (s *source) rotated(name string) bool {
	stem, ext, _ := strings.Cut(name, ".")
	files, err := fs.Glob(s.fs, stem+"-[0-9]*."+ext)
	return err == nil && len(files) > 0
}

func (s *source) has(name string) bool {
	info, err := fs.Stat(s.fs, name)
	return err == nil && info.Mode().IsRegular()
}

// wrong keeps what is wrong with a file.
func (s *source) wrong(name, msg string) {
	t := trouble{name, msg}
	for _, before := range s.troubles {
		if before == t {
			return
		}
	}
	s.troubles = append(s.troubles, t)
}

// text reads a file. Nil: there is none, or it cannot be read, which is kept.
func (s *source) text(name string) []byte {
	f, err := s.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.wrong(name, reason(err))
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fileBytesMax+1))
	switch {
	case err != nil:
		s.wrong(name, reason(err))
		return nil
	case len(text) > fileBytesMax:
		s.wrong(name, fmt.Sprintf("is longer than %d MiB and is left out", fileBytesMax>>20))
		return nil
	}
	return text
}

// json reads a file of JSON into v, and says whether it could. A file that is not there is no trouble.
func (s *source) json(name string, v any) bool {
	text := s.text(name)
	if text == nil {
		return false
	}
	if err := json.Unmarshal(text, v); err != nil {
		s.wrong(name, jsonTrouble(text, err))
		return false
	}
	return true
}

// jsonTrouble says what is wrong with a text of JSON, and on which line.
func jsonTrouble(text []byte, err error) string {
	line := func(offset int64) int { return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n")) }
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return "is empty"
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d: no valid JSON: %v", line(syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Sprintf("line %d: field %q: found a %s, want %s", line(kind.Offset), kind.Field, kind.Value, kind.Type)
	}
	return "no valid JSON: " + err.Error()
}

// reason is an error without the path, which the page has already.
func reason(err error) string {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// guard runs a part of the page that draws conclusions from a file. Whatever a damaged file makes of those, the rest of
// the page is written; a panic is told of as what is wrong with the file.
func (s *source) guard(name string, part func()) {
	defer func() {
		if v := recover(); v != nil {
			s.wrong(name, "could not be shown: "+strings.TrimSpace(fmt.Sprint(v)))
		}
	}()
	part()
}
