package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/wedge/repro/load"
)

func TestLoadPrintsTheResult(t *testing.T) {
	for file, args := range map[string]string{
		"load-burst.txt":  "load --concurrency 16 --max-tokens 128 --requests 16",
		"load-list.txt":   "load --concurrency 8,40 --timeout 0s,6s --duration 20s --abandon 0.1 --set servers.router.queued_max=0",
		"load-open.txt":   "load --rate 2 --duration 5m --prompt-tokens {uniform:[1000,9000]} --rounds 2 --set servers.decode.running_max=1",
		"load-burst.json": "load --concurrency 16 --max-tokens 128 --requests 16 --json",
		"help-load.txt":   "load --help",
	} {
		t.Run(file, func(t *testing.T) {
			file := here(t, "testdata/"+file)
			fields := strings.Fields(args)
			for i := range fields {
				fields[i] = strings.ReplaceAll(fields[i], "{uniform:", "{uniform: ")
			}
			out, errs, code := wedge(t, fields...)
			want := exitOK
			if strings.Contains(errs, "requests failed") {
				want = exitFailed
			}
			if code != want || strings.Count(errs, "\n") > 1 {
				t.Errorf("exit code %d, standard error %q", code, errs)
			}
			golden(t, file, withoutVersion(out))
			if left := leftBehind(t); len(left) > 0 {
				t.Errorf("left %v behind", left)
			}
		})
	}
}

// withoutVersion replaces what differs between two builds.
func withoutVersion(out string) string {
	return strings.ReplaceAll(out, `"version": "`+version()+`"`, `"version": "VERSION"`)
}

// TestLoadRepeats runs the command that the result names.
func TestLoadRepeats(t *testing.T) {
	first, _, code := wedge(t, "load", "--concurrency", "4", "--requests", "9", "--seed", "7", "--ignore-eos", "--set", "servers.decode.running_max=3", "--set", "servers.decode.step_base=30ms", "--fault", "{id: a, where: router, what: status, status: 503, nth: 5}", "-q")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	_, replay, _ := strings.Cut(strings.TrimSpace(first), "\nreplay  wedge ")
	var words []string
	for i, part := range strings.Split(replay, "'") { // quoted words have no quotes in them
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	if again, errs, _ := wedge(t, words...); again != first {
		t.Errorf("%q gives %s\n%s\nand not\n%s", words, errs, again, first)
	}
}

func TestLoadExitCodes(t *testing.T) {
	for args, want := range map[string]struct {
		code int
		errs string
	}{
		"--requests 4": {exitOK, ""},
		"--requests 4 --set servers.router.queued_max=1":                                 {exitFailed, "wedge: 3 of 4 requests failed\n"},
		"--requests 4 --timeout 10ms":                                                    {exitStalled, "wedge: nothing was answered of 4 requests: 16 clients, 128 tokens, timeout 10ms\n"},
		"--duration 1s":                                                                  {exitOK, ""}, // too short for anything
		"--duration 10s --fault {\"id\":h,\"where\":router,\"what\":drop}":               {exitStalled, "wedge: nothing was answered of 16 requests: 16 clients, 128 tokens\n"},
		"--requests 64 --abort-after 1s":                                                 {exitOK, ""},
		"--requests 100 --rate 10 --arrivals constant --set servers.router.queued_max=0": {exitOK, ""},
		"--requests 6 --clock wall --scale 20 --no-stream --max-tokens 20 --quiet":       {exitOK, ""},
	} {
		fields := append([]string{"load"}, strings.Fields(args)...)
		out, errs, code := wedge(t, fields...)
		if code != want.code || errs != want.errs || !strings.HasPrefix(out, "load  simulated servers") {
			t.Errorf("%s: exit code %d, standard error %q:\n%s", args, code, errs, out)
		}
	}
}

func TestLoadBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"--concurrency 0":                    "wedge: --concurrency: found 0, want a whole number from 1 to 100000",
		"--concurrency 4,x":                  `wedge: --concurrency: found "4,x", want whole numbers such as 1,16,64`,
		"--timeout 4":                        `wedge: --timeout: found "4", want lengths of time such as 10s,6s`,
		"--timeout -4s":                      "wedge: --timeout: found -4s, want a duration from 0s to",
		"--duration 0s":                      "wedge: --duration: found 0s and no number of requests",
		"--requests -1":                      "wedge: --requests: found -1, want a whole number from 0 to",
		"--rate 0":                           "wedge: --rate: found 0, want requests a second",
		"--rate -1":                          "wedge: --rate: found -1, want requests a second",
		"--arrivals poisson":                 "wedge: --arrivals: found it in a closed loop",
		"--rate 1 --arrivals bursts":         `wedge: --arrivals: found "bursts", want poisson or constant`,
		"--prompt-tokens many":               `wedge: --prompt-tokens: `,
		"--prompt-tokens {uniform:[5,1]}":    `wedge: --prompt-tokens: `,
		"--max-tokens -1":                    "wedge: --max-tokens: found -1",
		"--abandon 2":                        "wedge: --abandon: found 2, want a share from 0 to 1",
		"--no-stream --stream":               "wedge: --no-stream: found it together with --stream",
		"--no-stream":                        "wedge: --no-stream: found it with servers in memory, want --clock wall",
		"--scale 5":                          "wedge: --scale: found a scale of the virtual clock",
		"--clock wall --scale 0":             "wedge: --scale: found 0, want a number from",
		"--clock atomic":                     `wedge: --clock: found "atomic", want virtual or wall`,
		"--preset nonsense":                  `wedge: --preset: found "nonsense", want one of sglang-pd`,
		"--set policy.idle=5s":               "wedge: --set policy.idle=5s: want a field of servers or faults",
		"--set servers.decode.running=5":     `wedge: --set servers.decode.running=5: servers.decode.running: unknown field`,
		"--set servers.decode.running_max=0": `wedge: --set servers.decode.running_max=0: servers.decode.running_max: 0, want a whole number from 1`,
		"--fault missing.yaml":               "wedge: --fault missing.yaml: no such file or directory",
		"--fault {id":                        "wedge: --fault {id: ",
		"--fault {\"id\":a,\"where\":tool,\"what\":hang}": "wedge: --fault: found the fault a at the tool",
		"--model m":          "wedge: --base-url: found --model or --metrics-url without it",
		"--base-url ftp://x": "wedge: --base-url: ",
		"--base-url=":        "wedge: --base-url: ",
		"--base-url http://user:pass@127.0.0.1:1/v1":              "wedge: --base-url: ",
		"--base-url http://127.0.0.1:1/v1 --clock wall":           "wedge: --clock: found it together with --base-url",
		"--base-url http://127.0.0.1:1/v1 --metrics-url nonsense": "wedge: --metrics-url: ",
		"extra": `wedge: unknown command "extra" for "wedge load"`,
		"--concurrency 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 --max-tokens 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16": "wedge: load: found lists that make 272 rows",
	} {
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, errs, code := wedgeHere(t, append([]string{"load"}, strings.Fields(args)...)...)
			if code != exitUsage || out != "" {
				t.Errorf("exit code %d, standard output %q", code, out)
			}
			if !strings.HasPrefix(errs, want) || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "user:pass") {
				t.Errorf("standard error:\n%swant one line:\n%s…", errs, want)
			}
		})
	}
}

// fakeServer is an OpenAI-compatible server with a gauge, and a key.
func fakeServer(t *testing.T, key string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.URL.Path == "/metrics":
			_, _ = io.WriteString(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 7\n")
		case r.Header.Get("Authorization") != "Bearer "+key:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"wrong key %s"}}`, r.Header.Get("Authorization"))
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"the-model"}]}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"word\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestLoadOfARealServer(t *testing.T) {
	const key = "sk-a-secret-key-0123456789"
	server := fakeServer(t, key)
	t.Setenv("WEDGE_API_KEY", key)
	out, errs, code := wedge(t, "load", "--base-url", server.URL+"/v1", "--concurrency", "1,4", "--requests", "20", "--json")
	var d loadDocument
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	if code != exitOK || d.Schema != "wedge.load/1" || d.Clock != "wall" || len(d.Rows) != 2 || d.Rows[1].Requests.OK != 20 || !strings.HasSuffix(d.Target, ", model the-model") {
		t.Errorf("exit code %d, standard error %q: %s", code, errs, out)
	}
	t.Setenv("WEDGE_API_KEY", "sk-another-key-987654321")
	out, errs, code = wedge(t, "load", "--base-url", server.URL+"/v1", "--model", "m", "--requests", "5", "--concurrency", "1")
	if code != exitStalled || !strings.Contains(out, "status 401  5 of 5: wrong key Bearer [redacted]") || strings.Contains(out+errs, "sk-another") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if _, errs, code := wedge(t, "load", "--base-url", server.URL+"/v1"); code != exitFailed || !strings.HasPrefix(errs, "wedge: the server answers 401 (Unauthorized): want its key") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if _, errs, code := wedge(t, "load", "--base-url", "http://127.0.0.1:1/v1"); code != exitFailed || !strings.HasPrefix(errs, "wedge: tried GET http://127.0.0.1:1/v1/models") || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestLoadInterrupted: what there is by then is printed.
func TestLoadInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	for _, args := range [][]string{ // the second one is interrupted before it begins
		{"load", "--duration", "1000h", "--json", "--base-url", server.URL + "/v1", "--model", "m", "--concurrency", "1,2"},
		{"load", "--duration", "1000h", "--json"},
	} {
		var out, errs bytes.Buffer
		code := run(ctx, args, &out, &errs)
		var d loadDocument
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatalf("%v: %s%s", err, out.String(), errs.String())
		}
		if code != exitInterrupted || errs.Len() > 0 || !d.Interrupted || len(d.Rows) != 1 || !d.Rows[0].Interrupted || d.Rows[0].Requests.OK != 0 {
			t.Errorf("%v: exit code %d, standard error %q, %s", args, code, errs.String(), out.String())
		}
	}
}

// TestLoadTimeoutsOverload: clients that give up before their turn comes leave nothing but dead work behind.
func TestLoadTimeoutsOverload(t *testing.T) {
	out, _, code := wedge(t, "load", "--concurrency", "20", "--timeout", "60s,4s", "--duration", "30s", "--set", "servers.decode.running_max=4", "--json")
	var d loadDocument
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if code == exitOK || d.Rows[0].Requests.Failed != 0 || d.Rows[1].Requests.OK >= d.Rows[0].Requests.OK || d.Rows[1].Failures[0].Kind != load.KindTimeout {
		t.Errorf("exit code %d: %s", code, out)
	}
}
