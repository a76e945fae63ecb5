package serving

import (
	"fmt"

	"example.com/wedge/repro/serving/engine"
)

// Stage is where a request is, seen from the servers. The zero value is StageRouter.
type Stage uint8

// The stages in the order they are passed. The last three are ends.
const (
	StageRouter      Stage = iota // the router has it and has not passed it on
	StageBootstrap                // waits for KV memory on the decode engine, and slots on both
	StagePrefillWait              // waits for its turn to be computed
	StagePrefill                  // its prompt is being computed
	StageInflight                 // its KV memory is on the way to the decode engine
	StagePrealloc                 // prefill has done with it, and decode waits for the handshake or for memory
	StageTransfer                 // prefill has done with it, and decode has not taken its KV memory over
	StageDecodeWait               // waits for room in the running batch
	StageDecode                   // in the running batch
	StageDone                     // answered in full
	StageAborted                  // refused, cut off, or its client has left
	StageUnknown                  // the servers have forgotten it
)

var stageNames = [...]string{
	"router", "bootstrap", "prefill_wait", "prefill", "inflight", "prealloc", "transfer", "decode_wait", "decode", "done", "aborted", "unknown",
}

// stageOf is the stage of a request whose leg is in a stage.
var stageOf = [...]Stage{
	engine.StageNone:        StageRouter,
	engine.StageBootstrap:   StageBootstrap,
	engine.StagePrealloc:    StagePrealloc,
	engine.StagePrefillWait: StagePrefillWait,
	engine.StagePrefill:     StagePrefill,
	engine.StageInflight:    StageInflight,
	engine.StageTransfer:    StageTransfer,
	engine.StageDecodeWait:  StageDecodeWait,
	engine.StageDecode:      StageDecode,
	engine.StageRetracted:   StageDecodeWait,
	engine.StageDone:        StageDone,
	engine.StageFailed:      StageAborted,
	engine.StageAborted:     StageUnknown, // and nobody has told the router
}

// String returns the stage's name as it stands in verdicts.
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
