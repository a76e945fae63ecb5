package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/wedge/pacer/preset"
)

// policyList is what policy list --json prints.
type policyList struct {
	Schema   string       `json:"schema"`
	Policies []policyLine `json:"policies"`
}

// policyLine is a policy in one line.
type policyLine struct {
	Name     string `json:"name"`
	Imitates string `json:"imitates"` // empty: nobody
	About    string `json:"about"`
	Limits   string `json:"limits"`
	Attempts int    `json:"max_attempts"`
	// LongestSilentS is how long a call lasts at most if the servers go silent in every attempt, in
	// seconds; null: for ever.
	LongestSilentS *float64 `json:"longest_silent_s"`
}

func policyLines() ([]policyLine, error) {
	var lines []policyLine
	for _, name := range preset.Names() {
		p, err := preset.Get(name)
		if err != nil {
			return nil, err
		}
		line, err := policyLineOf(&p)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", name, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func policyLineOf(p *preset.Preset) (policyLine, error) {
	line := policyLine{Name: p.Name, Imitates: p.Imitates(), About: p.About, Limits: limitsLine(&p.Policy), Attempts: p.Policy.MaxAttempts}
	longest, ends, err := longestSilence(p)
	if ends {
		s := longest.Seconds()
		line.LongestSilentS = &s
	}
	return line, err
}

// printPolicies writes the list as a table whose last two columns are broken into lines.
func printPolicies(w io.Writer, lines []policyLine) error {
	p := &page{style: styleOf(w)}
	p.line("%s", p.bold(fmt.Sprintf("%-24s%10s%10s  %-30s%s", "name", "silence", "attempts", "limits", "imitates")))
	for _, own := range []bool{true, false} {
		if !own {
			p.line("")
		}
		for _, l := range lines {
			if (l.Imitates == "") == own {
				p.policyLine(&l)
			}
		}
	}
	p.line("")
	p.b.WriteString(p.wrap("", "silence: how long a call lasts at most, with all its attempts and waits, if the servers go silent in each of them at "+
		"the worst place. wedge policy explain NAME says the rest; --set policy.preset=NAME tries one."))
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) policyLine(l *policyLine) {
	silence := "for ever"
	if l.LongestSilentS != nil {
		silence = strconv.FormatFloat(*l.LongestSilentS, 'f', 0, 64) + " s"
	}
	const limitsWide, imitatesWide = 28, 26
	limits, imitates := cell(l.Limits, limitsWide), cell(l.Imitates, imitatesWide)
	for i := range max(len(limits), len(imitates)) {
		head := strings.Repeat(" ", 44)
		if i == 0 {
			head = fmt.Sprintf("%-24s%10s%10d", l.Name, silence, l.Attempts)
		}
		p.line("%s  %-30s%s", head, lineOf(limits, i), lineOf(imitates, i))
	}
}

// cell breaks text into lines of at most so many letters.
func cell(text string, wide int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= wide {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
