package serving_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// parts takes an answer as a front does that writes once every two seconds, or when something changes,
// and returns its parts.
func (p *play) parts(q serving.Request, patience time.Duration) (lines []string, defects serving.Defects) {
	p.t.Helper()
	ctx, stop := sim.WithTimeout(p.ctx, p.w, patience, context.DeadlineExceeded)
	defer stop()
	h := p.s.Submit(q)
	defer h.Cancel()
	if err := h.WaitHeaders(ctx); err != nil {
		return []string{err.Error()}, defects
	}
	for {
		part, more, err := h.Take()
		line := fmt.Sprintf("%v: %d tokens, %d comments", p.w.Now(), part.Tokens, part.Comments)
		if part.Malformed {
			line += ", the last is broken"
		}
		if part.Error != nil {
			line += fmt.Sprintf(", error %d %s", part.Error.Status, part.Error.Type)
		}
		if part.Cut {
			line += ", cut"
		}
		if part.Finish != "" {
			line += ", " + string(part.Finish)
		}
		lines = append(lines, line)
		if err == nil && (part.Finish != "" || part.Cut || part.Error != nil) {
			return lines, h.Defects()
		}
		if err == nil {
			err = h.Wait(ctx, max(more, min(sim.Never, p.w.Now().Add(2*time.Second))))
		}
		if err != nil {
			return append(lines, err.Error()), h.Defects()
		}
	}
}

// TestFrontFaults checks what a front is to write for each fault of the stream.
func TestFrontFaults(t *testing.T) {
	for _, row := range []struct {
		fault   fault.Fault
		want    []string
		defects serving.Defects
	}{
		{
			fault: fault.Fault{What: fault.Comments, AfterTokens: 10, Every: time.Second},
			want: []string{
				"100ms: 1 tokens, 0 comments", "280ms: 9 tokens, 0 comments", "2.08s: 0 tokens, 1 comments",
				"4.08s: 0 tokens, 2 comments", "6.08s: 0 tokens, 2 comments", "context deadline exceeded",
			},
		},
		{
			fault: fault.Fault{What: fault.Error, AfterTokens: 10, StatusCode: 503},
			want:  []string{"100ms: 1 tokens, 0 comments", "280ms: 9 tokens, 0 comments, error 503 SERVICE_UNAVAILABLE"},
		},
		{
			fault: fault.Fault{What: fault.Cut, AfterTokens: 10},
			want:  []string{"100ms: 1 tokens, 0 comments", "280ms: 9 tokens, 0 comments, cut"},
		},
		{
			fault: fault.Fault{What: fault.Malformed, AfterTokens: 10},
			want: []string{
				"100ms: 1 tokens, 0 comments", "300ms: 10 tokens, 0 comments, the last is broken",
				"2.08s: 89 tokens, 0 comments, stop",
			},
		},
		{fault: fault.Fault{What: fault.NoDone}, defects: serving.Defects{NoDone: true}},
		{fault: fault.Fault{What: fault.OpenAfterDone}, defects: serving.Defects{OpenAfterDone: true}},
		{fault: fault.Fault{What: fault.NoUsage}, defects: serving.Defects{NoUsage: true}},
	} {
		t.Run(string(row.fault.What), func(t *testing.T) {
			row.fault.Where = fault.Stream
			if row.want == nil {
				row.want = []string{"100ms: 1 tokens, 0 comments", "2.08s: 99 tokens, 0 comments, stop"}
			}
			inBothWorlds(t, sections(row.fault), 1, func(p *play) {
				got, defects := p.parts(streamed("r", 100, 100), 7*time.Second)
				if !slices.Equal(got, row.want) || defects != row.defects {
					t.Errorf("got\n%s\nwant\n%s\ndefects %+v, want %+v", strings.Join(got, "\n"), strings.Join(row.want, "\n"), defects, row.defects)
				}
				p.atRest()
			})
		})
	}
}
