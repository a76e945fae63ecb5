// Package requestlog reads logs of requests: which were started and not finished,
// how the others ended, how long they took, and what the log cannot tell. Many
// logs give latencies as bare numbers; their unit is inferred by comparing them
// with the log's own time stamps, and reported with the evidence.
//
// It knows SGLang's router, JSON and key=value lines of any logger, and the access
// logs of nginx and envoy, in whatever containers those may be.
//
// It may import package container and the standard library.
package requestlog
