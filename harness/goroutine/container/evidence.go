package container

import "bytes"

// isDumpLine knows lines that are in any dump and hardly elsewhere: headers,
// positions and creators, and their like in the texts of other tools.
func isDumpLine(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case '\t', ' ':
		return isPosition(text) || isToolHeader(bytes.TrimLeft(text, " "))
	case '#':
		return isPosition(text) || isGDBFrame(text)
	case 'c':
		return bytes.HasPrefix(text, []byte("created by "))
	case 'g':
		return isHeader(text)
	}
	return isToolHeader(text)
}

// isPosition knows what ends in a file and line, with what Go or a profile puts
// around it, and the frames of panicparse.
func isPosition(text []byte) bool {
	end := bytes.LastIndexByte(text, ':')
	if end < 3 || end+1 == len(text) || !isDigit(text[end+1]) {
		return false
	}
	if !bytes.HasSuffix(text[:end], []byte(".go")) && !bytes.HasSuffix(text[:end], []byte(".s")) {
		return false
	}
	for end++; end < len(text) && isDigit(text[end]); end++ {
	}
	rest := text[end:]
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte(" +0x")) || bytes.HasPrefix(rest, []byte(" fp=")) || bytes.HasPrefix(rest, []byte("  ")) && bytes.HasSuffix(rest, []byte(")"))
}

// isGDBFrame knows #5  0x0000000000401000 in main.work (x=0x1) at /app/a.go:3.
func isGDBFrame(text []byte) bool {
	i := 1
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	rest := bytes.TrimLeft(text[i:], " ")
	return i > 1 && (bytes.HasPrefix(rest, []byte("0x")) || bytes.Contains(rest, []byte(") at ")))
}

// isHeader knows goroutine N [ and the first line of a profile.
func isHeader(text []byte) bool {
	const word = "goroutine "
	if bytes.HasPrefix(text, []byte("goroutineleak profile: total ")) {
		return true
	}
	if !bytes.HasPrefix(text, []byte(word)) || len(text) == len(word) {
		return false
	}
	i := len(word)
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == len(word) {
		return bytes.HasPrefix(text[i:], []byte("profile: total "))
	}
	return i+1 < len(text) && text[i] == ' ' && (text[i+1] == '[' || text[i+1] == 'g')
}

// isToolHeader knows the headers of other tools:
//
//   - Goroutine 9 - User: f.go:3 pkg.F (0x4c0f2f) [select]    delve
//     33: semacquire [6~12 minutes] [Created by …]              panicparse
//     3 @ 0x48084e 0x4146ec                                     a profile's bucket
func isToolHeader(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("* "))
	if rest, ok := bytes.CutPrefix(text, []byte("Goroutine ")); ok {
		digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
		return digits > 0 && bytes.HasPrefix(rest[digits:], []byte(" - "))
	}
	digits := len(text) - len(bytes.TrimLeft(text, "0123456789"))
	if digits == 0 {
		return false
	}
	rest := text[digits:]
	return bytes.HasPrefix(rest, []byte(" @ 0x")) || bytes.HasPrefix(rest, []byte(": ")) && startsWithState(rest[2:])
}

func startsWithState(text []byte) bool {
	for _, state := range [...]string{"running", "runnable", "syscall", "waiting", "semacquire", "select", "chan receive", "chan send", "sleep", "IO wait", "sync."} {
		if rest, ok := bytes.CutPrefix(text, []byte(state)); ok {
			return len(rest) == 0 || rest[0] == ' ' || state == "sync."
		}
	}
	return false
}

// announces says that a dump begins with this line or soon after.
func announces(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case 'g':
		return isHeader(text)
	case 'p':
		return bytes.HasPrefix(text, []byte("panic: "))
	case 'f':
		return bytes.HasPrefix(text, []byte("fatal error: "))
	case 'S':
		return bytes.HasPrefix(text, []byte("SIGQUIT: ")) || bytes.HasPrefix(text, []byte("SIGABRT: "))
	case '(':
		return bytes.HasPrefix(text, []byte("(dlv) ")) || bytes.HasPrefix(text, []byte("(gdb) "))
	}
	return isToolHeader(text) || bytes.HasPrefix(text, []byte("Thread "))
}
