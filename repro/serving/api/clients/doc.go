// Package clients holds the simulated servers against programs that know nothing of them: the official
// client for Node, the official client for Go, go-openai, and a Prometheus server. It has tests only,
// behind the build tag integration; README.md is what they have seen, and what they compare with.
//
// The tests need node_modules in testdata/node and the program prometheus; .ci/clients installs both.
//
// The tests may import what a program that serves may: harness/fault, harness/sim, pacer, repro/serving
// and repro/serving/api, and the clients.
package clients
