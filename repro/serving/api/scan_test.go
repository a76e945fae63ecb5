package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/wedge/repro/serving/api"
)

// usual are requests as clients send them: none of them is odd.
func usual() []string {
	return []string{
		fmt.Sprintf(sayHello, true),
		fmt.Sprintf(writeOne, false),
		`{"model":"m","messages":[]}`,
		` { "temperature" : 0.5 , "top_p":1,"top_k":-1,"min_p":0e0,"frequency_penalty":-1.5e-1,"presence_penalty":2,"repetition_penalty":1, "max_tokens":10,"n":1,"stop":["a","\n"],"seed":12 , "messages":[ {"role":"user","content":"a\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00"} ] } `,
		`{"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":false,"other":[{}]},"user":"u","logprobs":true,"max_completion_tokens":7,"messages":null}`,
		`{"messages":[{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"a","type":"function","index":0,"function":{"name":"f","arguments":"{\"a\":1}"}},{"function":{"name":"g","arguments":{"a":[1,2,{"b":null}]}}},{"function":null}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"t"}]}]}`,
		`{"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":true}},{"function":null},{}],"tool_choice":{"type":"function","function":{"name":"f"}}}`,
		`{"tool_choice":"auto","tools":null,"n":null,"top_p":null,"metadata":{"a":{"b":[1,-2.5e+3,true,false,null,"x\u0041"]}}}`,
		`{}`,
	}
}

func TestScanTakesWhatIsUsual(t *testing.T) {
	for _, body := range usual() {
		with, without, ok := api.ReadBothWays([]byte(body))
		if !ok || with != without {
			t.Errorf("%s: taken: %t\n%s\nwith encoding/json\n%s", body, ok, without, with)
		}
	}
}

func TestScanLeavesWhatIsOdd(t *testing.T) {
	for _, body := range []string{
		``, `[]`, `null`, `{`, `{"model"`, `{"model":}`, `{"model":"a"`, `{"model":"a",}`, `{"model":"a"}}`, `{"model":"a"} x`, `{"Model":"a"}`,
		`{"\u006dodel":"a"}`, `{"model":7}`, `{"max_tokens":1.5}`, `{"max_tokens":"a"}`, `{"max_tokens":1e3}`, `{"max_tokens":01}`, `{"temperature":1e999}`,
		`{"a":tru}`, `{"a":nul}`, `{"a":-}`, `{"a":+1}`, `{"a":.5}`, `{"a":"\x"}`, `{"a":"\u12"}`, "{\"a\":\"\n\"}", `{"a":"`, `{"a":"\`, `{"a":[1,]}`, `{"a":[1 2]}`,
		`{"a":{"b"}}`, `{"messages":{}}`, `{"messages":[7]}`, `{"a":` + strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000) + `}`, `{"a" 1}`, `{"a":1 "b":2}`, `{,}`,
	} {
		if _, without, ok := api.ReadBothWays([]byte(body)); ok {
			t.Errorf("%s: taken for %s", body, without)
		}
	}
}

// FuzzScan holds the hand-made reader against encoding/json: what it takes means the same to both.
func FuzzScan(f *testing.F) {
	for _, body := range usual() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !utf8.Valid(body) || repeats(body) {
			return
		}
		if with, without, ok := api.ReadBothWays(body); ok && with != without {
			t.Errorf("%q: read as\n%s\nwith encoding/json as\n%s", body, without, with)
		}
	})
}

// repeats says whether an object has the same key twice. Then encoding/json puts the values together,
// of which nobody makes use.
func repeats(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	var inside []map[string]bool // keys by object; nil in arrays
	isKey := false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		object := len(inside) > 0 && inside[len(inside)-1] != nil
		switch token {
		case json.Delim('{'):
			inside, isKey = append(inside, map[string]bool{}), true
			continue
		case json.Delim('['):
			inside, isKey = append(inside, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			inside = inside[:len(inside)-1]
			isKey = len(inside) > 0 && inside[len(inside)-1] != nil
			continue
		}
		if key, ok := token.(string); ok && object && isKey {
			if inside[len(inside)-1][strings.ToLower(key)] {
				return true
			}
			inside[len(inside)-1][strings.ToLower(key)] = true
			isKey = false
			continue
		}
		isKey = object
	}
}
