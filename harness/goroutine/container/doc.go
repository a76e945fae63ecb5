// Package container gives back the lines that a program printed from what
// logs, terminals and tools have made of them: prefixes of journald, of docker,
// of Kubernetes and of CI; JSON and escapes; colours; other encodings; the
// damage that terminals, HTML and Markdown do. Layers may stack, and change
// within a text.
//
// It is for readers of goroutine dumps first. What could also be part of a dump
// or of an ordinary log, such as a plain time stamp, is taken away only where
// lines of a dump appear behind it; what only a container writes is taken away
// from any text. Plain text passes through without a copy.
//
// It may import the standard library only.
package container
