package pacer

import (
	"context"
	"slices"
	"time"

	"github.com/sashabaranov/go-openai"
	"golang.org/x/time/rate"
)

// rates are the limiters of a pacer; nil: no bound. They are used with the monitor held, so that
// their instants never go back.
type rates struct {
	requests, tokens *rate.Limiter
}

func newRates(c Config) rates {
	var r rates
	if c.RequestsPerSecond > 0 {
		r.requests = rate.NewLimiter(rate.Limit(c.RequestsPerSecond), c.requestBurst())
	}
	if c.TokensPerSecond > 0 {
		r.tokens = rate.NewLimiter(rate.Limit(c.TokensPerSecond), c.tokenBurst())
	}
	return r
}

// reservation is a place in the future at which an attempt may start.
type reservation struct {
	requests *rate.Reservation   // nil: no bound
	tokens   []*rate.Reservation // nil: no bound
}

// reserve takes the next place for an attempt, and says how long it is until then. An attempt that
// costs more tokens than the burst pays in instalments, each a burst at most, and starts with the last
// one: the limiter would never let it through in one piece.
func (r rates) reserve(now time.Time, tokens int) (reservation, time.Duration) {
	var res reservation
	var wait time.Duration
	if r.requests != nil {
		res.requests = r.requests.ReserveN(now, 1)
		wait = res.requests.DelayFrom(now)
	}
	if r.tokens == nil {
		return res, wait
	}
	for rest := tokens; rest > 0; rest -= r.tokens.Burst() {
		part := r.tokens.ReserveN(now, min(rest, r.tokens.Burst()))
		res.tokens = append(res.tokens, part)
		wait = max(wait, part.DelayFrom(now))
	}
	return res, wait
}

// cancel gives the place back, as far as nobody has queued behind it.
func (r reservation) cancel(now time.Time) {
	if r.requests != nil {
		r.requests.CancelAt(now)
	}
	for _, part := range slices.Backward(r.tokens) {
		part.CancelAt(now)
	}
}

// keepRate waits until the rates allow another attempt.
func (c *call) keepRate(ctx context.Context, req *openai.ChatCompletionRequest) error {
	if c.p.rates == (rates{}) {
		return nil
	}
	tokens := 0
	if c.p.rates.tokens != nil {
		//lint:ignore SA1019 what most servers still take
		tokens = c.state.PromptTokens + max(req.MaxTokens, req.MaxCompletionTokens)
	}
	w := c.p.w
	w.Lock()
	res, wait := c.p.rates.reserve(w.Now().Time(), tokens)
	w.Unlock()
	if wait <= 0 {
		return nil
	}
	c.move(StageRate)
	err := w.Sleep(ctx, wait)
	if err != nil {
		w.Lock()
		res.cancel(w.Now().Time())
		w.Unlock()
	}
	return err
}

// promptTokens estimates the prompt of a request from its text. Tool definitions are not counted.
func promptTokens(req *openai.ChatCompletionRequest) int {
	bytes := 0
	for i := range req.Messages {
		bytes += TextBytes(&req.Messages[i])
	}
	return (bytes + BytesPerToken - 1) / BytesPerToken
}

// TextBytes returns how many bytes of text a message has, from which its tokens can be estimated:
// content, reasoning, and the names and arguments of tool calls. Images are not counted.
func TextBytes(m *openai.ChatCompletionMessage) int {
	n := len(m.Content) + len(m.ReasoningContent)
	for i := range m.MultiContent {
		n += len(m.MultiContent[i].Text)
	}
	for i := range m.ToolCalls {
		n += len(m.ToolCalls[i].Function.Name) + len(m.ToolCalls[i].Function.Arguments)
	}
	return n
}
