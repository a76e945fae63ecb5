package compare

import (
	"fmt"

	"example.com/wedge/pacer"
	"example.com/wedge/repro"
)

func presetNamed(name string) (Variant, error) {
	if name != "none" {
		return Variant{}, &repro.InputError{Source: "--policy", Msg: fmt.Sprintf("unknown policy %q, want none", name)}
	}
	p := pacer.DefaultPolicy()
	p.MaxAttempts = 1
	return Variant{Name: "none", About: "No limit, no retry.", Policy: p}, nil
}

func presetFile(path string) (Variant, error) {
	return Variant{}, &repro.InputError{Source: path, Msg: "found a file, want a name"}
}
