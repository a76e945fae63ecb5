package httpbackend

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"example.com/wedge/pacer"
)

// errorMax is how much of an error body is read, in bytes.
const errorMax = 64 << 10

// statusError reads a response with an error status, and closes its body.
func (c *Client) statusError(resp *http.Response) *pacer.StatusError {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, errorMax)) // what there is of it will do
	_ = resp.Body.Close()
	e := &pacer.StatusError{Status: resp.StatusCode}
	e.RetryAfter, e.HasRetryAfter = pacer.RetryAfter(resp.Header, time.Now)
	e.ShouldRetry, e.HasShouldRetry = shouldRetry(resp.Header.Get("X-Should-Retry"))
	message, _ := readError(text)
	if location := resp.Header.Get("Location"); location != "" && resp.StatusCode < 400 {
		message = "redirects to " + location + ", which is not followed: use that as the base URL"
	}
	if message == "" {
		message = http.StatusText(resp.StatusCode)
	}
	e.Message = oneLine(c.redact(message))
	return e
}

// shouldRetry reads a header with which a server says whether another attempt makes sense.
func shouldRetry(text string) (again, ok bool) {
	return text == "true", text == "true" || text == "false"
}

// eventError returns the error of an event, or of a body that came with status 200.
func (c *Client) eventError(data []byte) *pacer.StatusError {
	message, code := readError(data)
	return &pacer.StatusError{Status: code, Message: oneLine(c.redact(message)), InStream: true}
}

// isError says whether the data of an event is an error instead of a chunk. It is cheap for chunks.
func isError(data []byte) bool {
	// An SGLang router relays an engine's error in Python's notation.
	if bytes.HasPrefix(data, []byte("{'error'")) {
		return true
	}
	if !bytes.Contains(data, []byte(`"error"`)) {
		return false
	}
	var e errorBody
	return json.Unmarshal(data, &e) == nil && (e.Object == "error" || given(e.Error))
}

// errorBody has the shapes in which servers put errors:
//
//	{"error":{"message":"…","type":"…","code":503}}          OpenAI, vLLM, SGLang in a stream
//	{"object":"error","message":"…","type":"…","code":503}   SGLang
//	{"error":"…"}                                            Ollama, Hugging Face
//	{"detail":"…"}                                           FastAPI
type errorBody struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Code    json.RawMessage `json:"code"`
	Detail  json.RawMessage `json:"detail"`
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// readError returns the message of an error body, the whole of it if it has none of the known
// shapes, and the code if that is an HTTP status.
func readError(text []byte) (message string, code int) {
	var e errorBody
	if json.Unmarshal(text, &e) != nil {
		return string(text), 0
	}
	if given(e.Error) {
		var inner errorBody
		if json.Unmarshal(e.Error, &inner) != nil {
			return plain(e.Error), statusCode(e.Code)
		}
		e = inner
	}
	switch {
	case given(e.Message):
		return plain(e.Message), statusCode(e.Code)
	case given(e.Detail):
		return plain(e.Detail), statusCode(e.Code)
	}
	return string(text), statusCode(e.Code)
}

// plain returns a JSON string's text, or other JSON as it is.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// statusCode returns a code, given as a number or in a string, if it is an HTTP error status, else 0.
func statusCode(raw json.RawMessage) int {
	code, err := strconv.Atoi(plain(raw))
	if err != nil || code < 400 || code > 599 {
		return 0
	}
	return code
}
