// Package embed watches the agents of somebody's own program, the way a wedge run watches its own: who
// is at what, which call is in which stage, who holds a slot and who waits for one. When no step has
// finished for too long it captures the evidence (calls, waits, gauges, goroutines), has it judged, and
// goes on watching.
//
//	dog, err := embed.Start(embed.Options{Name: "ocbrowse", Dir: "evidence", Slots: 16, Judge: judge, OnStall: tell})
//	defer dog.Close()
//	client := &http.Client{Transport: dog.Transport(nil)}
//	...
//	ctx, agent := dog.Agent(ctx, "agent-07", "message 12") // on the goroutine of the agent
//	defer func() { agent.End(err) }()
//	release, err := dog.Acquire(ctx)                         // a slot
//	resp, err := client.Do(req.WithContext(ctx))             // connect, headers, first_token, stream
//	release()
//	returned := agent.Tool("save")
//	returned()
//	agent.Step()                                             // progress
//
// What is not marked shows in the goroutine dump of each capture: a deadlock of the program's own locks, a
// semaphore of its own that has run out, a child process that does not end. The evidence has that too, with
// how sure it is, and the diagnosis puts a stall down to it if no mark explains it.
//
// What it costs is a lock and a clock reading for each of these events and for each Read of a body;
// nothing polls. Nothing of the requests' or answers' text is kept, but for the first bytes of error
// messages.
//
// The verdict is package repro/diagnose's: give diagnose.Diagnose, wrapped, as Options.Judge. This
// package does not import it, so that a program that only wants the evidence does not carry it.
//
// The package runs on the machine's clock only; it works inside a testing/synctest bubble. It imports
// harness, harness/bundle, harness/goroutine, harness/sim,
// agents and pacer.
package embed
