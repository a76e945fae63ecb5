//go:build integration

package clients

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/wedge/pacer"
)

// turn is what a client has seen of one answer.
type turn struct {
	Requests  int      `json:"requests"` // sent for it, retries included
	Order     []string `json:"order"`    // kinds of chunks, each once for a row of them; of streams only
	Reasoning string   `json:"reasoning"`
	Content   string   `json:"content"`
	Calls     []call   `json:"calls"`
	Finish    string   `json:"finish"`
	Usage     *usage   `json:"usage"`
	Error     *problem `json:"error"`
	Waits     bool     `json:"waits"` // the test's patience was over, not the client's
}

// streamed are the calls whose answer comes in chunks.
var streamed = []string{callStream, callTool, callLoop}

// The kinds of chunks.
const (
	kindRole      = "role"
	kindReasoning = "reasoning"
	kindText      = "text"
	kindCall      = "call"
	kindFinish    = "finish"
	kindUsage     = "usage"
)

// call is a tool call.
type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// usage is what the client says that the answer is charged for.
type usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Total      int `json:"total"`
	Reasoning  int `json:"reasoning"`
}

// problem is an error, as far as the client's types know it.
type problem struct {
	Class   string `json:"class"`
	Status  int    `json:"status"` // 0: unknown to the client
	Code    string `json:"code"`
	Type    string `json:"type"`
	Param   string `json:"param"`
	Message string `json:"message"`
}

// saw notes a kind of chunk.
func (t *turn) saw(kind string) {
	if len(t.Order) == 0 || t.Order[len(t.Order)-1] != kind {
		t.Order = append(t.Order, kind)
	}
}

// addCall adds a piece of a call to those known.
func (t *turn) addCall(index int, piece call) {
	t.saw(kindCall)
	for len(t.Calls) <= index {
		t.Calls = append(t.Calls, call{})
	}
	c := &t.Calls[index]
	c.ID += piece.ID
	c.Name += piece.Name
	c.Arguments += piece.Arguments
}

// arrived says what reached the caller and in what order. Where that is a race, it does not say how
// much.
func (t *turn) arrived(race bool) string {
	amount := func(kind, text string) string {
		if race {
			return "some of " + kind
		}
		return fmt.Sprintf("%s %d", kind, len(text)/pacer.BytesPerToken)
	}
	var parts []string
	order := t.Order
	if len(order) == 0 { // it came in one piece
		for _, c := range []struct {
			kind string
			is   bool
		}{{kindReasoning, t.Reasoning != ""}, {kindText, t.Content != ""}, {kindCall, len(t.Calls) > 0}} {
			if c.is {
				order = append(order, c.kind)
			}
		}
	}
	for _, kind := range order {
		switch kind {
		case kindReasoning:
			kind = amount(kind, t.Reasoning)
		case kindText:
			kind = amount(kind, t.Content)
		case kindCall:
			for _, c := range t.Calls {
				kind = c.String()
			}
		}
		parts = append(parts, kind)
	}
	if race && len(parts) > 0 {
		return "a beginning"
	}
	return strings.Join(parts, ", ")
}

func (c call) String() string {
	text := fmt.Sprintf("call `%s`", c.Name)
	if c.ID == "" {
		text += " **without an id**"
	}
	if !json.Valid([]byte(c.Arguments)) {
		text += " **with broken JSON**"
	}
	return text
}

// row is the turn as a line of a table. It is one of a call in the given client.
func (t *turn) row(client, call string, race bool) string {
	charged := ""
	if u := t.Usage; u != nil {
		charged = fmt.Sprintf("%d + %d = %d, reasoning %d", u.Prompt, u.Completion, u.Total, u.Reasoning)
	}
	end := "well"
	switch {
	case t.Error != nil:
		end = t.Error.String()
	case t.Waits:
		end = "**never**: it waits for as long as it is let"
	case t.Finish == "" && slices.Contains(streamed, call):
		end = "**well, without a finish reason**"
	}
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %s |\n", client, t.Requests, t.arrived(race), t.Finish, charged, end)
}

// changing are the parts of messages that are nobody's business, or differ from run to run.
var changing = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`chatcmpl-\w+|\b[0-9a-f]{32}\b`), "ID"},
	{regexp.MustCompile(`\b\d{12,}\b`), "NUMBER"},
}

func (p *problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`", p.Class)
	if p.Status != 0 {
		fmt.Fprintf(&b, " %d", p.Status)
	}
	for _, f := range []struct{ name, value string }{{"type", p.Type}, {"code", p.Code}, {"param", p.Param}} {
		if f.value != "" {
			fmt.Fprintf(&b, ", %s `%s`", f.name, f.value)
		}
	}
	message := p.Message
	for _, c := range changing {
		message = c.pattern.ReplaceAllString(message, c.by)
	}
	return b.String() + ": " + strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(message)
}
