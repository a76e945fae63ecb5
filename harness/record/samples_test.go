package record

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestSamples(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{`{"t_s":0.000000000,"sent":0,"calls":0,"gauges":{}}` + "\n", "{At:0s Sent:0 Calls:0 Gauges:[] Err:}\n"},
		{
			`{"t_s":5.000000001,"sent":3,"calls":4,"gauges":{"a":1,"b":0.25,"c":-1.5e-07}}` + "\n" +
				`{"lost_lines":3}` + "\n" +
				`{"t_s":10.0,"sent":3,"calls":4,"error":"no\nanswer","gauges":{}}` + "\n" +
				`{"t_s":15.0,"sent":3,"calls":4,"gauges":{"a":2,"x":1e3}}` + "\n" +
				`{"t_s":20.0,"sen`,
			"{At:5.000000001s Sent:3 Calls:4 Gauges:[{Name:a Value:1} {Name:b Value:0.25} {Name:c Value:-1.5e-07}] Err:}\n" +
				"{At:10s Sent:3 Calls:4 Gauges:[] Err:no\nanswer}\n" +
				"{At:15s Sent:3 Calls:4 Gauges:[{Name:a Value:2} {Name:x Value:1000}] Err:}\n",
		},
		{"7\n", `error s.jsonl:1: found "7", want an object of JSON`},
		{`{"sent":1}` + "\n", `error s.jsonl:1: t_s: found a line without it, want it in every line`},
		{`{"t_s":1,"mood":1}` + "\n", `error s.jsonl:1: mood: found "1}", want no other field than t_s, sent, calls, error, gauges`},
		{`{"t_s":1,"gauges":[]}` + "\n", `error s.jsonl:1: gauges: found "[]}", want an object of gauges`},
		{`{"t_s":1,"gauges":{"a":"b"}}` + "\n", `error s.jsonl:1: gauges: found "\"b\"}}", want an object of gauges`},
	} {
		var got strings.Builder
		err := ReadSamples(fstest.MapFS{"s.jsonl": {Data: []byte(c.text)}}, "s.jsonl", func(s *Sample) { fmt.Fprintf(&got, "%+v\n", *s) })
		if err != nil {
			fmt.Fprintf(&got, "error %v", err)
		}
		if got.String() != c.want {
			t.Errorf("%s\nreads\n%s\nwant\n%s", c.text, got.String(), c.want)
		}
	}
	if err := ReadSamples(fstest.MapFS{}, "s.jsonl", nil); err != nil {
		t.Errorf("without samples: %v", err)
	}
}
