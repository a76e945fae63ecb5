// Package report makes one page of a bundle: the verdict in words, where the calls were, what each agent did and when,
// gauges with the load they were read under, who waits for whom, what speaks for and against each explanation, the
// goroutines, and what of the configuration is not the default.
//
// The page is one file that loads nothing. Its script is allowed by its hash, and everything of the bundle is data to
// it: names, answers and errors are written as text, whatever stands in them. Without the script, and on paper, each
// picture is still there. The same bundle gives the same bytes.
//
// A bundle may be that of a run that was killed, or damaged: the page says what is missing and shows the rest. Files
// are read with a bound, logs line by line.
//
// It may import repro, what stands below it, and repro/soak; nobody but commands imports it.
package report
