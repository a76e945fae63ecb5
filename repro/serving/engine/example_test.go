package engine_test

import (
	"fmt"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// watcher is an owner that prints what it is told.
type watcher struct{ e *engine.Engines }

func (w watcher) FirstToken(*engine.Leg) {
	fmt.Println(w.e.Now(), "first token: response headers are due")
}
func (w watcher) Marked(l *engine.Leg) { fmt.Println(w.e.Now(), l.MarkTokens, "tokens") }
func (w watcher) Ended(l *engine.Leg) {
	at, _ := l.Worker()
	stage, _ := l.Stage()
	fmt.Println(w.e.Now(), at.Name, stage)
}

// A request to a prefill and a decode engine, which its owner brings from one event to the next.
func Example() {
	e, err := engine.New(engine.Default(), nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	job := engine.Job{PromptTokens: 1000, OutputTokens: 128, Stream: true, Room: 42}
	p, d := new(engine.Leg), new(engine.Leg)
	*p = engine.Leg{Job: &job, Owner: watcher{e}, Peer: d, PeerAt: e.Decodes()[0]}
	*d = engine.Leg{Job: &job, Owner: watcher{e}, Peer: p, PeerAt: e.Prefills()[0], MarkTokens: 100}
	e.Prefills()[0].Submit(p)
	e.Decodes()[0].Submit(d)
	for e.Next() != sim.Never {
		e.Advance(e.Next()) // a real owner waits until then
	}
	// Output:
	// 217.5ms prefill-0 done
	// 217.5ms first token: response headers are due
	// 2.2471485s 100 tokens
	// 2.82124384s decode-0 done
}
