package api

import (
	"net/http"
	"strconv"

	"example.com/wedge/repro/serving"
)

// failure is an answer with an error status.
type failure struct {
	status     int
	message    string
	kind       string // the field "type"
	retryAfter string // the header's value; empty: absent

	// nested says that the body has OpenAI's shape, with code and param as texts, instead of the flat
	// one of SGLang's engines.
	nested      bool
	code, param string
}

// flat returns a failure with the kind that SGLang gives its own aborts: mostly the status itself.
func flat(status int, message string) *failure {
	f := &failure{status: status, message: message}
	switch status {
	case http.StatusBadRequest:
		f.kind = "BadRequest"
	case http.StatusInternalServerError:
		f.kind = "InternalServerError"
	default:
		f.kind = strconv.Itoa(status)
	}
	return f
}

// badRequest returns the failure of a request that does not make sense, as SGLang's own validation
// gives it.
func badRequest(message string) *failure {
	return &failure{status: http.StatusBadRequest, message: message, kind: "BadRequestError"}
}

func unknownModel(model string) *failure {
	return &failure{
		status:  http.StatusNotFound,
		message: "The model '" + cut(model, 200) + "' does not exist",
		kind:    "invalid_request_error",
		nested:  true, code: "model_not_found", param: "model",
	}
}

// refusal is the failure of a request that the servers have refused.
func refusal(r *serving.Refusal) *failure {
	f := flat(r.Status, r.Message)
	f.retryAfter = r.RetryAfter
	return f
}

// cut returns the beginning of s.
func cut(s string, bytesMax int) string {
	if len(s) <= bytesMax {
		return s
	}
	return s[:bytesMax] + "..."
}

// append appends the body:
//
//	{"object":"error","message":"…","type":"…","param":null,"code":503}
//	{"error":{"message":"…","type":"…","param":"…","code":"…"}}
func (f *failure) append(b []byte) []byte {
	if f.nested {
		b = append(b, `{"error":{"message":`...)
	} else {
		b = append(b, `{"object":"error","message":`...)
	}
	b = appendString(b, f.message)
	b = append(b, `,"type":`...)
	b = appendString(b, f.kind)
	if !f.nested {
		b = append(b, `,"param":null,"code":`...)
		b = strconv.AppendInt(b, int64(f.status), 10)
		return append(b, '}')
	}
	b = append(b, `,"param":`...)
	b = appendString(b, f.param)
	b = append(b, `,"code":`...)
	b = appendString(b, f.code)
	return append(b, '}', '}')
}

// fail answers with a failure.
func (x *exchange) fail(f *failure) {
	if f.retryAfter != "" {
		x.out.Header().Set("Retry-After", f.retryAfter)
	}
	b := x.buffer()
	defer x.giveBack(b)
	*b = f.append(*b)
	x.whole(f.status, *b)
}

// whole answers with a JSON document in one piece.
func (x *exchange) whole(status int, body []byte) {
	h := x.out.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.begin(status)
	_, _ = x.out.Write(body) // an error means that the client has gone
}

// begin sends the status, and counts it.
func (x *exchange) begin(status int) {
	x.metrics.responses.WithLabelValues(statusLabel(status), "").Inc()
	x.out.WriteHeader(status)
}

func statusLabel(status int) string {
	if status == http.StatusOK {
		return "200" // by far the most frequent
	}
	return strconv.Itoa(status)
}
