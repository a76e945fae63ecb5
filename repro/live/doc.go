// Package live shows a run while it goes on: as a web page with server-sent events, as metrics for Prometheus, as
// JSON, and as a source of snapshots for a screen in a terminal.
//
//	run ── harness.Progress ──> View ──┬── Snapshot, History ──> page (/events), /snapshot.json, the terminal's screen
//	  └─── series.Cumulative ─────────────────────────────────> /metrics
//
// A [View] looks at the run twice a second, whoever watches; the run itself waits for nobody. Everything that servers,
// agents and scenarios have named is text: the page never takes it for markup.
//
// It reads the machine's clock and serves HTTP, so nothing that is simulated may import it. It imports harness, pacer,
// repro/diagnose and repro/series, and of repro nothing that runs scenarios.
package live
