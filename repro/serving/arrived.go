package serving

import (
	"strings"

	"example.com/wedge/pacer"
)

var _ pacer.Ahead = (*stream)(nil)

// Arrived implements pacer.Ahead: the chunks that were handed out may hold more.
func (st *stream) Arrived() (text string, ok bool) {
	if st.turn != st.body.turn {
		return "", false
	}
	a := &st.h.r.reply
	tokens := st.h.Progress().Tokens
	if tokens <= a.reasoning || tokens > a.callFrom() {
		return "", false
	}
	var b strings.Builder
	for at := a.reasoning; at < tokens; {
		p := a.part(at, tokens)
		b.WriteString(p.Content)
		at += p.Tokens
	}
	return b.String(), true
}
