package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/preset"
)

// explanation is what policy explain --json prints.
type explanation struct {
	Schema string `json:"schema"`
	policyLine
	Source     string       `json:"source"`
	Trap       string       `json:"trap"`
	Parameters []parameter  `json:"parameters"`
	Off        []string     `json:"off"` // fields that are off
	Set        []string     `json:"set"` // settings of the pacer
	Policy     pacer.Policy `json:"policy"`
	// Against is how it does in whole fleets, held against none; null for none, and for files that are no
	// preset.
	Against *against `json:"against_none"`
	Plays   []play   `json:"plays"`
}

// playLength is how long a play is watched.
const playLength = 24 * time.Hour

// explain plays a policy in every scene.
func explain(p *preset.Preset) (explanation, error) {
	x := explanation{Schema: "wedge.policy/1", Source: p.Source, Trap: p.Trap, Set: append([]string{}, p.Set...), Policy: p.Policy}
	x.Parameters, x.Off = parameters(p)
	var err error
	if x.policyLine, err = policyLineOf(p); err != nil {
		return explanation{}, err
	}
	if x.Against, err = againstNone(p); err != nil {
		return explanation{}, err
	}
	for _, s := range scenes() {
		played, err := playScene(p, s, playLength)
		if err != nil {
			return explanation{}, fmt.Errorf("scene %s: %w", s.Name, err)
		}
		x.Plays = append(x.Plays, played)
	}
	return x, nil
}

func printExplanation(w io.Writer, x *explanation) error {
	p := &page{style: styleOf(w)}
	p.line("%s", p.bold(plainText(x.Name)))
	p.text("", x.About)
	if x.Policy.Preset != "" && x.Policy.Preset != x.Name {
		p.text("Built on", x.Policy.Preset+", with what the file says over it")
	}
	p.text("Source", x.Source)
	p.text("The trap", x.Trap)
	p.against(x)
	p.section("Parameters")
	p.parameters(x)
	p.section("A call against servers that go silent in every attempt, at the worst place")
	if x.LongestSilentS == nil {
		p.line("  lasts for ever")
	} else {
		p.line("  lasts %s", seconds(*x.LongestSilentS))
	}
	for i := range x.Plays {
		p.play(&x.Plays[i])
	}
	p.line("")
	p.line("%s", p.dim("Waits are drawn with seed 1. --set policy.preset=NAME tries a policy in a scenario,"))
	p.line("%s", p.dim("wedge compare SCENARIO --policy none --policy NAME holds it against none there."))
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) text(title, text string) {
	if text == "" {
		return
	}
	if title != "" {
		p.section(title)
	}
	p.b.WriteString(p.wrap("  ", plainText(text)))
}

func (p *page) parameters(x *explanation) {
	for _, f := range x.Parameters {
		meaning := f.Meaning
		if f.Default {
			meaning += " (default)"
		}
		const wide = 12
		value := plainText(f.Value)
		if len(value) <= wide {
			p.entry(fmt.Sprintf("%-24s%-*s", f.Name, wide, value), meaning)
			continue
		}
		p.entry(fmt.Sprintf("%-24s%-*s", f.Name, wide, ""), meaning)
		p.b.WriteString(p.wrap(strings.Repeat(" ", 26), value))
	}
	for _, set := range x.Set {
		p.b.WriteString(p.wrap("  ", plainText(set)+", set with the policy"))
	}
	p.b.WriteString(p.wrap("  ", "off: "+strings.Join(x.Off, ", ")))
}
