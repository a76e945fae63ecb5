package report

import (
	"encoding/json"
	"fmt"

	"example.com/wedge/pacer"
)

// setup is what of the configuration the pictures need.
type setup struct {
	Fleet struct {
		Agents int `json:"agents"`
	} `json:"fleet"`
	Pacer struct {
		Slots         int        `json:"slots"`
		Hold          pacer.Hold `json:"hold"`
		HoldInBackoff bool       `json:"hold_in_backoff"`
	} `json:"pacer"`
}

// setup reads what is known of the configuration.
func (v *view) setup() (c setup, ok bool) {
	return c, v.Run.Config != nil && json.Unmarshal(v.Run.Config, &c) == nil
}

// heldIn are the stages in which a call holds its slot.
func (c *setup) heldIn() []pacer.Stage {
	stages := []pacer.Stage{pacer.StageRate, pacer.StageConnect, pacer.StageHeaders}
	switch c.Pacer.Hold {
	case pacer.HoldStart:
	case pacer.HoldFirstToken:
		stages = append(stages, pacer.StageFirstToken)
	default:
		stages = append(stages, pacer.StageFirstToken, pacer.StageStream)
	}
	if c.Pacer.HoldInBackoff {
		stages = append(stages, pacer.StageBackoff)
	}
	return stages
}

// slotsView is the slots over time as the template has it.
type slotsView struct {
	Chart chartView
	Words string
}

// slots draws how many slots were in use and how many calls waited for one; nil if that is not known.
func (v *view) slots(j *journal) *slotsView {
	c, ok := v.setup()
	if j == nil || !ok || len(j.stages.sums) == 0 {
		return nil
	}
	at, agents := j.stages.mean()
	used, waiting := make([]float64, len(at)), agents[pacer.StageSlot]
	for _, stage := range c.heldIn() {
		for i, n := range agents[stage] {
			used[i] += n
		}
	}
	out := &slotsView{Words: fmt.Sprintf("Means over stretches of %s, by the stages of the calls.", span(j.stages.every.Seconds()))}
	plot := &chart{
		Title: "Slots of the pacer", EndS: j.end.Seconds(), AtS: at, Stacked: true, Bands: j.bands(), Kind: "broad", Unit: "calls",
		Series: []curve{{Name: "in use", Class: "used", V: used, Area: true}, {Name: "waiting for one", Class: "s-slot", V: waiting, Area: true}},
	}
	switch {
	case c.Pacer.Slots == 0:
		out.Words += " There is no limit: pacer.slots is 0."
		plot.Title, plot.Series[0].Name = "Calls under way", "under way"
		if _, high := extremes(waiting); !(high > 0) {
			plot.Series = plot.Series[:1]
		}
	case c.Pacer.Hold == pacer.HoldAgent:
		out.Words += " Agents keep their slots between calls (pacer.hold is agent), which the journal does not show: in use are those with a call under way."
	default:
		out.Words += fmt.Sprintf(" A call holds its slot by pacer.hold = %s.", clean(string(c.Pacer.Hold)))
	}
	if c.Pacer.Slots > 0 {
		plot.Lines = []level{{"limit", float64(c.Pacer.Slots)}}
		full := 0
		for _, n := range used {
			if n >= float64(c.Pacer.Slots)*0.995 {
				full++
			}
		}
		out.Words += fmt.Sprintf(" All %d were in use %s of the time.", c.Pacer.Slots, share(float64(full)/float64(len(used))))
	}
	out.Chart = plot.view()
	return out
}
