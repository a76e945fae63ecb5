package agents

import (
	"fmt"
	"math/bits"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Shared is what the agents of one workspace have in common besides its articles: two locks, if the
// workflow asks for them, and the texts that all conversations are made of. It is safe for concurrent
// use. Make one with [NewShared].
type Shared struct {
	w                  sim.World
	workspace, journal *lock // nil without locks

	system   string // message of an agent
	steps    string // line of an agent's rounds
	subSteps string // line of a sub-agent's round
	tools    []openai.Tool

	replayTools []openai.Tool // for tasks from a trace

	wf     *Workflow
	rounds int
	// Guarded by the monitor:
	prompts  map[int]string // user messages by their round
	messages map[int]string // results of read_message by their size
}

// lock is one of the two locks of a workspace.
type lock struct {
	*sim.Semaphore
	waitsFor []string // what the state of an agent that waits for it says
}

// NewShared returns what agents that work as wf says have in common. The workflow must be valid, and
// be the one that the agents are made with.
func NewShared(w sim.World, wf *Workflow) *Shared {
	s := &Shared{
		w:        w,
		system:   systemMessage(wf),
		steps:    stepsLine(wf, wf.Steps),
		subSteps: stepsLine(wf, wf.SubAgents.Steps),
		tools:    toolsOf(wf.Tools),
		wf:       wf,
		rounds:   wf.Rounds,
		prompts:  map[int]string{},
		messages: map[int]string{},

		replayTools: toolsOf([]string{ToolReadMessage}),
	}
	if wf.Locks {
		s.workspace, s.journal = newLock(w, "workspace.lock"), newLock(w, "journal.lock")
	}
	return s
}

func newLock(w sim.World, name string) *lock {
	return &lock{Semaphore: sim.NewSemaphore(w, name, 1), waitsFor: []string{name}}
}

// prompt returns the user message that begins a round.
func (s *Shared) prompt(round int) string {
	s.w.Lock()
	defer s.w.Unlock()
	text, ok := s.prompts[round]
	if !ok {
		text = fmt.Sprintf("Round %d of %d.\n%s", round, s.rounds, s.steps)
		if s.wf.TaskCalls.Mean() > 0 { // how many there are is the task's affair
			text = fmt.Sprintf("Round %d.\n%s", round, s.steps)
		}
		s.prompts[round] = text
	}
	return text
}

// stepsFrom returns the line that asks for the steps of a round from one of them on.
func (s *Shared) stepsFrom(first, steps int) string { return stepsLineFrom(s.wf, first, steps) }

const (
	messageHead = `{"in_range":true,"text":"`
	messageTail = `"}`
)

// message returns the result of read_message for a message of about the given size. Results of one
// size are one string: that is what keeps large fleets small, and why sizes are rounded.
func (s *Shared) message(tokens int) string {
	tokens = rounded(min(tokens, MessageTokensLimit))
	s.w.Lock()
	defer s.w.Unlock()
	text, ok := s.messages[tokens]
	if !ok {
		n := tokens*pacer.BytesPerToken - len(messageHead) - len(messageTail)
		text = messageHead + filler(n) + messageTail
		s.messages[tokens] = text
	}
	return text
}

// rounded returns n with its six leading bits kept and the rest rounded: within 1.6 % of n, and one of
// 32 values between a power of two and the next.
func rounded(n int) int {
	spare := bits.Len(uint(max(n, 0))) - 6
	if spare <= 0 {
		return max(n, 0)
	}
	return (n + 1<<(spare-1)) >> spare << spare
}
