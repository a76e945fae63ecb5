package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"example.com/wedge/repro/serving/engine"
)

// alive answers GET /health and /liveness of the router: always well.
func (x *exchange) alive() { x.text(http.StatusOK, "OK") }

// text answers with a short plain text.
func (x *exchange) text(status int, body string) {
	x.out.Header()["Content-Type"] = []string{"text/plain; charset=utf-8"}
	x.begin(status)
	_, _ = x.out.Write([]byte(body)) // an error means that the client has gone
}

// workerHealth answers GET /health and /health_generate of a worker: it waits for the next sign of
// life of the engine's loop, and so says that all is well as long as the loop spins.
func (x *exchange) workerHealth() { x.probe(x.face.worker) }

// generateHealth answers GET /health_generate of the router: it asks the first worker of each kind.
func (x *exchange) generateHealth() {
	var asked []*engine.Worker
	for _, w := range x.workers {
		if !slices.ContainsFunc(asked, func(a *engine.Worker) bool { return a.Kind == w.Kind }) {
			asked = append(asked, w)
		}
	}
	x.probe(asked...)
}

// probe answers with the health of workers, after the time that it takes them to tell.
func (x *exchange) probe(workers ...*engine.Worker) {
	status := http.StatusOK
	for _, w := range workers {
		x.w.Lock()
		ok, after := w.Healthy()
		x.w.Unlock()
		if err := x.w.Sleep(x.in.Context(), after); err != nil {
			x.breakOff(err)
			return
		}
		if !ok {
			status = http.StatusServiceUnavailable
		}
	}
	x.out.Header()["Content-Length"] = []string{"0"}
	x.begin(status)
}

// abortRequest answers POST /abort_request: it aborts the requests whose ids begin with rid, or all,
// at one worker or, at the router's port, at all of them.
func (x *exchange) abortRequest() {
	r, f := x.readBody()
	if f != nil {
		x.fail(f)
		return
	}
	defer x.keepReader(r)
	var which struct {
		RID string `json:"rid"`
		All bool   `json:"abort_all"`
	}
	if err := json.Unmarshal(r.body.Bytes(), &which); err != nil {
		x.fail(badRequest(explain(err)))
		return
	}
	workers := x.workers
	if x.face.worker != nil {
		workers = []*engine.Worker{x.face.worker}
	}
	if which.All {
		which.RID = "" // which all ids begin with
	}
	for _, w := range workers {
		if which.All || which.RID != "" {
			x.stack.AbortRequests(w.Name, which.RID)
		}
	}
	x.out.Header()["Content-Length"] = []string{"0"}
	x.begin(http.StatusOK)
}
