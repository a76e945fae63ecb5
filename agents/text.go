package agents

import (
	"strings"

	"example.com/wedge/pacer"
)

// What simulated conversations are made of. The text is a constant of the program, so that a hundred
// thousand conversations are slices of one string. It is plain ASCII without quotes or backslashes:
// it goes into JSON as it is.
const (
	paragraph = `The reader wants to know what was asked, what was tried and what came of it. ` +
		`A message seldom stands alone: it answers an earlier one, and a later one takes it back. ` +
		`So the article names who wrote it, quotes the sentence that mattered, and follows the thread ` +
		`until it ends or is left open. Numbers keep their units. Names are spelled as the writer ` +
		`spelled them. Where two messages disagree, both are given, the older one first, and the ` +
		`article does not decide between them unless a third one does. What nobody wrote is left out. `
	filler4   = paragraph + paragraph + paragraph + paragraph
	filler16  = filler4 + filler4 + filler4 + filler4
	filler64  = filler16 + filler16 + filler16 + filler16
	filler256 = filler64 + filler64 + filler64 + filler64
	filler1k  = filler256 + filler256 + filler256 + filler256

	// replayIntro begins the user messages of a trace's task. Each is a round of its own for the model.
	replayIntro = "Go on.\nSteps: " + ToolReadMessage + ".\n"
	replayText  = replayIntro + filler1k + filler1k
)

const instructions = `You write an article about one message of a long conversation, together with other writers. ` +
	`You work in rounds. The user begins each round and lists its steps; take them one by one, each with exactly one tool call: ` +
	`read_message shows a message of the conversation, write starts the article over, append adds to it, save makes it durable. ` +
	`A tool result with "in_range": false says that there is no such message. `

// filler returns text of n bytes.
func filler(n int) string { return cut(replayText[len(replayIntro):], n) }

// cut returns the first n bytes of text, repeated as often as it takes.
func cut(text string, n int) string {
	if n <= len(text) {
		return text[:max(n, 0)]
	}
	return strings.Repeat(text, n/len(text)+1)[:n]
}

// systemMessage returns the system message of an agent that works as the workflow says. It is never
// shorter than the instructions.
func systemMessage(wf *Workflow) string {
	return instructions + filler(wf.SystemTokens*pacer.BytesPerToken-len(instructions))
}

// replayMessage returns a user message of n bytes for a trace's task. It is never shorter than its
// intro.
func replayMessage(n int) string { return cut(replayText, max(n, len(replayIntro))) }

// stepsLine returns the line that tells the model the steps of a round.
func stepsLine(wf *Workflow, steps int) string { return stepsLineFrom(wf, 1, steps) }

// stepsLineFrom returns the line for the steps from one of a round on, counted from 1.
func stepsLineFrom(wf *Workflow, first, steps int) string {
	names := make([]string, 0, steps)
	for i := first - 1; i < steps; i++ {
		names = append(names, wf.Tools[i%len(wf.Tools)])
	}
	return "Steps: " + strings.Join(names, ", ") + "."
}
