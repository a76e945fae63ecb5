package load

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// memory is simulated servers in memory. Their streams hand out an answer in few pieces, but know at
// each instant how far it has come; so a timer looks at all that are under way. Gaps between tokens
// are exact where they are longer than its interval, and means over it where they are shorter.
type memory struct {
	w       sim.World
	backend pacer.Backend
	model   string

	watched []*watch // guarded by the monitor
	timer   *sim.Timer
	armed   bool
}

var _ target = (*memory)(nil)

// watch is a stream under way.
type watch struct {
	stream pacer.Stream
	r      *receipt
	place  int // in watched
	tokens int // seen so far
}

// lookEvery is how often streams are looked at. The steps of a decode batch are about as long.
const lookEvery = 50 * time.Millisecond

// send implements target.
func (m *memory) send(ctx context.Context, c *call, r *receipt) error {
	req := m.request(c)
	a := &pacer.Attempt{ID: c.id, Number: 1, Of: pacer.Identity{Agent: c.client, Round: c.round, Call: c.number}}
	stream, err := m.backend.Open(ctx, a, req)
	if err != nil {
		return err
	}
	w := &watch{stream: stream, r: r}
	m.watch(w)
	err = m.receive(w, c.keepText())
	m.unwatch(w)
	return errors.Join(err, stream.Close())
}

func (m *memory) request(c *call) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{
		Model: m.model, MaxCompletionTokens: c.plan.MaxTokens, Stream: true,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		Messages:      make([]openai.ChatCompletionMessage, len(c.messages)),
	}
	for i, msg := range c.messages {
		req.Messages[i].Role, req.Messages[i].Content = msg.role, msg.text
	}
	return req
}

// receive takes the answer to its end. The first piece comes with the first token.
func (m *memory) receive(w *watch, keep bool) error {
	for {
		chunk, err := w.stream.Recv()
		if err == io.EOF {
			w.r.done = true
			return nil
		}
		if err != nil {
			return err
		}
		if u := chunk.Usage; u != nil {
			w.r.tokens, w.r.exact, w.r.promptTokens = u.CompletionTokens, true, u.PromptTokens
		}
		for i := range chunk.Choices {
			d := &chunk.Choices[i].Delta
			w.r.finished = w.r.finished || chunk.Choices[i].FinishReason != ""
			if keep {
				w.r.text = append(w.r.text, d.Content...)
			}
			if !w.r.begun && (d.Content != "" || d.ReasoningContent != "" || len(d.ToolCalls) > 0) {
				m.first(w)
			}
		}
	}
}

// first notes the first token, the time of which the timer need not find out.
func (m *memory) first(w *watch) {
	m.w.Lock()
	m.look(w)
	m.w.Unlock()
	if w.r.onFirst != nil {
		w.r.onFirst()
	}
}

// look notes what a stream has received since the last look. The monitor is held.
func (m *memory) look(w *watch) {
	p := w.stream.Progress()
	if p.Tokens == w.tokens {
		return
	}
	r := w.r
	if !r.begun {
		r.begun, r.first, r.last = true, p.LastToken, p.LastToken
	} else {
		n := p.Tokens - w.tokens
		r.rec.gaps.add(p.LastToken.Sub(r.last)/time.Duration(n), uint64(n))
		r.last = p.LastToken
	}
	w.tokens = p.Tokens
	if !r.exact {
		r.tokens = p.Tokens
	}
}

func (m *memory) watch(w *watch) {
	m.w.Lock()
	defer m.w.Unlock()
	w.place = len(m.watched)
	m.watched = append(m.watched, w)
	if m.armed {
		return
	}
	m.armed = true
	if m.timer == nil {
		m.timer = m.w.AfterFunc(lookEvery, m.lookAtAll)
		return
	}
	m.timer.Reset(lookEvery)
}

func (m *memory) unwatch(w *watch) {
	m.w.Lock()
	defer m.w.Unlock()
	m.look(w)
	last := len(m.watched) - 1
	m.watched[w.place] = m.watched[last]
	m.watched[w.place].place = w.place
	m.watched[last] = nil
	m.watched = m.watched[:last]
}

// lookAtAll is the timer's function. It stops by itself when there is nothing to look at.
func (m *memory) lookAtAll() {
	for _, w := range m.watched {
		m.look(w)
	}
	if m.armed = len(m.watched) > 0; m.armed {
		m.timer.Reset(lookEvery)
	}
}
