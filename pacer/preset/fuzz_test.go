package preset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/preset"
)

// FuzzReadFile feeds policy files. What is refused is refused in one line; what is accepted is valid,
// and comes out of YAML as it went in.
func FuzzReadFile(f *testing.F) {
	for _, name := range preset.Names() {
		text, err := os.ReadFile("presets/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("policy: &a {idle: 60s}\nset: [*a]\n"))
	f.Add([]byte("policy: {<<: {idle: 60s}}\n"))
	f.Add([]byte("name: !!binary aGVsbG8=\npolicy: {idle: !!int 3}\n"))
	f.Add([]byte("set: [\"pacer.limit={rule: aimd}\", 'pacer.queue.max=3']\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(text []byte) (preset.Preset, error) {
			path := filepath.Join(t.TempDir(), "f.yaml")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			return preset.ReadFile(path)
		}
		p, err := read(text)
		if err != nil {
			var bad *preset.FileError
			if !errors.As(err, &bad) || strings.ContainsAny(err.Error(), "\n\r\x1b") || bad.Msg == "" {
				t.Errorf("%T: %q", err, err)
			}
			return
		}
		if err := p.Policy.Validate(); err != nil {
			t.Error(err)
		}
		c, err := p.Pacer(pacer.DefaultConfig())
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			t.Error(err)
		}
		once, err := yaml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(once)
		if err != nil {
			t.Fatalf("its own YAML is refused: %v\n%s", err, once)
		}
		if twice, err := yaml.Marshal(again); err != nil || string(once) != string(twice) {
			t.Errorf("%v: the YAML changes:\n%s\n%s", err, once, twice)
		}
	})
}
