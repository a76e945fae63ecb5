package api

import (
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// pool is the memory of a rank, and what bounds its batch.
type pool struct {
	size, used int // tokens
	runningMax int // requests
}

func (p pool) usage() float64 { return float64(p.used) / float64(max(1, p.size)) }

// poolOf returns the memory of a rank that does what the kind says. An engine that does both has
// one memory for both.
func poolOf(c serving.Config, kind engine.Kind, l *engine.Load) pool {
	switch kind {
	case engine.KindPrefill:
		return pool{size: c.Prefill.KVTokens, used: l.PrefillKVTokens, runningMax: c.Prefill.RequestsMax}
	case engine.KindDecode:
		return pool{size: c.Decode.KVTokens, used: l.DecodeKVTokens + l.StarvedKVTokens, runningMax: c.Decode.RunningMax}
	}
	return pool{size: c.Decode.KVTokens, used: l.PrefillKVTokens + l.DecodeKVTokens + l.StarvedKVTokens, runningMax: c.Decode.RunningMax}
}

// runningOf returns the requests in the batch under way.
func runningOf(kind engine.Kind, l *engine.Load) int {
	switch kind {
	case engine.KindPrefill:
		return l.Prefilling
	case engine.KindDecode:
		return l.Running
	}
	return l.Prefilling + l.Running
}
