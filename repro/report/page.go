package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"html/template"
	"io"
	"strings"
)

// The page, its looks and its script.
var (
	//go:embed page/page.html
	pageHTML string
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
func write(w io.Writer, v *view) error {
	t, err := templates()
	if err != nil {
		return err
	}
	// The hash is of the text between the tags, to the byte.
	sum := sha256.Sum256([]byte(scriptJS))
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	return t.ExecuteTemplate(w, "page.html", page{v, policy, template.CSS(styleCSS), template.HTML("<script>" + scriptJS + "</script>")})
}

// templates parses the page.
func templates() (*template.Template, error) {
	return template.New("page.html").Funcs(template.FuncMap{
		"clean": clean, "words": stageWords, "thousands": thousands[int], "span": span, "share": share, "plural": plural,
		"number": number, "lower": strings.ToLower,
	}).Parse(pageHTML)
}

// render renders a template of the page's, by itself.
func render(name string, data any) (template.HTML, error) {
	t, err := templates()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, name, data); err != nil {
		return "", err
	}
	return template.HTML(out.String()), nil
}
