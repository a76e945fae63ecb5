package api

import (
	"net/http"
	"strconv"
	"strings"

	"example.com/wedge/repro/serving"
)

// failure is an error that is the answer to a request.
type failure struct {
	status     int
	message    string
	empty      bool   // the answer has no body
	kind       string // the field "type"
	retryAfter string // the header's value; empty: absent
	errorCode  string // of the header X-SMG-Error-Code; empty: absent

	shape       shape
	code, param string // of the shapes that have them as texts
}

// shape is the form of the body. Of each there is a real server that has it.
type shape uint8

const (
	// shapeEngine is {"object":"error","message":"…","type":"…","param":null,"code":503} of SGLang's
	// engines, and {"error":{"message":"…","type":"…","param":null,"code":503}} of vLLM.
	shapeEngine shape = iota
	// shapeOpenAI is {"error":{"message":"…","type":"…","param":"…","code":"…"}}.
	shapeOpenAI
	// shapeRouter is {"error":{"type":"…","code":"…","message":"…"}}.
	shapeRouter
)

// flat returns a failure of an engine with the kind that SGLang gives its own aborts: mostly the
// status itself.
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
		shape:   shapeOpenAI, code: "model_not_found", param: "model",
	}
}

// refusal is the failure of a request that the servers have refused.
func (x *exchange) refusal(r *serving.Refusal) *failure {
	f := flat(r.Status, r.Message)
	if r.Type != "" {
		f.kind = r.Type
	}
	f.errorCode, f.empty = r.ErrorCode, r.Empty
	if r.Nested {
		f.shape, f.code = shapeRouter, r.Code
	}
	f.retryAfter = r.RetryAfter
	if date, err := http.ParseTime(r.RetryAfter); err == nil {
		f.retryAfter = date.Add(x.shift).Format(http.TimeFormat)
	}
	return f
}

// cut returns the beginning of s.
func cut(s string, bytesMax int) string {
	if len(s) <= bytesMax {
		return s
	}
	return strings.ToValidUTF8(s[:bytesMax], "") + "..."
}

// append appends the body.
func (f *failure) append(b []byte, vllm bool) []byte {
	switch {
	case f.shape == shapeRouter:
		b = append(b, `{"error":{"type":`...)
		b = appendString(b, f.kind)
		b = append(b, `,"code":`...)
		b = appendString(b, f.code)
		b = append(b, `,"message":`...)
		b = appendString(b, f.message)
		return append(b, '}', '}')
	case f.shape == shapeOpenAI:
		b = append(b, `{"error":{"message":`...)
		b = appendString(b, f.message)
		b = append(b, `,"type":`...)
		b = appendString(b, f.kind)
		b = append(b, `,"param":`...)
		b = appendString(b, f.param)
		b = append(b, `,"code":`...)
		b = appendString(b, f.code)
		return append(b, '}', '}')
	case vllm:
		return append(f.appendFields(append(b, `{"error":{`...)), '}', '}')
	}
	return append(f.appendFields(append(b, `{"object":"error",`...)), '}')
}

func (f *failure) appendFields(b []byte) []byte {
	b = append(b, `"message":`...)
	b = appendString(b, f.message)
	b = append(b, `,"type":`...)
	b = appendString(b, f.kind)
	b = append(b, `,"param":null,"code":`...)
	return strconv.AppendInt(b, int64(f.status), 10)
}

// appendEvent appends the error as an event within a stream:
//
//	data: {"error":{"object":"error","message":"…","type":"SERVICE_UNAVAILABLE","param":null,"code":503}}
//
// The router relays what a decode engine had for it in another way, which is neither JSON nor ends the
// event:
//
//	data: {'error': {"object":"error",…}}
//
// relayed says that it did, and so that nothing may follow.
func (f *failure) appendEvent(b []byte, vllm bool) (event []byte, relayed bool) {
	if f.shape == shapeRouter {
		engine := *f
		engine.shape = shapeEngine
		return append(engine.append(append(b, `data: {'error': `...), false), '}'), true
	}
	if vllm {
		b = append(b, `data: {"error":{`...)
	} else {
		b = append(b, `data: {"error":{"object":"error",`...)
	}
	return append(f.appendFields(b), "}"+eventEnd...), false
}

// inBand names the type that SGLang gives an error within a stream.
func inBand(status int) string {
	return strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))
}

// fail answers with a failure.
func (x *exchange) fail(f *failure) {
	x.watchFailure(f)
	h := x.out.Header()
	if f.retryAfter != "" {
		h["Retry-After"] = []string{f.retryAfter}
	}
	if f.errorCode != "" {
		h["X-Smg-Error-Code"] = []string{f.errorCode}
		x.errorCode = f.errorCode
	}
	if f.empty {
		h["Content-Length"] = []string{"0"}
		x.begin(f.status)
		return
	}
	b := x.buffer()
	defer x.giveBack(b)
	*b = f.append(*b, x.vllm)
	x.whole(f.status, *b)
}

// whole answers with a JSON document in one piece.
func (x *exchange) whole(status int, body []byte) {
	h := x.out.Header()
	h["Content-Type"] = x.types.json
	x.values[1] = strconv.Itoa(len(body))
	h["Content-Length"] = x.values[1:2:2]
	x.begin(status)
	_, _ = x.out.Write(body) // an error means that the client has gone
}
