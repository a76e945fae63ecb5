package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving/engine"
)

// listFaults answers GET /wedge/faults: the faults that are switched on, with how often they have had
// an occasion to fire, and have fired. Each is told as PUT takes it.
func (x *exchange) listFaults() {
	x.w.Lock()
	states := x.stack.Faults().States()
	x.w.Unlock()
	told := make([]toldState, 0, len(states))
	for i := range states {
		told = append(told, toldState{tellFault(&states[i].Fault), states[i].Occasions, states[i].Fired})
	}
	x.document(struct {
		Faults []toldState `json:"faults"`
	}{told})
}

// toldState is a fault that is switched on, as clients are told of it.
type toldState struct {
	Fault     json.RawMessage `json:"fault"`
	Occasions int             `json:"occasions"`
	Fired     int             `json:"fired"`
}

// tellFault writes a fault as JSON with the fields of scenario files.
func tellFault(f *fault.Fault) json.RawMessage {
	text, err := yaml.MarshalWithOptions(f, yaml.JSON())
	if err == nil && json.Valid(text) {
		return text
	}
	text, err = json.Marshal(f) // cannot be: a fault has nothing that YAML cannot say
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// putFault answers PUT /wedge/faults/{id}: it switches a fault on, in the place of one with the same
// id if there is one. Whether it fires is drawn as ever: by the run's seed, its id and the request's.
func (x *exchange) putFault() {
	r, f := x.readBody()
	if f != nil {
		x.fail(f)
		return
	}
	defer x.keepReader(r)
	parsed, err := ParseFault(r.body.Bytes(), x.faultID())
	if x.stack.Faults() == nil {
		err = errors.New("these servers were made without a set of faults, so that none can be switched on")
	}
	if err == nil && parsed.Worker != "" && !slices.ContainsFunc(x.workers, func(w *engine.Worker) bool { return w.Name == parsed.Worker }) {
		err = fmt.Errorf("worker: %q, but there is no such engine", parsed.Worker)
	}
	if err == nil {
		x.w.Lock()
		err = x.stack.Faults().Put(parsed)
		x.w.Unlock()
	}
	if err != nil {
		x.fail(badRequest(err.Error()))
		return
	}
	x.document(tellFault(&parsed))
}

// removeFault answers DELETE /wedge/faults/{id}.
func (x *exchange) removeFault() {
	x.w.Lock()
	removed := x.stack.Faults() != nil && x.stack.Faults().Remove(x.faultID())
	x.w.Unlock()
	if !removed {
		x.fail(flat(http.StatusNotFound, "no fault "+clean(x.faultID())+" is switched on"))
		return
	}
	x.nothing()
}

// removeFaults answers DELETE /wedge/faults: it switches all of them off.
func (x *exchange) removeFaults() {
	x.w.Lock()
	for _, s := range x.stack.Faults().States() {
		x.stack.Faults().Remove(s.ID)
	}
	x.w.Unlock()
	x.nothing()
}

func (x *exchange) faultID() string { return strings.TrimPrefix(x.in.URL.Path, faultsPath+"/") }

// showState answers GET /wedge/state: what the servers show of themselves.
func (x *exchange) showState() { x.document(x.stack.Snapshot()) }

// document answers with a value as JSON.
func (x *exchange) document(v any) { x.documentAs(http.StatusOK, v) }

func (x *exchange) documentAs(status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // cannot be: all of these values have a form in JSON
		x.fail(flat(http.StatusInternalServerError, err.Error()))
		return
	}
	x.whole(status, text)
}

// nothing answers that all is well, and no more.
func (x *exchange) nothing() { x.begin(http.StatusNoContent) }
