package container

import "bytes"

// prefixBytesMax is the longest prefix that is taken for one.
const prefixBytesMax = 160

// unwrapBracket reads kubectl logs --prefix: [pod/name/container] text.
func unwrapBracket(b []byte) (p piece, ok bool) {
	if !bytes.HasPrefix(b, []byte("[pod/")) {
		return p, false
	}
	end := bytes.IndexByte(b[:min(len(b), 4*prefixBytesMax)], ']')
	if end < 0 || bytes.IndexByte(b[:end], ' ') >= 0 {
		return p, false
	}
	p.source, p.text = b[1:end], b[end+1:]
	if len(p.text) > 0 {
		if p.text[0] != ' ' {
			return p, false
		}
		p.text = p.text[1:]
	}
	return p, true
}

// unwrapPipe reads what compose and foreman write, the second with a clock:
//
//	api-1  | text
//	10:00:01 web.1   | text
//	api.1.k3x9@node1    | text
func unwrapPipe(b []byte) (p piece, ok bool) {
	end := bytes.IndexByte(b[:min(len(b), prefixBytesMax)], '|')
	if end < 2 || b[end-1] != ' ' || end+1 < len(b) && b[end+1] != ' ' {
		return p, false
	}
	name := bytes.TrimRight(b[:end], " ")
	if _, n, _, clock := cutClock(name); clock && n < len(name) && name[n] == ' ' {
		name = name[n+1:]
	}
	if len(name) == 0 || !isLetter(name[0]) && !isDigit(name[0]) {
		return p, false
	}
	for _, c := range name {
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '_' && c != '.' && c != '/' && c != '@' {
			return p, false
		}
	}
	return piece{text: b[min(end+2, len(b)):], source: name}, true
}

// unwrapStern reads stern: pod container text.
func unwrapStern(b []byte) (p piece, ok bool) {
	pod := bytes.IndexByte(b[:min(len(b), 2*prefixBytesMax)], ' ')
	if pod < 3 || bytes.IndexByte(b[:pod], '-') < 0 || !isNameOfPod(b[:pod]) {
		return p, false
	}
	container := bytes.IndexByte(b[pod+1:min(len(b), 3*prefixBytesMax)], ' ')
	if container < 0 {
		container = len(b) - pod - 1 // the line was empty
	}
	end := pod + 1 + container
	if !isNameOfPod(b[pod+1 : end]) {
		return p, false
	}
	return piece{text: b[min(end+1, len(b)):], source: b[:end]}, true
}

// isNameOfPod follows Kubernetes: lower case, digits, hyphens.
func isNameOfPod(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && !isDigit(c) && c != '-' && c != '.' {
			return false
		}
	}
	return len(b) > 0
}

// unwrapQuote reads the quote marks of mail and Markdown.
func unwrapQuote(b []byte) (p piece, ok bool) {
	if b[0] != '>' {
		return p, false
	}
	p.text = b[1:]
	if len(p.text) > 0 && p.text[0] == ' ' {
		p.text = p.text[1:]
	}
	return p, true
}
