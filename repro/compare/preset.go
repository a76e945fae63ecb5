package compare

import (
	"errors"
	"fmt"

	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
)

func presetNamed(name string) (Variant, error) {
	p, err := preset.Get(name)
	if err != nil {
		return Variant{}, &repro.InputError{Source: "--policy", Msg: fmt.Sprintf("%v (wedge policy list has them; what ends in .yaml or has a slash in it is a file)", err)}
	}
	return ofPreset(&p), nil
}

func presetFile(path string) (Variant, error) {
	p, err := preset.ReadFile(path)
	var bad *preset.FileError
	if errors.As(err, &bad) {
		return Variant{}, &repro.InputError{Source: bad.Source, Line: bad.Line, Column: bad.Column, Field: bad.Field, Msg: bad.Msg}
	}
	if err != nil {
		return Variant{}, &repro.InputError{Source: path, Msg: err.Error()}
	}
	v := ofPreset(&p)
	if err := v.contradiction(); err != nil {
		return Variant{}, &repro.InputError{Source: path, Msg: err.Error()}
	}
	return v, nil
}

func ofPreset(p *preset.Preset) Variant {
	return Variant{Name: p.Name, About: p.About, Source: p.Source, Trap: p.Trap, Policy: p.Policy, Set: p.Set}
}
