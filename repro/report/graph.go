package report

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"example.com/wedge/repro/diagnose"
)

var (
	svgStyle = regexp.MustCompile(`(?s)<style>.*?</style>\n?`)
	svgNode  = regexp.MustCompile(`<g class="wg-card`)
	svgEdge  = regexp.MustCompile(`<g class="wg-edge`)
)

// draw draws who waits for whom, from the evidence and not from the picture in the bundle, which may be anybody's.
func (c *capture) draw() {
	g := diagnose.WaitGraph(c.ev, c.before)
	if len(g.Edges) == 0 {
		return
	}
	var svg strings.Builder
	if err := g.WriteSVG(&svg, fmt.Sprintf("Who waits for whom at %s", span(c.ev.At.Seconds()))); err != nil {
		return
	}
	text := svgStyle.ReplaceAllString(svg.String(), "") // the page's style sheet has its looks, so that they follow the page's theme
	n := 0
	text = svgNode.ReplaceAllStringFunc(text, func(s string) string {
		n++
		return fmt.Sprintf(`<g data-node="%d" class="wg-card`, n)
	})
	e := 0
	text = svgEdge.ReplaceAllStringFunc(text, func(s string) string {
		e++
		return fmt.Sprintf(`<g data-edge="%d" class="wg-edge`, e)
	})
	c.Graph = template.HTML(fmt.Sprintf(`<div class="picture" data-nodes="%d" data-edges="%d" tabindex="0" role="group" aria-label="Who waits for whom, drawn">%s</div>`, n, e, text))
	const convoysMax = 6
	convoys := g.Convoys(2)
	for i := range convoys[:min(len(convoys), convoysMax)] {
		c.Convoys = append(c.Convoys, clean(g.Sentence(&convoys[i])))
	}
}
