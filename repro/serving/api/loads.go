package api

import (
	"strings"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// loads is what /v1/loads of a worker shows: what its ranks have published, which may be old.
type loads struct {
	Timestamp string     `json:"timestamp"`
	Version   string     `json:"version"`
	Ranks     int        `json:"dp_rank_count"`
	Loads     []rankLoad `json:"loads"`
	Aggregate aggregate  `json:"aggregate"`
}

// rankLoad is the part of a rank.
type rankLoad struct {
	Rank        int      `json:"dp_rank"`
	Timestamp   float64  `json:"timestamp"` // when it was published, in seconds
	Running     int      `json:"num_running_reqs"`
	Waiting     int      `json:"num_waiting_reqs"` // in all queues
	Total       int      `json:"num_total_reqs"`
	UsedTokens  int      `json:"num_used_tokens"`
	TotalTokens int      `json:"num_total_tokens"` // and those of prompts that wait
	TokensMax   int      `json:"max_total_num_tokens"`
	Usage       float64  `json:"token_usage"`
	RunningMax  int      `json:"max_running_requests"`
	Disagg      *disagg  `json:"disaggregation,omitempty"`
	Queues      *queueds `json:"queues,omitempty"`
}

// disagg is the section "disagg".
type disagg struct {
	Mode      string `json:"mode"`
	Bootstrap int    `json:"prefill_bootstrap_queue_reqs"`
	Inflight  int    `json:"prefill_inflight_queue_reqs"`
	Prealloc  int    `json:"decode_prealloc_queue_reqs"`
	Transfer  int    `json:"decode_transfer_queue_reqs"`
	Retracted int    `json:"decode_retracted_queue_reqs"`
}

// queueds is the section "queues".
type queueds struct {
	Waiting   int `json:"waiting"`
	Grammar   int `json:"grammar"`
	Paused    int `json:"paused"`
	Retracted int `json:"retracted"`
}

// aggregate sums up the ranks.
type aggregate struct {
	Running int     `json:"total_running_reqs"`
	Waiting int     `json:"total_waiting_reqs"`
	Total   int     `json:"total_reqs"`
	Usage   float64 `json:"avg_token_usage"`
}

// engineVersion is what the engines say of themselves.
const engineVersion = "wedge"

// showLoads answers GET /v1/loads of a worker. The query's include names the sections, of core, disagg
// and queues; none of it, or all, is all.
func (x *exchange) showLoads() {
	sections, unknown := x.sections()
	if unknown != "" {
		x.fail(badRequest("include: " + clean(unknown) + ", want some of core, disagg, queues, all"))
		return
	}
	x.w.Lock()
	l := x.loadsOf(x.face.worker, sections)
	x.w.Unlock()
	x.document(l)
}

// sections reads what is to be included. It returns a name that it does not know.
func (x *exchange) sections() (wanted []string, unknown string) {
	include := x.in.URL.Query().Get("include")
	if include == "" {
		return []string{"all"}, ""
	}
	for name := range strings.SplitSeq(include, ",") {
		switch name = strings.TrimSpace(name); name {
		case "core", "disagg", "queues", "all", "memory", "spec", "lora": // the last three have nothing to show
			wanted = append(wanted, name)
		default:
			return nil, name
		}
	}
	return wanted, ""
}

// loadsOf is what a worker shows, with the monitor held.
func (s *Server) loadsOf(w *engine.Worker, sections []string) loads {
	out := loads{Timestamp: s.calendar(s.w.Now()).Format("2006-01-02T15:04:05.000000-07:00"), Version: engineVersion, Ranks: w.Ranks()}
	for rank := range w.Ranks() {
		load, at := w.Published(rank)
		one := s.rankLoad(w.Kind, &load, at, rank)
		one.pick(w.Kind, &load, sections)
		out.Loads = append(out.Loads, one)
		out.Aggregate.Running += one.Running
		out.Aggregate.Waiting += one.Waiting
		out.Aggregate.Total += one.Total
		out.Aggregate.Usage += one.Usage / float64(w.Ranks())
	}
	return out
}

func (s *Server) rankLoad(kind engine.Kind, l *engine.Load, at sim.Instant, rank int) rankLoad {
	p := poolOf(s.stack.Config(), kind, l)
	waiting := l.Bootstrap + l.PrefillWait + l.Prealloc + l.Transfer + l.DecodeWait + l.Retracted
	running := runningOf(kind, l)
	return rankLoad{
		Rank: rank, Timestamp: float64(s.calendar(at).UnixMicro()) / 1e6,
		Running: running, Waiting: waiting, Total: running + waiting,
		UsedTokens: p.used, TotalTokens: p.used + l.PendingTokens, TokensMax: p.size, Usage: p.usage(),
		RunningMax: p.runningMax,
	}
}

// pick adds the sections that are wanted.
func (r *rankLoad) pick(kind engine.Kind, l *engine.Load, sections []string) {
	for _, name := range sections {
		if name == "disagg" || name == "all" {
			r.Disagg = &disagg{
				Mode: disaggMode(kind), Bootstrap: l.Bootstrap, Inflight: l.Inflight,
				Prealloc: l.Prealloc, Transfer: l.Transfer, Retracted: l.Retracted,
			}
		}
		if name == "queues" || name == "all" {
			r.Queues = &queueds{Waiting: l.PrefillWait + l.DecodeWait, Retracted: l.Retracted}
		}
	}
}

// disaggMode is SGLang's name of what an engine does: "null" is both.
func disaggMode(kind engine.Kind) string {
	switch kind {
	case engine.KindPrefill:
		return "prefill"
	case engine.KindDecode:
		return "decode"
	}
	return "null"
}

// showAllLoads answers GET /v1/loads of the router: the loads of all workers.
func (x *exchange) showAllLoads() {
	sections, unknown := x.sections()
	if unknown != "" {
		x.fail(badRequest("include: " + clean(unknown) + ", want some of core, disagg, queues, all"))
		return
	}
	type workerLoad struct {
		Worker string `json:"worker"`
		Kind   string `json:"worker_type"`
		Load   int    `json:"load"`
		Detail loads  `json:"details"`
	}
	out := struct {
		Workers    []workerLoad `json:"loads"`
		Total      int          `json:"total_workers"`
		Successful int          `json:"successful"`
		Failed     int          `json:"failed"`
	}{Total: len(x.workers), Successful: len(x.workers)}
	x.w.Lock()
	for _, w := range x.workers {
		l := x.loadsOf(w, sections)
		out.Workers = append(out.Workers, workerLoad{Worker: x.urlOf(w.Name), Kind: workerType(w.Kind), Load: l.Aggregate.Total, Detail: l})
	}
	x.w.Unlock()
	x.document(out)
}

// workerType is the router's name of what a worker does.
func workerType(kind engine.Kind) string {
	switch kind {
	case engine.KindPrefill:
		return enginePrefill
	case engine.KindDecode:
		return engineDecode
	}
	return "regular"
}
