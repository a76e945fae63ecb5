package compare_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// FuzzParse reads any text as each of the things that stand on the command line: what is refused is
// refused in one line, and what is taken is valid.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"1-50", "7", "3-1", "policy.idle=30s,60s", "policy.retry_on=[500],[429, 503]", "policy.idle=10s..600s", "pacer.slots=1..30", "none",
		"patient: {idle: 60s, set: [pacer.hold=start]}", "a: {preset: idle-60s, hedge: {after: 30s, share: 0.05}}", "x: {idle: 60s, total: 30s}", "{", "a: b: c", "a: {set: 1}", "a: {preset: }",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "/\\.") && !strings.Contains(text, "=") && !strings.Contains(text, "{") {
			return // the name of a file
		}
		_, err := compare.ParseSeeds("--seeds", text)
		oneLine(t, err)
		if sweep, err := compare.ParseSweep(text); err == nil {
			p := &compare.Plan{Seeds: compare.Seeds{From: 1, To: 1}, Scenarios: []*repro.Scenario{repro.Default()}}
			oneLine(t, p.Apply(sweep))
		} else {
			oneLine(t, err)
		}
		_, err = compare.ParseKnob(text)
		oneLine(t, err)
		v, err := compare.ParseVariant(text)
		oneLine(t, err)
		if err == nil && !v.AsIs {
			if err := v.Policy.Validate(); err != nil {
				t.Errorf("took a policy that is none: %v", err)
			}
		}
	})
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	var input *repro.InputError
	switch {
	case err == nil:
	case !errors.As(err, &input):
		t.Errorf("%T %v, want an input error", err, err)
	case strings.ContainsAny(err.Error(), "\r\n\x1b"):
		t.Errorf("%q, want one line", err)
	}
}
