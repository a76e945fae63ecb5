package main

import (
	"fmt"
	"reflect"
	"strings"

	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro/compare"
)

// against is how a preset does in whole fleets, held against none: worse in something, worse in one thing
// and better in another, better, or not told apart.
type against struct {
	Seeds  compare.Seeds      `json:"seeds"`
	Worlds int                `json:"worlds"`
	Worse  []compare.Standing `json:"worse"`
	Mixed  []compare.Standing `json:"mixed"`
	Better []compare.Standing `json:"better"`
	Same   []compare.World    `json:"same"`
}

// againstNone looks a policy up among the presets that have been held against none. It is nil for
// none itself, and for a policy that is no preset.
func againstNone(p *preset.Preset) (*against, error) {
	if p.Name == "none" || !isPreset(p) {
		return nil, nil
	}
	table, err := compare.PresetStandings()
	if err != nil {
		return nil, err
	}
	v := table.Of(p.Name)
	return &against{
		Seeds: table.Seeds, Worlds: len(table.Worlds),
		Worse: list(v.Worse), Mixed: list(v.Mixed), Better: list(v.Better), Same: list(v.Same),
	}, nil
}

// list is never null in JSON.
func list[T any](s []T) []T { return append([]T{}, s...) }

// isPreset says whether a policy, perhaps read from a file, is the preset of its name.
func isPreset(p *preset.Preset) bool {
	known, err := preset.Get(p.Name)
	if err != nil {
		return false
	}
	known.Policy.Preset = p.Policy.Preset
	return reflect.DeepEqual(known.Policy, p.Policy) && reflect.DeepEqual(known.Set, p.Set)
}

// againstShown is how many worlds of a kind are told of in full.
const againstShown = 5

func (p *page) against(x *explanation) {
	a := x.Against
	switch {
	case x.Name == "none":
		return
	case a == nil:
		p.section("Against none")
		p.b.WriteString(p.wrap("  ", "It is no preset of wedge's, so nothing is known yet. wedge compare --policy none --policy FILE runs it in whole fleets."))
		return
	}
	p.section(fmt.Sprintf("Against none, in %d worlds of whole fleets, seeds %s", a.Worlds, a.Seeds))
	if len(a.Worse)+len(a.Mixed) == 0 {
		p.line("  Nothing found where it is worse.")
	}
	p.standings("Worse in", a.Worse, true, false)
	p.standings("Worse in one thing and better in another in", a.Mixed, true, true)
	p.standings("Better in", a.Better, false, true)
	if len(a.Same) > 0 {
		p.b.WriteString(p.wrap("  ", fmt.Sprintf("Not told apart in %d: %s.", len(a.Same), worldsOf(a.Same))))
	}
}

// standings tells of the first worlds in full and names the rest.
func (p *page) standings(title string, rows []compare.Standing, worse, better bool) {
	if len(rows) == 0 {
		return
	}
	p.line("  %s", title)
	for i := range rows[:min(len(rows), againstShown)] {
		var said []string
		if worse {
			said = append(said, rows[i].Words(true))
		}
		if better {
			said = append(said, rows[i].Words(false))
		}
		p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(rows[i].World.String()+": "+strings.Join(said, "; but ")+".")), " "))
	}
	if len(rows) > againstShown {
		var rest []compare.World
		for i := range rows[againstShown:] {
			rest = append(rest, rows[againstShown+i].World)
		}
		p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", fmt.Sprintf("and in %d more: %s.", len(rest), worldsOf(rest))), " "))
	}
}

func worldsOf(worlds []compare.World) string {
	var names []string
	for _, w := range worlds {
		names = append(names, w.String())
	}
	return plainText(strings.Join(names, ", "))
}
