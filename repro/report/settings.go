package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/repro"
)

// settingsMax bounds the settings that are listed.
const settingsMax = 3000

// setting is a leaf of a configuration, under its path in a scenario file.
type setting struct{ Path, Value string }

// change is a setting that is not what it would be by itself.
type change struct{ Path, Is, Was string }

// settingsView is the configuration as the template has it.
type settingsView struct {
	Against []comparison
	All     []setting
	More    int
	About   string
}

// comparison is what differs from another configuration.
type comparison struct {
	Name    string
	Changes []change
}

// settings compares the configuration with that of the catalogue, where its name stands there, and with the default.
func (v *view) settings() *settingsView {
	if v.Run.Config == nil {
		return nil
	}
	all := leaves(v.Run.Config)
	out := &settingsView{All: all}
	if len(all) > settingsMax {
		out.All, out.More = all[:settingsMax], len(all)-settingsMax
	}
	var told struct {
		About string `json:"about"`
	}
	if json.Unmarshal(v.Run.Config, &told) == nil {
		out.About = clean(told.About)
	}
	if s, err := repro.Lookup(v.Run.Name); err == nil {
		if text, err := json.Marshal(s); err == nil {
			out.Against = append(out.Against, comparison{"the catalogue's " + clean(v.Run.Name), changes(leaves(text), all)})
		}
	}
	if text, err := json.Marshal(repro.Default()); err == nil {
		out.Against = append(out.Against, comparison{"the default set-up", changes(leaves(text), all)})
	}
	return out
}

// changes lists what is otherwise, in the order of the configuration that is.
func changes(was, is []setting) (list []change) {
	before := make(map[string]string, len(was))
	for _, s := range was {
		before[s.Path] = s.Value
	}
	here := make(map[string]bool, len(is))
	for _, s := range is {
		here[s.Path] = true
		if s.Value == emptyBlock && within(was, s.Path) {
			continue // its fields are told of below
		}
		if old, ok := before[s.Path]; (!ok || old != s.Value) && len(list) < settingsMax {
			if !ok {
				old = "–"
			}
			list = append(list, change{s.Path, s.Value, old})
		}
	}
	for _, s := range was {
		if !here[s.Path] && len(list) < settingsMax && !(s.Value == emptyBlock && within(is, s.Path)) {
			list = append(list, change{s.Path, "–", s.Value})
		}
	}
	return list
}

// emptyBlock is the value of a block or a list without anything in it.
const emptyBlock = "none"

// within says whether any setting is part of a block.
func within(list []setting, block string) bool {
	return slices.ContainsFunc(list, func(s setting) bool { return strings.HasPrefix(s.Path, block+".") })
}

// toldApart are fields of a scenario that determine nothing, or stand elsewhere on the page.
var toldApart = map[string]bool{"name": true, "about": true}

// leaves returns the leaves of a JSON text in their order. Lists of plain values are one leaf.
func leaves(text json.RawMessage) []setting {
	var out []setting
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	walk(d, "", &out)
	return out
}

// walk reads one value. A text that breaks off ends the walk.
func walk(d *json.Decoder, path string, out *[]setting) {
	token, err := d.Token()
	if err != nil {
		return
	}
	open, ok := token.(json.Delim)
	if !ok {
		add(out, path, leafText(token))
		return
	}
	before := len(*out)
	n := 0
	for d.More() {
		inner := fmt.Sprintf("%s[%d]", path, n)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return
			}
			inner = strings.TrimPrefix(path+"."+fmt.Sprint(key), ".")
		}
		walk(d, inner, out)
		n++
	}
	if _, err := d.Token(); err != nil {
		return
	}
	if n == 0 && path != "" {
		add(out, path, emptyBlock)
	}
	if open == '[' && plainList(path, (*out)[before:], n) {
		values := make([]string, n)
		for i, s := range (*out)[before:] {
			values[i] = s.Value
		}
		*out = append((*out)[:before], setting{clean(path), strings.Join(values, ", ")})
	}
}

// plainList says whether all that was read of a list are its own values.
func plainList(path string, read []setting, n int) bool {
	if n == 0 || len(read) != n {
		return false
	}
	for i, s := range read {
		if s.Path != clean(fmt.Sprintf("%s[%d]", path, i)) {
			return false
		}
	}
	return true
}

func leafText(token json.Token) string {
	switch t := token.(type) {
	case string:
		return t
	case nil:
		return emptyBlock
	}
	return fmt.Sprint(token)
}

// add appends a leaf; what is counted in nanoseconds is a length of time.
func add(out *[]setting, path, value string) {
	if toldApart[path] {
		return
	}
	if stem, ok := strings.CutSuffix(path, "_ns"); ok {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			path, value = stem, time.Duration(n).String()
		}
	}
	if value == "" {
		value = `""`
	}
	*out = append(*out, setting{clean(path), clean(value)})
}
