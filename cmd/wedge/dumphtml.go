package main

import (
	_ "embed" // for the page
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"example.com/wedge/harness/goroutine/waits"
)

//go:embed dump.html
var dumpTemplate string

// How much a page shows at most, so that browsers can open it.
const (
	pageGroupsMax  = 500
	pageObjectsMax = 200
	pageIDsMax     = 50
)

// dumpView is what the page is made of.
type dumpView struct {
	R           *dumpReport
	Name        string
	Outcome     string // in capitals
	Mood        string // class of the verdict: bad, warn or good
	Missing     []string
	Picture     template.HTML
	Objects     []dumpObject
	MoreObjects int
	Groups      []groupView
	MoreGroups  int
}

type groupView struct {
	*dumpGroup
	Open    bool
	Minutes string
}

// writeDumpPage writes the report as a page that needs nothing else.
func writeDumpPage(w io.Writer, r *dumpReport) error {
	page, err := template.New("dump").Funcs(template.FuncMap{
		"thousands": thousands,
		"seconds":   seconds,
		"percent":   func(share float64) string { return fmt.Sprintf("%.0f %%", share*100) },
		"named":     func(ids []int64) bool { return len(ids) > 0 && !slices.Contains(ids, 0) },
		"waiting":   waitWords,
		"role":      func(o dumpObject) string { return o.role() },
		"unsure":    func(confidence float64) bool { return confidence < sureEnough },
		"words":     func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		"ids":       pageIDs,
	}).Parse(dumpTemplate)
	if err != nil {
		return err
	}
	var picture strings.Builder
	if err := r.graph().WriteSVG(&picture, r.title); err != nil {
		return err
	}
	view := dumpView{
		R: r, Name: r.Snapshots[len(r.Snapshots)-1].Name, Outcome: strings.ToUpper(r.Verdict.Outcome), Mood: "warn",
		Missing: append(slices.Clone(r.Verdict.Missing), lacksWords(r)...),
		Picture: template.HTML(picture.String()), // of our own making, every text in it escaped
		Objects: r.Objects[:min(len(r.Objects), pageObjectsMax)], MoreObjects: max(0, len(r.Objects)-pageObjectsMax),
		MoreGroups: max(0, len(r.Groups)-pageGroupsMax),
	}
	switch waits.Outcome(r.Verdict.Outcome) {
	case waits.Deadlocked, waits.Wedged:
		view.Mood = "bad"
	case waits.Idle:
		view.Mood = "good"
	}
	for i := range r.Groups[:min(len(r.Groups), pageGroupsMax)] {
		g := &r.Groups[i]
		view.Groups = append(view.Groups, groupView{g, i == 0 && g.Stuck > 0, g.minutes()})
	}
	return page.Execute(w, view)
}

func pageIDs(ids []int64) string {
	var words []string
	for i, id := range ids {
		if i == pageIDsMax {
			words = append(words, fmt.Sprintf("and %s more", thousands(len(ids)-i)))
			break
		}
		words = append(words, fmt.Sprint(id))
	}
	return strings.Join(words, ", ")
}
