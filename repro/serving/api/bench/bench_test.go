package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets the program of the tests take the roles that the program starts itself for.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == roleLoad || os.Args[1] == roleBare) {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-connections 0", `-connections: 0, want a whole number from 1 to 10000`},
		{"-seconds NaN", `-seconds: NaN, want a number from 0.1 to 600`},
		{"-first-token 0s", `-first-token: 0s, want 1ms to 1m`},
		{"-only speed,sped", `-only: "sped", want some of speed, start, slow, first-token`},
		{"-other-url http://127.0.0.1:1/v1", `-other-url: goes with a command line after --, and this with it`},
		{"-- server --port 1", `-other-url: goes with a command line after --, and this with it`},
		{"-other-url http://192.0.2.1:80/v1 -- server", `-other-url: "http://192.0.2.1:80/v1", want a URL of this machine such as http://127.0.0.1:8000/v1`},
	} {
		_, err := parse(strings.Fields(c.args), &bytes.Buffer{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

func TestParseTakesCommandLine(t *testing.T) {
	o, err := parse(strings.Fields("-tokens 9 -other-url http://localhost:8000/v1 -- ./other --port 8000 -json"), &bytes.Buffer{})
	if err != nil || o.tokens != 9 || strings.Join(o.other, " ") != "./other --port 8000 -json" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestHasText(t *testing.T) {
	for _, c := range []struct {
		data string
		want bool
	}{
		{`{"delta":{"role":"assistant","content":"","reasoning_content":null}}`, false},
		{`{"delta":{"content":"","reasoning_content":"a"}}`, true},
		{`{"delta":{"content":"a"}}`, true},
		{`{"choices":[],"usage":{}}`, false},
		{`{"delta":{"content":"`, false},
	} {
		if got := hasText([]byte(c.data)); got != c.want {
			t.Errorf("%s: %t, want %t", c.data, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	var list []time.Duration
	for i := range 101 {
		list = append(list, time.Duration(i))
	}
	if a, b, c := quantile(list, 0.5), quantile(list, 0.99), quantile(list[:1], 0.99); a != 50 || b != 99 || c != 0 {
		t.Errorf("%d, %d, %d", a, b, c)
	}
}
