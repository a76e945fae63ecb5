package report

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"gonum.org/v1/plot/vg/vgsvg"
)

// finish writes the canvas as a picture that stands alone.
func finish(c *vgsvg.Canvas, f Frame) ([]byte, error) {
	var raw bytes.Buffer
	if _, err := c.WriteTo(&raw); err != nil {
		return nil, fmt.Errorf("report: picture %q: %w", f.Title, err)
	}
	// The prelude up to the first group is gonum's: physical size, no name, no theme.
	_, body, found := strings.Cut(raw.String(), "<g ")
	if !found {
		return nil, fmt.Errorf("report: picture %q: the drawing has no group", f.Title)
	}
	w, h := c.Size()
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="wp" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`,
		w.Points(), h.Points(), w.Points(), h.Points(), html.EscapeString(spoken(f)))
	out.WriteString("\n<style>" + styleSheet() + "</style>\n<g ")
	restyleAll(&out, body)
	return out.Bytes(), nil
}

// spoken is what a screen reader says in place of the picture.
func spoken(f Frame) string {
	switch {
	case f.Title == "":
		return clean(f.Note)
	case f.Note == "":
		return clean(f.Title)
	}
	return clean(f.Title + ". " + f.Note)
}

// restyleAll copies what gonum wrote. gonum puts fixed colours and the font it measured with into the style attribute of each
// element; they become classes and plain attributes, so that a style sheet decides by the reader's theme. Only attributes
// are touched: text cannot look like one, its quotes are escaped.
func restyleAll(out *bytes.Buffer, body string) {
	const opening = `style="`
	for {
		before, rest, found := strings.Cut(body, opening)
		if !found {
			out.WriteString(body)
			return
		}
		list, after, _ := strings.Cut(rest, `"`)
		out.WriteString(strings.TrimRight(before, " \n\t"))
		out.WriteString(restyle(list))
		body = after
	}
}

// restyle rewrites the declarations of one style attribute, with a space before each attribute.
func restyle(list string) string {
	var classes []string
	var out strings.Builder
	for _, declaration := range strings.Split(list, ";") {
		key, value, _ := strings.Cut(declaration, ":")
		class := ""
		switch key {
		case "fill", "stroke":
			class = colourClass(key, value)
		case "font-family", "font-variant", "font-style":
			continue // one family for the whole picture, in the style sheet
		case "font-weight":
			if value != "bold" {
				continue
			}
			class = "b"
		}
		if class != "" {
			classes = append(classes, class)
			continue
		}
		fmt.Fprintf(&out, ` %s="%s"`, key, value)
	}
	if len(classes) > 0 {
		return ` class="` + strings.Join(classes, " ") + `"` + out.String()
	}
	return out.String()
}

// colourClass names the class of a colour of the palette, "" for any other ("none").
func colourClass(key, value string) string {
	if k, ok := inkOf(value); ok && strings.HasPrefix(value, "#") {
		return fmt.Sprintf("%s%d", map[string]string{"fill": "f", "stroke": "k"}[key], k)
	}
	return ""
}

// withoutStyle drops the style sheet from a picture, for a page that has it already.
func withoutStyle(svg []byte) []byte {
	before, rest, found := bytes.Cut(svg, []byte("<style>"))
	if !found {
		return svg
	}
	_, after, _ := bytes.Cut(rest, []byte("</style>\n"))
	return append(append([]byte{}, before...), after...)
}
