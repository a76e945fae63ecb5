package harness

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// uneven answers the first attempt of a call after 20 s, and refuses the second one or answers it
// after 2 s, each with ten tokens over another 10 s.
type uneven struct {
	w      sim.World
	refuse bool
}

func (u uneven) Open(ctx context.Context, a *pacer.Attempt, _ openai.ChatCompletionRequest) (pacer.Stream, error) {
	a.Connected()
	wait := 20 * time.Second
	if a.Number == 2 {
		wait = 2 * time.Second
	}
	if err := u.w.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	if a.Number == 2 && u.refuse {
		return nil, &pacer.StatusError{Status: 503, Message: "busy"}
	}
	return &unevenAnswer{w: u.w, ctx: ctx}, nil
}

type unevenAnswer struct {
	w      sim.World
	ctx    context.Context
	tokens int
}

func (s *unevenAnswer) Recv() (openai.ChatCompletionStreamResponse, error) {
	var r openai.ChatCompletionStreamResponse
	if s.tokens == 10 {
		return r, io.EOF
	}
	if err := s.w.Sleep(s.ctx, time.Second); err != nil {
		return r, err
	}
	s.tokens++
	r.Choices = []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "word"}}}
	return r, nil
}

func (s *unevenAnswer) Progress() pacer.Progress { return pacer.Progress{Tokens: s.tokens} }
func (s *unevenAnswer) Close() error             { return nil }

// TestHedgedCallsInTheBooks has a call of two attempts: both count as sent while both are under way,
// what the loser got is wasted, and the journal tells of both.
func TestHedgedCallsInTheBooks(t *testing.T) {
	for _, tc := range []struct {
		name   string
		refuse bool
		sent   []int // at 1 s, 6 s, 9 s, 25 s, 40 s
		totals Totals
		log    string
	}{
		{"the second wins", false, []int{1, 2, 1, 0, 0},
			Totals{Attempts: 2, Hedges: 1, AttemptsLost: 1, AttemptsOK: 1, CallsCompleted: 1, Left: 1, Answered: 1, TokensReceived: 10}, `{"t_s":0.000000000,"event":"stage","call":"agent-c001","agent":"agent","task":"","round":0,"step":0,"stage":"connect","from":"think","attempt":1}
{"t_s":0.000000000,"event":"stage","call":"agent-c001","stage":"headers","from":"connect","attempt":1}
{"t_s":5.000000000,"event":"stage","call":"agent-c001","stage":"connect","from":"headers","attempt":2}
{"t_s":5.000000000,"event":"stage","call":"agent-c001","stage":"headers","from":"connect","attempt":2}
{"t_s":7.000000000,"event":"stage","call":"agent-c001","stage":"first_token","from":"headers","attempt":2}
{"t_s":8.000000000,"event":"stage","call":"agent-c001","stage":"stream","from":"first_token","attempt":2}
{"t_s":8.000000000,"event":"attempt_end","call":"agent-c001","attempt":1,"id":"agent-c001-a1","outcome":"lost","took_s":8.000000000,"tokens":0,"error":"pacer: another attempt of the call was faster","beside":true}
{"t_s":17.000000000,"event":"attempt_end","call":"agent-c001","attempt":2,"id":"agent-c001-a2","outcome":"ok","took_s":12.000000000,"tokens":10,"hedge":true}
{"t_s":17.000000000,"event":"call_end","call":"agent-c001","ok":true,"attempts":2,"took_s":17.000000000,"tokens":10}
`},
		{"the second is refused", true, []int{1, 2, 1, 1, 0},
			Totals{Attempts: 2, Hedges: 1, AttemptsStatus: 1, Attempts503: 1, AttemptsOK: 1, CallsCompleted: 1, Answered: 1, TokensReceived: 10}, `{"t_s":0.000000000,"event":"stage","call":"agent-c001","agent":"agent","task":"","round":0,"step":0,"stage":"connect","from":"think","attempt":1}
{"t_s":0.000000000,"event":"stage","call":"agent-c001","stage":"headers","from":"connect","attempt":1}
{"t_s":5.000000000,"event":"stage","call":"agent-c001","stage":"connect","from":"headers","attempt":2}
{"t_s":5.000000000,"event":"stage","call":"agent-c001","stage":"headers","from":"connect","attempt":2}
{"t_s":7.000000000,"event":"attempt_end","call":"agent-c001","attempt":2,"id":"agent-c001-a2","outcome":"status","took_s":2.000000000,"tokens":0,"status":503,"error":"pacer: HTTP status 503: busy","hedge":true,"beside":true}
{"t_s":7.000000000,"event":"stage","call":"agent-c001","stage":"headers","from":"headers","attempt":1}
{"t_s":20.000000000,"event":"stage","call":"agent-c001","stage":"first_token","from":"headers","attempt":1}
{"t_s":21.000000000,"event":"stage","call":"agent-c001","stage":"stream","from":"first_token","attempt":1}
{"t_s":30.000000000,"event":"attempt_end","call":"agent-c001","attempt":1,"id":"agent-c001-a1","outcome":"ok","took_s":30.000000000,"tokens":10}
{"t_s":30.000000000,"event":"call_end","call":"agent-c001","ok":true,"attempts":2,"took_s":30.000000000,"tokens":10}
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
			var log bytes.Buffer
			l := NewLedger(w, NewJournal(w, &log))
			policy := pacer.DefaultPolicy()
			policy.Hedge = pacer.Hedge{After: 5 * time.Second, Share: 1}
			p, err := pacer.New(w, pacer.DefaultConfig(), policy, uneven{w, tc.refuse}, l.CallObserver(), nil)
			if err != nil {
				t.Fatal(err)
			}
			err = w.Run(t.Context(), func(ctx context.Context) {
				call := w.Spawn(ctx, "agent", func(ctx context.Context) {
					if _, err := p.Chat(ctx, pacer.Identity{Agent: "agent", Call: 1}, openai.ChatCompletionRequest{}); err != nil {
						t.Error(err)
					}
				})
				for i, at := range []time.Duration{1, 6, 9, 25, 40} {
					_ = w.Sleep(ctx, at*time.Second-w.Now().Sub(0))
					if got := l.Progress().Sent; got != tc.sent[i] {
						t.Errorf("seed 1: at %d s, %d attempts are sent, want %d", at, got, tc.sent[i])
					}
				}
				_ = call.Wait(ctx)
			})
			if err != nil {
				t.Error(err)
			}
			if log.String() != tc.log {
				t.Errorf("seed 1: journal\n%swant\n%s", &log, tc.log)
			}
			got := l.Progress().Totals
			got.HeadersWait, got.HeadersWaitMax, got.AnsweredSent, got.AttemptsTook = 0, 0, 0, 0
			if got != tc.totals {
				t.Errorf("seed 1: totals\n%+v, want\n%+v", got, tc.totals)
			}
		})
	}
}
