package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// leaf is a value of a configuration, with its path.
type leaf struct{ path, value string }

// notSettings are fields of a scenario that determine nothing.
var notSettings = map[string]bool{"name": true, "about": true}

// settings compares two configurations, leaf by leaf: those of A in their order, then what only B has.
// Paths are those of a scenario file, in which lengths of time have no unit in their names.
func settings(a, b json.RawMessage) []Change {
	one, two := leaves(a), leaves(b)
	other := make(map[string]string, len(two))
	for _, l := range two {
		other[l.path] = l.value
	}
	out := []Change{}
	for _, l := range one {
		value, ok := other[l.path]
		delete(other, l.path)
		if !ok || value != l.value {
			out = append(out, Change{What: l.path, A: l.value, B: value})
		}
	}
	for _, l := range two {
		if _, ok := other[l.path]; ok {
			out = append(out, Change{What: l.path, B: l.value})
		}
	}
	return out
}

// leaves returns the leaves of a JSON text in their order.
func leaves(text json.RawMessage) []leaf {
	var out []leaf
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	walk(d, "", &out)
	return out
}

// walk reads one value. A text that breaks off has been refused before.
func walk(d *json.Decoder, path string, out *[]leaf) {
	token, err := d.Token()
	if err != nil {
		return
	}
	switch t := token.(type) {
	case json.Delim:
		n := 0
		for d.More() {
			inner := fmt.Sprintf("%s[%d]", path, n)
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return
				}
				inner = join(path, fmt.Sprint(key))
			}
			walk(d, inner, out)
			n++
		}
		_, _ = d.Token() // the closing one
		if n == 0 {
			add(out, path, "empty")
		}
	case string:
		add(out, path, strconv.Quote(t))
	default:
		add(out, path, fmt.Sprint(t))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func add(out *[]leaf, path, value string) {
	if notSettings[path] {
		return
	}
	if stem, ok := strings.CutSuffix(path, "_ns"); ok {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			path, value = stem, time.Duration(n).String()
		}
	}
	*out = append(*out, leaf{path, value})
}

// verdicts compares the verdicts.
func verdicts(r *Report, a, b *source) error {
	if a.verdict == nil || b.verdict == nil {
		for _, s := range []*source{a, b} {
			if s.verdict == nil {
				r.miss("the verdict: %s has no verdict.json", s.dir)
			}
		}
		return nil
	}
	change := func(what, a, b string) {
		if a != b {
			r.Verdict = append(r.Verdict, Change{what, a, b})
		}
	}
	change("outcome", a.verdict.Outcome, b.verdict.Outcome)
	change("layer", a.verdict.Layer, b.verdict.Layer)
	change("cause", a.verdict.Cause, b.verdict.Cause)
	change("final_outcome", a.verdict.FinalOutcome, b.verdict.FinalOutcome)
	status := map[string]string{}
	for _, h := range b.verdict.Hypotheses {
		status[h.Cause] = standing(h.Status, h.Score)
	}
	for _, h := range a.verdict.Hypotheses {
		change("hypothesis "+h.Cause, standing(h.Status, h.Score), status[h.Cause])
		delete(status, h.Cause)
	}
	for _, h := range b.verdict.Hypotheses {
		if s, ok := status[h.Cause]; ok {
			change("hypothesis "+h.Cause, "", s)
		}
	}
	return nil
}

func standing(status string, score float64) string {
	if score == 0 {
		return status
	}
	return fmt.Sprintf("%s %.2f", status, score)
}
