package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/repro"
)

// Knob is a parameter to be tuned, with the range in which to look for it.
type Knob struct {
	Path string  `json:"path"` // such as "policy.idle"
	Low  float64 `json:"low"`  // in seconds if Time
	High float64 `json:"high"`
	Time bool    `json:"time,omitempty"` // its values are lengths of time
	Int  bool    `json:"int,omitempty"`  // its values are whole numbers
}

// ParseKnob reads "policy.idle=10s..600s".
func ParseKnob(text string) (Knob, error) {
	bad := func(format string, args ...any) (Knob, error) {
		return Knob{}, &repro.InputError{Source: "--tune " + text, Msg: fmt.Sprintf(format, args...)}
	}
	path, span, ok := strings.Cut(text, "=")
	low, high, ok2 := strings.Cut(span, "..")
	k := Knob{Path: strings.TrimSpace(path)}
	if !ok || !ok2 {
		return bad("want path=low..high such as policy.idle=10s..600s")
	}
	if probe := (Sweep{Path: k.Path}); !probe.OfPolicy() {
		return bad("found %q, want a field of policy or pacer: the rest is the world, which is not ours to tune", k.Path)
	}
	from, err1 := time.ParseDuration(strings.TrimSpace(low))
	to, err2 := time.ParseDuration(strings.TrimSpace(high))
	if err1 == nil && err2 == nil {
		k.Low, k.High, k.Time = from.Seconds(), to.Seconds(), true
	} else {
		if k.Low, err1 = strconv.ParseFloat(strings.TrimSpace(low), 64); err1 == nil {
			k.High, err1 = strconv.ParseFloat(strings.TrimSpace(high), 64)
		}
		if err1 != nil {
			return bad("found %q, want two lengths of time or two numbers such as 10s..600s or 1..10", span)
		}
		k.Int = !strings.ContainsAny(span, "eE") && strings.Count(span, ".") == 2
	}
	if !(k.Low > 0 && k.High > k.Low) {
		return bad("found %q, want a range above 0 from the lower to the higher end", span)
	}
	return k, nil
}

// value is the knob at a place from 0 to 1 of its range, on a logarithmic scale, with three digits.
func (k *Knob) value(place float64) (x float64, text string) {
	x = k.Low * math.Pow(k.High/k.Low, place)
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	x = min(max(math.Round(x/unit)*unit, k.Low), k.High)
	switch {
	case k.Time:
		d := time.Duration(math.Round(x*1000)) * time.Millisecond
		return d.Seconds(), d.String()
	case k.Int:
		x = math.Round(x)
		return x, strconv.FormatFloat(x, 'f', -1, 64)
	}
	return x, strconv.FormatFloat(x, 'g', 6, 64)
}

// fits says why the policy can take neither end of the range, or returns nil.
func (k *Knob) fits(v *Variant) error {
	var failed error
	for _, place := range []float64{1, 0} {
		_, text := k.value(place)
		_, err := v.with("--tune "+k.Path, []Setting{{k.Path, text}})
		if err == nil {
			return nil
		}
		failed = err
	}
	return failed
}
