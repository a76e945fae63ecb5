package serving

// Model is the part of the simulated model that a run may decide. The zero value answers each request
// with the lengths in [ModelConfig].
type Model struct {
	// Output returns how long an answer is: output tokens in total, and how many of them are reasoning,
	// which comes first. It is given the request's user, how many answers the conversation has had, and
	// its prompt tokens, without those of an answer that is to be continued: of that, it gives the whole. It is called once a request, with the monitor held, and must be a pure
	// function. Answers are cut to what the request and the model's context allow. nil: see above.
	Output func(user string, call, promptTokens int) (tokens, reasoningTokens int)
}

// output returns the length of the answer to q before any cut.
func (m *Model) output(c *ModelConfig, q *Request) (tokens, reasoning int) {
	tokens, reasoning = c.OutputTokens, c.ReasoningTokens
	if m.Output != nil {
		tokens, reasoning = m.Output(q.User, q.Prompt.Calls, q.Prompt.Tokens-q.Prompt.Begun)
	}
	tokens = max(1, tokens)
	return tokens, min(max(0, reasoning), tokens)
}
