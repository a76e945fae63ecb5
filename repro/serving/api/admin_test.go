package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// listed is a fault that is switched on, as the endpoint lists it.
type listed struct {
	Fault            json.RawMessage
	Occasions, Fired int
}

// faults returns the faults that are switched on. Each is told as it can be put again.
func (p *play) faults() []listed {
	p.t.Helper()
	status, body := p.body(p.exchange("GET", "/wedge/faults", ""))
	var list struct{ Faults []listed }
	if err := json.Unmarshal([]byte(body), &list); status != 200 || err != nil {
		p.t.Fatalf("seed %d: status %d, %v: %s", seed, status, err, body)
	}
	for _, one := range list.Faults {
		if _, err := api.ParseFault(one.Fault, ""); err != nil {
			p.t.Errorf("seed %d: %s cannot be put again: %v", seed, one.Fault, err)
		}
	}
	return list.Faults
}

// TestFaultsWhileRunning switches a fault on, has it fire, and switches it off again.
func TestFaultsWhileRunning(t *testing.T) {
	p := setup{faults: []fault.Fault{{ID: "other", Where: fault.Router, What: fault.Latency, Delay: time.Millisecond, From: time.Hour}}}.start(t)
	chat := func() int {
		status, _ := p.body(p.exchange("POST", chatPath, fmt.Sprintf(sayHello, false)))
		return status
	}
	put := `{"where": "router", "what": "status", "status": 503, "times": 2, "retry_after": "7"}`
	if status, body := p.body(p.exchange("PUT", "/wedge/faults/busy", put)); status != 200 || !strings.Contains(body, `"id":"busy"`) {
		t.Errorf("seed %d: status %d, %s", seed, status, body)
	}
	if got := []int{chat(), chat(), chat()}; fmt.Sprint(got) != "[503 503 200]" {
		t.Errorf("seed %d: %v", seed, got)
	}
	all := p.faults()
	if len(all) != 2 || !strings.Contains(string(all[0].Fault), `"id":"other"`) || !strings.Contains(string(all[1].Fault), `"id":"busy"`) || all[1].Occasions != 3 || all[1].Fired != 2 {
		t.Errorf("seed %d: %+v", seed, all)
	}
	for _, test := range []struct {
		method, path, body string
		status             int
	}{
		{"PUT", "/wedge/faults/busy", "where: router\nwhat: status\nstatus: 429", 200},
		{"GET", "/wedge/faults/busy", "", 405},
		{"DELETE", "/wedge/faults/busy", "", 204},
		{"DELETE", "/wedge/faults/busy", "", 404},
		{"PUT", "/wedge/faults/a%20b", put, 400},
		{"PUT", "/wedge/faults/x", put + "junk", 400},
		{"PUT", "/wedge/faults/x", `{"where":"moon","what":"hang"}`, 400},
		{"DELETE", "/wedge/faults", "", 204},
		{"POST", "/wedge/faults", put, 405},
	} {
		if status, body := p.body(p.exchange(test.method, test.path, test.body)); status != test.status || strings.Contains(body, "\n") {
			t.Errorf("seed %d: %s %s: status %d, %s, want %d", seed, test.method, test.path, status, body, test.status)
		}
	}
	if all := p.faults(); len(all) != 0 {
		t.Errorf("seed %d: %+v are left", seed, all)
	}
	if status := chat(); status != 200 {
		t.Errorf("seed %d: status %d", seed, status)
	}
}

func TestState(t *testing.T) {
	p := busy().start(t)
	p.fill()
	status, body := p.body(p.exchange("GET", "/wedge/state", ""))
	var got serving.Snapshot
	if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil || got.Router.InFlight != 6 {
		t.Errorf("seed %d: status %d, %v: %s", seed, status, err, body)
	}
}

// TestParseFault shows what is made of texts, good and bad.
func TestParseFault(t *testing.T) {
	var out strings.Builder
	for _, text := range []string{
		`{"id":"a","where":"stream","what":"silence","after_tokens":40,"probability":0.5}`,
		"where: router\nwhat: latency\ndelay: 1m30s\nfrom: 0\n",
		"where: decode\nwhat: slow\nfactor: 3\nworker: decode-0\nafter_abort: true\n",
		`{"where":"router","what":"status","status":503,"retry_after":"date+30s"}`,
		``, `null`, `[]`, `7`, `{`, `{"where"`, "{}", "a\n---\nb",
		`{"where":"stream","what":"silence","id":"other"}`,
		`{"where":"router","what":"latency","delay":"30"}`,
		`{"where":"router","what":"latency","delay":30}`,
		`{"where":"router","what":"latency","delay_ns":30}`,
		`{"where":"router","what":"latency","delay":["1s"]}`,
		`{"where":"stream","what":"silence","after_tokens":"many"}`,
		`{"where":"stream","what":"silence","after_tokens":1.5}`,
		`{"where":"stream","what":"silence","probability":"half"}`,
		`{"where":"stream","what":"silence","after_abort":1}`,
		`{"where":"stream","what":"silence","where":"router"}`,
		`{"where":"stream","what":"silence","after_tokens":99999999999999999999}`,
		`{"where":{"a":1},"what":"silence"}`,
		`{1:2}`,
		"where: *a\nwhat: silence",
		"where: &a stream\nwhat: *a",
		"where: stream\nwhat: !!binary abc",
		"where: stream\n\twhat: silence",
		"\xff",
		"where: " + strings.Repeat("x", 1000),
		strings.Repeat(" ", 20_000),
	} {
		f, err := api.ParseFault([]byte(text), "a")
		if err == nil {
			form, _ := json.Marshal(f)
			fmt.Fprintf(&out, "%.80q\n\t%s\n", text, form)
			continue
		}
		if strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("%q: more than one line: %q", text, err)
		}
		fmt.Fprintf(&out, "%.80q\n\terror: %v\n", text, err)
	}
	golden(t, "faults.golden", out.String())
}

// FuzzFault: whatever the text, there is a valid fault or an error of one line.
func FuzzFault(f *testing.F) {
	text, err := os.ReadFile("testdata/faults.golden")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var seed string
		if _, err := fmt.Sscanf(line, "%q", &seed); err == nil {
			f.Add([]byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := api.ParseFault(text, "a")
		if err == nil {
			if err := got.Validate(); err != nil || got.ID != "a" {
				t.Errorf("%+v: %v", got, err)
			}
			return
		}
		if strings.ContainsAny(err.Error(), "\n\r\x1b") || len(err.Error()) > 1000 {
			t.Errorf("more than one line: %q", err)
		}
	})
}
