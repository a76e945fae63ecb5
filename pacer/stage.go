package pacer

import "fmt"

// Stage is where an agent's work is, seen from the agent's side. The zero value is StageThink.
type Stage uint8

// The stages of a step, in the order they are passed. Think and tool are the agent's own; the others
// belong to a call.
const (
	StageThink      Stage = iota // between calls: the agent prepares the next one
	StageTool                    // a tool runs
	StageSlot                    // waits for a pacer slot
	StageRate                    // waits for a rate-limit token
	StageBackoff                 // waits before another attempt
	StageConnect                 // waits for a connection: pool or dial
	StageHeaders                 // request sent, no response header yet
	StageFirstToken              // response headers in, no content yet
	StageStream                  // content arrives, or has stopped arriving
	StageDone                    // the call, or the agent, has ended
	stageCount
)

// StageCount is the number of stages.
const StageCount = int(stageCount)

var stageNames = [...]string{"think", "tool", "slot", "rate", "backoff", "connect", "headers", "first_token", "stream", "done"}

// String returns the stage's name as it stands in journals and verdicts.
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Stage) UnmarshalText(b []byte) error {
	for i, name := range stageNames {
		if name == string(b) {
			*s = Stage(i)
			return nil
		}
	}
	return fmt.Errorf("pacer: stage %q: want one of %v", b, stageNames)
}
