package container

import "time"

// A format is one way of wrapping each line of a program's output. The order is
// the one in which they are tried.
type format uint8

const (
	formatDocker  format = iota // docker's json-file: an object for each line
	formatCRI                   // Kubernetes' node logs
	formatJournal               // journald, syslog
	formatActions               // GitHub Actions and GitLab: a time stamp for each line
	formatBracket               // kubectl --prefix: [pod/x/y]
	formatPipe                  // compose, foreman: name |
	formatKlog                  // klog, glog: E0102 15:04:05.000000 7 f.go:12]
	formatStamp                 // any other time stamp
	formatQuote                 // > of mail and Markdown
	formatJSON                  // an object for each line, of any logger
	formatStern                 // pod container
	formatStairs                // the screen of a terminal in raw mode
	formatIndent                // moved to the right by a code block
	formatShape                 // any prefix, the same but for its numbers
	formatNumber
)

// name is how [Reader.Layers] calls it.
func (f format) name() string {
	return [formatNumber]string{"docker json", "CRI", "journald/syslog", "CI time stamps", "kubectl/compose prefix",
		"kubectl/compose prefix", "klog", "time stamps", "quote marks", "JSON lines", "kubectl/compose prefix",
		"terminal staircase", "Markdown", "line prefix"}[f]
}

// isWeak says that an ordinary log or dump may look so: it is undone only where
// lines of a dump are behind it.
func (f format) isWeak() bool { return f >= formatKlog }

// A piece is what a format has kept of a line.
type piece struct {
	text    []byte
	source  []byte // names the program; nil: the format does not tell
	stream  byte   // tells apart pieces of one source that are joined on their own
	at      time.Time
	partial bool // more of the line follows in the next piece of source and stream
	joins   bool // it may be the rest of a partial one
}

// A memo is what a format remembers from line to line.
type memo struct {
	indent  int      // of lines that continue one with a prefix
	source  []byte   // of the line before
	width   int      // of the terminal, in columns
	shape   []byte   // a prefix, with any numbers
	margin  int      // blanks that a code block put before each line
	cursor           // of the terminal
	members []Member // room for those of an object
	room    []byte   // for texts that are not in the input as they were
}

// A cursor is where the line before ended on the screen of a terminal.
type cursor struct {
	column int
	full   bool // it took the whole width, so the next line is its rest
}

// unwrap undoes the format for one line; ok is false if the line does not have
// it. The piece is valid until the next call with the memo.
func (f format) unwrap(text []byte, m *memo) (p piece, ok bool) {
	if len(text) == 0 && (f != formatStairs || !m.full) {
		return p, false
	}
	switch f {
	case formatDocker:
		return unwrapDocker(text, m)
	case formatCRI:
		return unwrapCRI(text)
	case formatJournal:
		return unwrapJournal(text, m)
	case formatActions:
		return unwrapActions(text)
	case formatBracket:
		return unwrapBracket(text)
	case formatPipe:
		return unwrapPipe(text)
	case formatKlog:
		return unwrapKlog(text)
	case formatStamp:
		return unwrapStamp(text)
	case formatQuote:
		return unwrapQuote(text)
	case formatJSON:
		return unwrapJSON(text, m)
	case formatShape:
		return unwrapShape(text, m)
	case formatStairs:
		return unwrapStairs(text, m)
	case formatIndent:
		return unwrapIndent(text, m)
	default:
		return unwrapStern(text)
	}
}
