package api

import (
	"net/http"
	"strconv"
	"strings"
)

// models answers GET /v1/models.
func (x *exchange) models() {
	b := x.buffer()
	defer x.giveBack(b)
	*b = append(*b, `{"object":"list","data":[`...)
	*b = x.appendModel(*b)
	*b = append(*b, `]}`...)
	x.whole(http.StatusOK, *b)
}

// oneModel answers GET /v1/models/{id}. The id may have slashes in it.
func (x *exchange) oneModel() {
	if id := strings.TrimPrefix(x.in.URL.Path, modelsPath+"/"); id != x.model {
		x.fail(unknownModel(id))
		return
	}
	b := x.buffer()
	defer x.giveBack(b)
	*b = x.appendModel(*b)
	x.whole(http.StatusOK, *b)
}

func (x *exchange) appendModel(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, x.model)
	b = append(b, `,"object":"model","created":`...)
	b = strconv.AppendInt(b, x.calendar(x.since).Unix(), 10)
	b = append(b, `,"owned_by":"sglang","root":`...)
	b = appendString(b, x.model)
	b = append(b, `,"parent":null,"max_model_len":`...)
	b = strconv.AppendInt(b, int64(x.stack.Config().Model.ContextTokensMax), 10)
	return append(b, '}')
}
