package serving

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/pacer"
)

// reply is an answer that the model will give: reasoning, then content, then a tool call, each so
// many tokens long. Every token is pacer.BytesPerToken bytes of text, except the last ones of a tool
// call, whose text is as long as it is.
type reply struct {
	tokens    int // in total, at least 1
	reasoning int // of them; they come first
	content   int // of them; the rest belongs to the tool call
	skipped   int // not of them: content that the client has already
	tool      string
	arguments string
	finish    openai.FinishReason
}

// texts makes the texts of tool calls. Calls of one size share one string, and sizes are rounded, so
// that the conversations of a large fleet cost little memory.
type texts struct {
	articles map[int]string // arguments of write and append by their size in tokens
	bytes    int            // of all these
}

// textBytesMax bounds what texts keeps.
const textBytesMax = 16 << 20

// plan returns the answer to a prompt whose natural length is given, cut to tokensMax.
func (t *texts) plan(p *Prompt, tokens, reasoning, tokensMax int) reply {
	if p.Tool != "" {
		reasoning = min(reasoning, tokens-1) // the call has a token at least
	}
	a := reply{tokens: tokens, reasoning: reasoning, content: tokens - reasoning, finish: openai.FinishReasonStop}
	switch p.Tool {
	case "":
	case "write", "append":
		size := a.content
		if a.reasoning > 0 {
			size = rounded(size) // the reasoning takes the rest
		}
		a.callTool(p.Tool, t.article(size), size)
		a.reasoning, a.content = tokens-size, 0
	case "read_message":
		a.callTool(p.Tool, `{"message":`+strconv.Itoa(p.Round)+`}`, a.content)
	case "save":
		a.callTool(p.Tool, saveArguments, a.content)
	default:
		a.callTool(p.Tool, "{}", a.content)
	}
	if p.Begun > 0 {
		a.skip(p.Begun)
	}
	if a.tokens > tokensMax {
		a.cut(tokensMax)
	}
	return a
}

// callTool makes the tool call take its part of the content's tokens: those of its arguments, but no
// more than spare.
func (a *reply) callTool(name, arguments string, spare int) {
	size := min(spare, (len(arguments)+pacer.BytesPerToken-1)/pacer.BytesPerToken)
	a.tool, a.arguments, a.finish = name, arguments, openai.FinishReasonToolCalls
	a.content -= size
}

// skip leaves the reasoning and n tokens of the content out, since the client has them. A token is
// left in any case.
func (a *reply) skip(n int) {
	call := a.tokens - a.callFrom()
	a.skipped = min(n, a.content)
	a.reasoning, a.content = 0, a.content-a.skipped
	if a.content+call == 0 {
		a.content = 1
	}
	a.tokens = a.content + call
}

// cut ends the answer after n tokens, wherever that is.
func (a *reply) cut(n int) {
	a.tokens, a.finish = n, openai.FinishReasonLength
	a.reasoning = min(a.reasoning, n)
	a.content = min(a.content, n-a.reasoning)
	if call := n - a.reasoning - a.content; call == 0 {
		a.tool, a.arguments = "", ""
	} else {
		a.arguments = a.arguments[:min(call*pacer.BytesPerToken, len(a.arguments))]
	}
}

// callFrom returns how many tokens come before the tool call.
func (a *reply) callFrom() int { return a.reasoning + a.content }

// from returns how many tokens come before a section, and whether the answer has it.
func (a *reply) from(in fault.Section) (tokens int, ok bool) {
	switch in {
	case fault.InReasoning:
		return 0, a.reasoning > 0
	case fault.InContent:
		return a.reasoning, a.content > 0
	case fault.InToolCall:
		return a.callFrom(), a.tool != ""
	}
	return 0, true
}

// truncate ends the tool call after so many of its tokens, but in any case before its end, and the
// answer with it as if all were well.
func (a *reply) truncate(callTokens int) {
	callTokens = min(max(callTokens, 1), a.tokens-a.callFrom())
	a.tokens = a.callFrom() + callTokens
	a.arguments = a.arguments[:min(callTokens*pacer.BytesPerToken, len(a.arguments)-1)]
}

const (
	articlePath   = "article.md"
	articleHead   = `{"path":"` + articlePath + `","text":"`
	articleTail   = `"}`
	saveArguments = `{"path":"` + articlePath + `"}`
)

// article returns arguments of write and append that are size tokens long, but at least long enough
// to be valid.
func (t *texts) article(size int) string {
	if text, ok := t.articles[size]; ok {
		return text
	}
	n := max(0, size*pacer.BytesPerToken-len(articleHead)-len(articleTail))
	var b strings.Builder
	b.Grow(len(articleHead) + n + len(articleTail))
	b.WriteString(articleHead)
	for n > 0 {
		m := min(n, len(filler))
		b.WriteString(filler[:m])
		n -= m
	}
	b.WriteString(articleTail)
	text := b.String()
	if t.bytes+len(text) <= textBytesMax {
		if t.articles == nil {
			t.articles = map[int]string{}
		}
		t.articles[size] = text
		t.bytes += len(text)
	}
	return text
}

// rounded returns n with its six leading bits kept and the others cleared: at most 3 % less, and one
// of 32 values between a power of two and the next.
func rounded(n int) int {
	spare := max(0, bits.Len(uint(n))-6)
	return n >> spare << spare
}

// filler is what all texts are slices of. It is plain within JSON strings.
var filler = strings.Repeat("each agent waits for its tokens, and the tokens wait for their turn in the batch. ", 3200)[:fillerTokens*pacer.BytesPerToken]

const fillerTokens = 1 << 16

// fillerFrom returns the text of tokens from to before to (exclusive) of an endless filler, or only
// of the first of them: it is a slice of the filler, whose end it does not cross. It also returns how
// many tokens it is.
func fillerFrom(from, to int) (text string, tokens int) {
	start := from % fillerTokens
	end := min(start+to-from, fillerTokens)
	return filler[start*pacer.BytesPerToken : end*pacer.BytesPerToken], end - start
}

// part returns the text of the answer from token from to before token to, or only of the first of
// them: a part does not cross the end of the filler.
func (a *reply) part(from, to int) Part {
	var p Part
	at := from
	if end := min(to, a.reasoning); at < end {
		text, n := fillerFrom(at, end)
		p.Reasoning = text
		at += n
		if at < end {
			to = at
		}
	}
	if end := min(to, a.callFrom()); at < end {
		text, n := fillerFrom(at-a.reasoning+a.skipped, end-a.reasoning+a.skipped)
		p.Content = text
		at += n
		if at < end {
			to = at
		}
	}
	if at < to {
		if at == a.callFrom() {
			p.Tool = a.tool
		}
		p.Arguments = a.arguments[a.argumentsAt(at):a.argumentsAt(to)]
		at = to
	}
	p.Tokens = at - from
	return p
}

// argumentsAt returns how many bytes of the arguments come before a token of the tool call.
func (a *reply) argumentsAt(token int) int {
	if token == a.tokens {
		return len(a.arguments)
	}
	return min((token-a.callFrom())*pacer.BytesPerToken, len(a.arguments))
}

// firstSection returns how many tokens come before the kind of text changes.
func (a *reply) firstSection() int {
	switch {
	case a.reasoning > 0:
		return a.reasoning
	case a.content > 0:
		return a.content
	}
	return a.tokens
}
