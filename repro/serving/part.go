package serving

import "github.com/sashabaranov/go-openai"

// Part is a stretch of an answer. Its texts are slices of texts that are shared by many.
type Part struct {
	Tokens    int                 // output tokens in it
	Reasoning string              // comes first in an answer
	Content   string              // comes after the reasoning
	Tool      string              // name of the tool, in the part that the call begins in
	Arguments string              // of the tool call, which comes last
	Finish    openai.FinishReason // of the whole answer, in its last part; empty: more is to come

	// What faults do to the answer.
	Comments  int      // SSE comments that are due before the rest of the part
	Malformed bool     // the last event of the part is to be written as broken JSON
	Error     *Refusal // ends the answer: an error event after the rest of the part, then [DONE]; nil: none
	Cut       bool     // the body ends after the part, without finish reason and [DONE]
}

// Defects is what faults do to the end of an answer. The zero value is nothing.
type Defects struct {
	NoDone        bool // [DONE] is not sent
	OpenAfterDone bool // the body stays open after [DONE]
	NoUsage       bool // no usage, though it was asked for
	TruncateCall  bool // the arguments of the tool call end early
}
