package repro

import (
	"strings"

	"example.com/wedge/agents"
)

// redacting is a workspace that keeps a secret out of what agents write: a careless server may quote the
// API key in the arguments of a tool call.
type redacting struct {
	agents.Workspace
	secret string
}

var _ agents.Workspace = redacting{}

// Write implements agents.Workspace.
func (r redacting) Write(path, text string) error { return r.Workspace.Write(path, r.clean(text)) }

// Append implements agents.Workspace.
func (r redacting) Append(path, text string) error { return r.Workspace.Append(path, r.clean(text)) }

func (r redacting) clean(text string) string {
	return strings.ReplaceAll(text, r.secret, "[redacted]")
}
