package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"

	"example.com/wedge/repro/diagnose"
)

// The page, its looks and its script.
var (
	//go:embed page/*.html
	pageHTML embed.FS
	//go:embed page/style.css
	styleCSS string
	//go:embed page/script.js
	scriptJS string
)

// page is the view with what stands in the page's head.
type page struct {
	*view
	Policy string // of content: what the page may load and run
	Style  template.CSS
	Script template.HTML
}

// write writes the page.
func write(w io.Writer, t *template.Template, v *view) error {
	// The hash is of the text between the tags, to the byte.
	sum := sha256.Sum256([]byte(scriptJS))
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	return t.ExecuteTemplate(w, "page.html", page{v, policy, template.CSS(styleCSS), template.HTML("<script>" + scriptJS + "</script>")})
}

// templates parses the page.
func templates() (*template.Template, error) {
	return template.New("page.html").Funcs(template.FuncMap{
		"clean": clean, "words": stageWords, "thousands": thousands[int], "span": span, "share": share, "plural": plural,
		"number": number, "class": stageClass, "mood": func(o diagnose.Outcome) string { return outcomeBadge(o).Mood }, "percent": share, "score": func(s float64) float64 { return 100 * min(1, max(0, s)) },
	}).ParseFS(pageHTML, "page/*.html")
}

// add renders a part of the page, unless there is nothing to show. A part that fails is told of.
func (v *view) add(s *source, t *template.Template, id, title string, data any) {
	s.guard("the part "+title, func() {
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, id, data); err != nil {
			panic(err)
		}
		v.Parts = append(v.Parts, part{id, title, template.HTML(out.String())})
	})
}
