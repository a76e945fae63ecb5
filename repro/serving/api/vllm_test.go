package api_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
)

func asVLLM(c *serving.Config) { c.Flavor = serving.VLLM }

// TestVLLMErrors: vLLM has all of its errors under "error".
func TestVLLMErrors(t *testing.T) {
	p := setup{stack: asVLLM, faults: []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 500, Only: 1}}}.start(t)
	for _, test := range []struct{ body, want string }{
		{fmt.Sprintf(sayHello, true), `"code":500}}`},
		{`{`, `{"error":{"message":"The request body is not valid JSON: unexpected end of JSON input at byte 1.","type":"BadRequestError","param":null,"code":400}}`},
		{`{"model":"other","messages":[{"role":"user","content":"a"}]}`, `"code":"model_not_found"}}`},
	} {
		if _, body := p.body(p.exchange("POST", chatPath, test.body)); !strings.HasPrefix(body, `{"error":{`) || !strings.HasSuffix(body, test.want) {
			t.Errorf("seed %d: %s, want %s", seed, body, test.want)
		}
	}
}

// TestVLLMMetrics: by the names of vLLM, and by none of SGLang's engines.
func TestVLLMMetrics(t *testing.T) {
	p := setup{stack: asVLLM}.start(t)
	p.exchange("POST", chatPath, fmt.Sprintf(sayHello, true))
	page := p.metrics()
	for _, name := range []string{
		"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc", "num_preemptions_total", "prompt_tokens_total", "generation_tokens_total",
		"request_success_total", "time_to_first_token_seconds_bucket", "inter_token_latency_seconds_sum", "e2e_request_latency_seconds_count", "request_queue_time_seconds_count",
	} {
		if !strings.Contains(page, "\nvllm:"+name+"{") {
			t.Errorf("seed %d: no series vllm:%s", seed, name)
		}
	}
	if strings.Contains(page, "sglang:") {
		t.Errorf("seed %d: SGLang's names on vLLM's page", seed)
	}
}
