package bundle

import (
	"bytes"
	"encoding/json"
)

// secretMinBytes is the least length at which a text counts as a secret.
const secretMinBytes = 8

// secretsOf returns the texts to look for: the secrets, and how JSON would write them.
func secretsOf(secrets []string) [][]byte {
	var out [][]byte
	for _, s := range secrets {
		if len(s) < secretMinBytes {
			continue
		}
		out = append(out, []byte(s))
		if quoted, err := json.Marshal(s); err == nil {
			if inner := quoted[1 : len(quoted)-1]; string(inner) != s {
				out = append(out, inner)
			}
		}
	}
	return out
}

// redact returns the text without secrets; it is p itself if there are none.
func (b *Bundle) redact(p []byte) []byte {
	for _, s := range b.secrets {
		if bytes.Contains(p, s) {
			p = bytes.ReplaceAll(p, s, []byte("[redacted]"))
		}
	}
	return p
}
