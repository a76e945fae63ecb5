package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadBounded: in the place of a file may be something without an end.
func TestReadBounded(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, CallsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(captureBytesMax + 2); err != nil { // a hole, which takes no room
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := readBounded(os.DirFS(dir), CallsFile); err == nil || !strings.Contains(err.Error(), "more than 256 MiB") {
		t.Errorf("error %v", err)
	}
}
