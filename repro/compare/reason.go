package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// reason says in words why tasks take longer in one cell than in another of the same scenario, by what
// was measured: what never ended, what was killed, what the servers did for nobody, where calls waited. It
// is empty if nothing stands out.
func reason(cell, other *Cell) string {
	var why []string
	if n := cell.Never - other.Never; n > 0 {
		why = append(why, instead(fmt.Sprintf("%d of %d runs never end", cell.Never, cell.Completed.N), other.Never))
	}
	if n := cell.Failed - other.Failed; n > 0 {
		why = append(why, instead(fmt.Sprintf("tasks fail in %d of %d runs", cell.Failed, cell.Completed.N), other.Failed))
	}
	if done := cell.Of(KeyCompletion).Mean; len(why) == 0 && gap(cell, other, KeyCompletion) < -fewerTold {
		why = append(why, fmt.Sprintf("%s of the tasks are completed instead of %s", percent(done), percent(other.Of(KeyCompletion).Mean)))
	}
	if limit := killer(cell); limit != nil && gap(cell, other, KeyKilled) >= 1 {
		why = append(why, fmt.Sprintf("the %s limit ends %s healthy attempts a run", limit.Limit, oneDigit(limit.HealthyPerRun)))
	}
	if by := gap(cell, other, KeyZombies); by >= 0.5 {
		why = append(why, fmt.Sprintf("the servers go on with what was given up (%s more places for nobody)", oneDigit(by)))
	}
	if part, share := longestPart(cell, other); part != "" && (len(why) == 0 || share >= partTold) {
		why = append(why, part)
	}
	return strings.Join(why[:min(2, len(why))], ", and ")
}

// instead adds how many it is with the other policy, unless that is none.
func instead(text string, other int) string {
	if other == 0 {
		return text
	}
	return fmt.Sprintf("%s instead of %d", text, other)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ", because " + why
}

func gap(cell, other *Cell, key string) float64 { return cell.Of(key).Mean - other.Of(key).Mean }

// killer is the limit that ended most healthy attempts, or nil.
func killer(cell *Cell) *KilledBy {
	if len(cell.KilledBy) == 0 {
		return nil
	}
	i := 0
	for j := range cell.KilledBy {
		if cell.KilledBy[j].HealthyPerRun > cell.KilledBy[i].HealthyPerRun {
			i = j
		}
	}
	if cell.KilledBy[i].HealthyPerRun == 0 {
		return nil
	}
	return &cell.KilledBy[i]
}

// fewerTold is the share of the tasks that must be missing to be told as a reason.
const fewerTold = 0.01

// partTold is the share of a call's time by which a part of it must have grown to be told beside other
// reasons.
const partTold = 0.2

// part is one of the phases of a call, in which it waits for something.
type part struct {
	key   string // of the figure
	text  string // that a call is longer in it, by %s
	limit string // of a policy that ends such a wait, after what is waited for; "" if none does
}

func parts() []part {
	return []part{
		{"call_slot_s", "a call waits %s longer for a slot", ""},
		{"call_rate_s", "a call waits %s longer for the rate limit", ""},
		{"call_connect_s", "a call waits %s longer for a connection", "for a connection (connect)"},
		{"call_headers_s", "a call waits %s longer for an answer to begin", "for an answer to begin (response_header or first_token)"},
		{"call_first_token_s", "a call waits %s longer for its first content", "for the first content (first_token)"},
		{"call_stream_s", "a call's content takes %s longer", "for the rest of an answer (idle)"},
		{"call_backoff_s", "a call waits %s longer between attempts", ""},
	}
}

// longest is the part of a call's time that grew most.
func longest(cell, other *Cell) part {
	return slices.MaxFunc(parts(), func(a, b part) int { return cmp.Compare(gap(cell, other, a.key), gap(cell, other, b.key)) })
}

// longestPart names the part of a call's time that grew most, if that is a second at least, and says by
// what share of the whole it grew.
func longestPart(cell, other *Cell) (text string, share float64) {
	whole := 0.0
	for _, part := range parts() {
		whole += cell.Of(part.key).Mean
	}
	most := longest(cell, other)
	by := gap(cell, other, most.key)
	if by < 1 || whole == 0 {
		return "", 0
	}
	return fmt.Sprintf(most.text, Seconds(by)), by / whole
}

// changeOf says how a policy's time a task differs from the baseline's, with its interval.
func changeOf(p *PolicyResult) string {
	side := "less"
	change, low, high := 1-p.Ratio, 1-p.RatioCI.High, 1-p.RatioCI.Low
	if change < 0 {
		side = "more"
		change, low, high = -change, p.RatioCI.Low-1, p.RatioCI.High-1
	}
	if p.Ratio >= manyTimes {
		return fmt.Sprintf("%.1f times the time (95 %% interval %.1f to %.1f)", p.Ratio, p.RatioCI.Low, p.RatioCI.High)
	}
	return fmt.Sprintf("%s %s time (95 %% interval %s to %s)", percent(change), side, percent(low), percent(high))
}

// warnings say what makes the results doubtful.
func warnings(r *Results) []string {
	var w []string
	if r.N < r.Seeds.N() {
		w = append(w, fmt.Sprintf("Only %d of %d seeds are finished; the rest is left out.", r.N, r.Seeds.N()))
	}
	if r.N < seedsAdvised {
		w = append(w, fmt.Sprintf("%s: intervals of fewer than %d seeds are too narrow; --seeds 1-%d makes them hold.", count(r.N, "seed"), seedsAdvised, seedsAdvised))
	}
	return w
}

func count(n int, noun string) string { return Count(n, noun, noun+"s") }

// Count writes a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func percent(share float64) string {
	switch p := 100 * share; {
	case p != 0 && p > -9.95 && p < 9.95, p > 99.5 && p < 100:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

func oneDigit(x float64) string  { return fmt.Sprintf("%.1f", x) }
func twoDigits(x float64) string { return fmt.Sprintf("%.2f", x) }

// Seconds writes a length of time with as many digits as mean something.
func Seconds(s float64) string {
	switch a := max(s, -s); {
	case a < 0.0005:
		return "0 s"
	case a < 10:
		return fmt.Sprintf("%.2g s", s)
	case a < 10_000:
		return fmt.Sprintf("%.0f s", s)
	default:
		return fmt.Sprintf("%.1f h", s/3600)
	}
}
