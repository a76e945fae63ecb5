package api

import (
	"net/http"
	"slices"

	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// urlOf returns where a worker listens, or a name in the form of a URL if it does not.
func (s *Server) urlOf(worker string) string {
	for _, a := range s.Addresses().Workers {
		if a.Name == worker {
			return a.URL
		}
	}
	return "http://" + worker
}

// serverInfo is what /server_info of a worker shows: its settings and the state of its ranks. Of the
// settings it has those that mean something here, under the names of SGLang's flags.
type serverInfo struct {
	ModelPath    string      `json:"model_path"`
	ServedModel  string      `json:"served_model_name"`
	Mode         string      `json:"disaggregation_mode"`
	Ranks        int         `json:"dp_size"`
	Context      int         `json:"context_length"`
	TokensMax    int         `json:"max_total_num_tokens"`
	RunningMax   int         `json:"max_running_requests"`
	ChunkTokens  int         `json:"chunked_prefill_size"`
	Version      string      `json:"version"`
	Status       string      `json:"status"`
	States       []rankState `json:"internal_states"`
	WedgeScale   float64     `json:"wedge_scale"`       // how much faster the run's clock goes than the machine's
	WedgeAgeSecs float64     `json:"wedge_age_seconds"` // of the run, on its clock
}

// rankState is a rank's part of it.
type rankState struct {
	RunningMax int     `json:"effective_max_running_requests_per_dp"`
	TokensMax  int     `json:"max_total_num_tokens"`
	UsedTokens int     `json:"num_used_tokens"`
	Usage      float64 `json:"token_usage"`
}

// showServerInfo answers GET /server_info of a worker.
func (x *exchange) showServerInfo() {
	x.w.Lock()
	info := x.infoOf(x.face.worker)
	x.w.Unlock()
	x.document(info)
}

// infoOf is what a worker shows, with the monitor held.
func (s *Server) infoOf(w *engine.Worker) serverInfo {
	c := s.stack.Config()
	info := serverInfo{
		ModelPath: s.model, ServedModel: s.model, Mode: disaggMode(w.Kind), Ranks: w.Ranks(),
		Context: c.Model.ContextTokensMax, ChunkTokens: c.Prefill.ChunkTokens, Version: engineVersion, Status: "ready",
		WedgeScale: s.w.Scale(), WedgeAgeSecs: s.w.Now().Seconds(),
	}
	for rank := range w.Ranks() {
		load, _ := w.Published(rank)
		p := poolOf(c, w.Kind, &load)
		info.TokensMax, info.RunningMax = p.size, p.runningMax
		info.States = append(info.States, rankState{RunningMax: p.runningMax, TokensMax: p.size, UsedTokens: p.used, Usage: p.usage()})
	}
	return info
}

// showAllInfo answers GET /server_info of the router: that of its workers.
func (x *exchange) showAllInfo() {
	type workerInfo struct {
		Worker string     `json:"worker"`
		Kind   string     `json:"worker_type"`
		Info   serverInfo `json:"server_info"`
	}
	out := struct {
		Version string       `json:"version"`
		Workers []workerInfo `json:"workers"`
	}{Version: "smg " + engineVersion}
	x.w.Lock()
	for _, w := range x.workers {
		out.Workers = append(out.Workers, workerInfo{x.urlOf(w.Name), workerType(w.Kind), x.infoOf(w)})
	}
	x.w.Unlock()
	x.document(out)
}

// ready answers GET /readiness: whether there is a healthy worker of each kind.
func (x *exchange) ready() {
	all := x.stack.Router().Workers
	healthy, missing := 0, 0
	for i := range all {
		switch {
		case all[i].Healthy:
			healthy++
		case !slices.ContainsFunc(all, func(w serving.WorkerView) bool { return w.Kind == all[i].Kind && w.Healthy }):
			missing++
		}
	}
	out := struct {
		Status  string `json:"status"`
		Healthy int    `json:"healthy_workers"`
		Total   int    `json:"total_workers"`
	}{"ready", healthy, len(all)}
	status := http.StatusOK
	if missing > 0 {
		out.Status, status = "not ready", http.StatusServiceUnavailable
	}
	x.documentAs(status, out)
}

// listWorkers answers GET /workers of the router.
func (x *exchange) listWorkers() {
	type worker struct {
		ID         string `json:"id"`
		URL        string `json:"url"`
		Model      string `json:"model_id"`
		Kind       string `json:"worker_type"`
		Healthy    bool   `json:"is_healthy"`
		Load       int    `json:"load"`
		Connection string `json:"connection_mode"`
	}
	list, stats := []worker{}, map[string]int{"prefill_count": 0, "decode_count": 0, "regular_count": 0}
	for _, w := range x.stack.Router().Workers {
		kind := workerType(w.Kind)
		stats[kind+"_count"]++
		list = append(list, worker{
			ID: w.Name, URL: x.urlOf(w.Name), Model: x.model, Kind: kind,
			Healthy: w.Healthy, Load: w.Active, Connection: "http",
		})
	}
	x.document(struct {
		Workers []worker       `json:"workers"`
		Total   int            `json:"total"`
		Stats   map[string]int `json:"stats"`
	}{list, len(list), stats})
}
