package bundle

// Options says how a bundle is written. The zero value is for a run on the wall.
type Options struct {
	// Replace lets a bundle of an earlier run at the same path be removed. Without it any existing
	// path is an error; with it, everything but a bundle or an empty directory is.
	Replace bool

	// Inline lets a log write by itself once it has collected 64 KiB, in whatever process wrote the
	// last line. That is right in virtual time. On the wall it would hold the monitor for as long as
	// the disk takes, so that there only Flush writes; call it every second.
	Inline bool

	// Secrets are texts, such as API keys, that must not get into any file, not even when a server
	// quotes them: "[redacted]" takes their place. Those shorter than 8 bytes are ignored, since they
	// are placeholders and would make a mess of words.
	Secrets []string

	// Rotate bounds what each log takes on the disk; the zero value does not. See [LogOptions] for logs
	// that differ from the others.
	Rotate Rotation

	// Resume continues the bundle at the path, which an earlier run of the same run.json left, however
	// it ended: anything else there, or a run.json that differs, is an error that touches nothing. The
	// run must be replayed from its beginning, so that it writes the same lines again: what the logs
	// hold, or have rotated away, is compared and skipped, and the files end as those of a run that
	// was never broken. Lines that an earlier process lost are written now. Replace is ignored.
	Resume bool

	// AppendLogs, with Resume, is for a run on the wall, which cannot be replayed: every log goes on
	// after its last whole line, and run.json may have been written by another wedge, on another day.
	AppendLogs bool

	// Interrupted, with Resume, is for a run that was interrupted and not killed, and so wrote an end of
	// its own, which a replay does not have: where a log differs from the replay it is cut and goes on
	// with the replay's lines. Without it a log that differs is an error that ends all writing. The bundle
	// remembers it until a replay has passed that end, so that a replay that is killed before needs to be told only once.
	Interrupted bool

	// GoOn lets the bundle go on after a failure. The first one is kept all the same, lines are lost as
	// long as a log cannot be written, and every 10 s of real time a flush tries again. When it
	// succeeds, a line {"lost_lines":N} in that log says how many are missing there. Other files are
	// tried each time. Without it nothing is written after a failure.
	GoOn bool
}
