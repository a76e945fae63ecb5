package strict_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness/strict"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int64) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("a: 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if text, err := strict.ReadFile(write("small", 5)); err != nil || string(text) != "a: 1\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if text, err := strict.ReadFile(write("most", 16<<20)); err != nil || len(text) != 16<<20 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
	for path, want := range map[string]string{
		write("huge", 16<<20+1):    "found more than 16 MiB, want a file that a person writes",
		filepath.Join(dir, "none"): "no such file or directory",
		dir:                        "is a directory",
	} {
		if _, err := strict.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}
