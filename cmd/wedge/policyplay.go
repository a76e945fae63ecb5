package main

import (
	"context"
	"errors"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/preset"
)

// play is what became of one call under a policy, in one scene. Instants are seconds since the call
// began.
type play struct {
	Scene        string      `json:"scene"`
	About        string      `json:"about"`
	Outcome      string      `json:"outcome"` // "answered", "failed", or "waiting" when nobody has seen its end
	EndedAtS     float64     `json:"ended_at_s"`
	Attempts     int         `json:"attempts"`
	TokensWasted int         `json:"tokens_wasted"` // received by attempts that failed
	Events       []playEvent `json:"events"`
}

// Outcomes of a play.
const (
	playAnswered = "answered"
	playFailed   = "failed"
	playWaiting  = "waiting"
)

// playEvent is something that happened to the call, and what was decided then.
type playEvent struct {
	AtS     float64 `json:"at_s"`
	Attempt int     `json:"attempt"`
	// Event is "attempt", "headers" or "first_token" on the way, the outcome of an attempt at its end
	// (such as "timeout"), and "waiting" when the play ends first.
	Event    string  `json:"event"`
	Limit    string  `json:"limit,omitempty"`
	Status   int     `json:"status,omitempty"`
	Tokens   int     `json:"tokens,omitempty"`
	Decision string  `json:"decision,omitempty"` // "retry", "done", "give_up", or "none" while other attempts go on
	Why      string  `json:"why,omitempty"`      // the call is given up
	DelayS   float64 `json:"delay_s,omitempty"`  // before the next attempt

	after time.Duration // that was asked for by the server
}

// errCurtain ends a play that would go on.
var errCurtain = errors.New("the play is over")

// playScene runs one call of a policy in a scene, in virtual time, for at most so long.
func playScene(p *preset.Preset, s scene, most time.Duration) (play, error) {
	const seed = 1
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	r := &playRecorder{w: w, play: play{Scene: s.Name, About: s.About, Outcome: playWaiting}}
	config, err := p.Pacer(pacer.DefaultConfig())
	if err != nil {
		return play{}, err
	}
	chat, err := pacer.New(w, config, p.Policy, &sceneBackend{w: w, scene: s}, r, nil)
	if err != nil {
		return play{}, err
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		ctx, cancel := w.WithCancel(ctx)
		w.Lock()
		curtain := w.AfterFunc(most, func() { cancel(errCurtain) })
		w.Unlock()
		_, err := chat.Chat(ctx, pacer.Identity{Agent: "agent"}, openai.ChatCompletionRequest{
			Model: "m", MaxCompletionTokens: playTokensMax,
			Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "write"}},
		})
		w.Lock()
		curtain.Stop()
		w.Unlock()
		r.end(err)
	})
	return r.play, err
}

// playTokensMax is the most output that the calls of a play allow, as the incident's did: reasoning
// included.
const playTokensMax = 4500

// playRecorder writes down what happens to the call of a play.
type playRecorder struct {
	w *sim.Virtual
	play
}

var _ pacer.Observer = (*playRecorder)(nil)

func (r *playRecorder) add(e playEvent) {
	e.AtS = r.w.Now().Sub(0).Seconds()
	r.Events = append(r.Events, e)
}

// StageChanged implements pacer.Observer.
func (r *playRecorder) StageChanged(s *pacer.CallState, _ pacer.Stage) {
	switch s.Stage {
	case pacer.StageConnect:
		r.add(playEvent{Attempt: s.Attempts, Event: "attempt"})
	case pacer.StageFirstToken:
		r.add(playEvent{Attempt: s.Attempts, Event: "headers"})
	case pacer.StageStream:
		r.add(playEvent{Attempt: s.Attempts, Event: "first_token"})
	}
}

// AttemptEnded implements pacer.Observer.
func (r *playRecorder) AttemptEnded(s *pacer.CallState, a pacer.AttemptResult) {
	if a.Outcome == pacer.AttemptCanceled {
		return // the curtain
	}
	e := playEvent{Attempt: s.Attempts, Event: a.Outcome, Limit: a.Limit, Status: a.Status, Tokens: a.Tokens, DelayS: a.Delay.Seconds(), Why: string(a.Stop)}
	switch {
	case a.Outcome == pacer.AttemptOK:
		e.Decision = "done"
	case a.Beside:
		e.Decision = "none"
	case a.Again:
		e.Decision = "retry"
	default:
		e.Decision = "give_up"
	}
	var status *pacer.StatusError
	if errors.As(a.Err, &status) && status.HasRetryAfter {
		e.after = status.RetryAfter
	}
	if a.Outcome != pacer.AttemptOK {
		r.TokensWasted += a.Tokens - a.Kept
	}
	r.add(e)
}

// CallEnded implements pacer.Observer.
func (r *playRecorder) CallEnded(s *pacer.CallState, _ int, _ error) { r.Attempts = s.Attempts }

// end notes how the call ended.
func (r *playRecorder) end(err error) {
	r.EndedAtS = r.w.Now().Sub(0).Seconds()
	switch {
	case err == nil:
		r.Outcome = playAnswered
	case errors.Is(err, errCurtain):
		r.add(playEvent{Attempt: r.Attempts, Event: playWaiting})
	default:
		r.Outcome = playFailed
	}
}

// longestSilence returns how long a call can last at most under the policy if the servers go silent in
// each of its attempts at the worst place, with all its attempts and waits; false: for ever.
func longestSilence(p *preset.Preset) (time.Duration, bool, error) {
	const most = 30 * 24 * time.Hour
	var longest float64
	for _, s := range silences() {
		played, err := playScene(p, s, most)
		if err != nil {
			return 0, false, err
		}
		if played.Outcome == playWaiting {
			return 0, false, nil
		}
		longest = max(longest, played.EndedAtS)
	}
	return time.Duration(longest * float64(time.Second)), true, nil
}
