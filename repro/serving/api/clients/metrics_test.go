//go:build integration

package clients

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/wedge/repro/serving"
)

// TestIntegrationMetricsParse reads every byte of every /metrics as strictly as the library for it can.
func TestIntegrationMetricsParse(t *testing.T) {
	for _, c := range []struct {
		preset string
		prefix string // of the engines' series
	}{{"sglang-pd", "sglang:"}, {"sglang", "sglang:"}, {"vllm", "vllm:"}} {
		t.Run(c.preset, func(t *testing.T) {
			t.Parallel()
			cfg, err := serving.Preset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Model.OutputTokens, cfg.Model.ReasoningTokens = outputTokens, reasoningTokens
			servers := serve(t, cfg, nil)
			for _, name := range []string{callStream, callWhole, callTool, callOtherModel, callNegative} {
				runGoOpenAI(t, servers.url, name, bound)
			}
			for name, url := range servers.metrics() {
				families := readMetrics(t, url+"/metrics")
				wantEngine, wantRouter := name != "router", name == "router" || name == "all"
				if families[c.prefix] > 0 != wantEngine || families["smg_"] > 0 != wantRouter {
					t.Errorf("seed %d: %s: families by prefix %v; wanted %s: %t, smg_: %t", seed, name, families, c.prefix, wantEngine, wantRouter)
				}
			}
		})
	}
}

// readMetrics reads what is at a URL and counts the families by the prefix of their names.
func readMetrics(t *testing.T, url string) map[string]int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", url, resp.StatusCode, err)
	}
	if format := expfmt.ResponseFormat(resp.Header); format.FormatType() != expfmt.TypeTextPlain {
		t.Errorf("%s: content type %q", url, resp.Header.Get("Content-Type"))
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		t.Errorf("%s: the last line has no end", url)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	counts := map[string]int{}
	for name, family := range families {
		if len(family.Metric) == 0 || family.GetHelp() == "" {
			t.Errorf("%s: %s has %d series and help %q", url, name, len(family.Metric), family.GetHelp())
		}
		prefix, _, ok := strings.Cut(name, ":")
		if ok {
			prefix += ":"
		} else {
			prefix, _, _ = strings.Cut(name, "_")
			prefix += "_"
		}
		counts[prefix]++
	}
	return counts
}
