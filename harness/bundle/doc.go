// Package bundle writes the evidence of a run into a directory, so that it can be read whatever
// happens: complete lines only, whole files only, and nobody else's files touched.
//
// A bundle holds run.json from before the run begins. Logs such as events.jsonl grow line by line
// (see [Log]); other files appear complete, under their final name, or not at all. The directory has
// mode 0700 and its files 0600. When a write fails (a full disk, a directory that has vanished), the
// bundle keeps that one error, writes nothing further, and the run goes on without it.
//
// For runs that go on for days, [Options] bound what a log takes ([Rotation]), let a bundle be written
// again when there is room again (GoOn), and continue one whose process was killed (Resume). [Logs]
// finds the files of a log for those who read.
//
// A nil *Bundle, and a nil *Log, is valid and writes nothing: it stands for "no bundle".
//
// The package imports the standard library only. It is no simulated code: it uses the machine's
// files, clock and locks, never waits for a process, and so may be called from any of them, with or
// without the monitor held.
package bundle
