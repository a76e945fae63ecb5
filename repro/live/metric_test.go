package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exposition is what /metrics says of its metrics, by name without the suffixes of histograms.
type exposition struct{ help, kinds map[string]string }

func scrape(t *testing.T, s *Server) (exposition, string) {
	t.Helper()
	resp, text := get(t, s, "/metrics")
	if resp.StatusCode != 200 {
		t.Fatalf("status %d: %s", resp.StatusCode, text)
	}
	e := exposition{map[string]string{}, map[string]string{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			e.help[name] = help
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			e.kinds[name] = kind
		}
	}
	return e, text
}

// everything returns a server of a run that has all there is.
func everything(t *testing.T) *Server {
	return serve(t, Options{View: viewOf(t, stalled()), Cumulative: counted})
}

// TestMetrics shows that what the table of metrics says is what is exposed: each with a text, its type, and a unit.
func TestMetrics(t *testing.T) {
	got, text := scrape(t, everything(t))
	var ours []string
	for _, m := range Metrics() {
		ours = append(ours, m.Name)
		if got.kinds[m.Name] != m.Type {
			t.Errorf("%s: type %q, want %q", m.Name, got.kinds[m.Name], m.Type)
		}
		if !strings.HasPrefix(got.help[m.Name], m.Help) || m.Help == "" {
			t.Errorf("%s: help %q, want %q", m.Name, got.help[m.Name], m.Help)
		}
		for _, label := range m.Labels {
			if !regexp.MustCompile(`(?m)^` + m.Name + `(_bucket)?\{([^}]*,)?` + label + `="`).MatchString(text) {
				t.Errorf("%s has no label %s", m.Name, label)
			}
		}
	}
	for name := range got.kinds {
		if !slices.Contains(ours, name) && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "promhttp_") {
			t.Errorf("%s is exposed and not in the table", name)
		}
		if got.help[name] == "" {
			t.Errorf("%s has no help", name)
		}
	}
	for _, want := range []string{"go_goroutines", "process_resident_memory_bytes", "process_open_fds"} {
		if got.kinds[want] == "" {
			t.Errorf("%s is not there", want)
		}
	}
}

// TestUnits shows that each name ends in its unit, as Prometheus wants it.
func TestUnits(t *testing.T) {
	for _, m := range Metrics() {
		suffix := ""
		switch {
		case m.Type == "counter":
			suffix = "_total"
		case m.Unit == "":
			suffix = "_info"
		case m.Unit == "seconds":
			suffix = "_seconds"
		case m.Unit == "per second":
			suffix = "_per_second"
		}
		if !strings.HasSuffix(m.Name, suffix) {
			t.Errorf("%s: want it to end in %s", m.Name, suffix)
		}
		if m.Type == "counter" && m.Unit == "seconds" && !strings.HasSuffix(m.Name, "_seconds_total") {
			t.Errorf("%s: want it to end in _seconds_total", m.Name)
		}
		if m.OTel != "" {
			// The mapping: dots become underscores, the unit is added, and that of a count in braces is not.
			want := strings.ReplaceAll(m.OTel, ".", "_")
			if m.Unit == "seconds" {
				want += "_seconds"
			}
			if m.Name != want {
				t.Errorf("%s: %s is mapped to %s", m.Name, m.OTel, want)
			}
		} else if !strings.HasPrefix(m.Name, "wedge_") {
			t.Errorf("%s: neither a convention's nor wedge's own", m.Name)
		}
	}
}

// TestValues shows where values come from: what is counted if there is a meter, else what the view knows.
func TestValues(t *testing.T) {
	_, with := scrape(t, everything(t))
	_, without := scrape(t, serve(t, Options{View: viewOf(t, stalled())}))
	for _, line := range []string{
		`gen_ai_client_operation_duration_seconds_bucket{error_type="",gen_ai_operation_name="chat",gen_ai_request_model="m",le="2"} 4`,
		`gen_ai_client_operation_duration_seconds_count{error_type="_OTHER",gen_ai_operation_name="chat",gen_ai_request_model="m"} 6`,
		`wedge_attempts_ended_total{outcome="timeout"} 9`,
		`wedge_timeouts_total{limit="idle"} 9`,
		`wedge_stage_duration_seconds_total{stage="slot"} 12.5`,
		`wedge_stall_duration_seconds_total 210.5`,
	} {
		if !strings.Contains(with, line+"\n") {
			t.Errorf("with a meter: no line %s", line)
		}
	}
	for _, line := range []string{
		`wedge_agents{stage="slot"} 18`, `wedge_calls_in_flight{stage="stream"} 3`, `wedge_calls_ended_total{outcome="ok"} 204`,
		`wedge_oldest_call_age_seconds 214.5`, `wedge_slots_in_use 8`, `wedge_rate_left{of="requests"} 2.5`, `wedge_stalls_open 1`,
		`wedge_last_stall_info{cause="silent_stream",episode="2",layer="server",outcome="wedged"} 1`,
		`wedge_server_reading{gauge="router_in_flight"} 8`, `wedge_run_clock_seconds 754.5`,
	} {
		if !strings.Contains(with, line+"\n") || !strings.Contains(without, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(without, "gen_ai_") {
		t.Error("histograms without a meter")
	}
	if !strings.Contains(with, `wedge_run_info{clock="wall",command="run",scenario="<script>alert(\"x\")</script>",seed="3",version=""} 1`) {
		t.Error("the run's names are not as they were given")
	}
}

// table returns the metrics as a table in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| metric | type | unit | labels | what it is |\n|---|---|---|---|---|\n")
	for _, m := range Metrics() {
		labels := make([]string, len(m.Labels))
		for i, l := range m.Labels {
			labels[i] = "`" + l + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Type, m.Unit, strings.Join(labels, " "), m.Help)
	}
	return b.String()
}

// TestTable shows that the table of README.md is that of the metrics.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := table(); !strings.Contains(string(text), want) {
		t.Errorf("README.md has another table of metrics than this:\n%s", want)
	}
}

// dashboard is what a test wants to know of a dashboard of Grafana.
type dashboard struct {
	Title, UID string
	Panels     []struct {
		Title, Type string
		Targets     []struct{ Expr string }
		FieldConfig struct{ Defaults struct{ Unit string } }
	}
	Templating struct {
		List []struct {
			Name, Definition string
			Type             string
		}
	}
}

// TestDashboard shows that all that the dashboard asks for is exposed, and that each of its panels has a unit.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("grafana/wedge.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	got, _ := scrape(t, everything(t))
	asked := map[string]bool{}
	name := regexp.MustCompile(`\b(?:wedge|gen_ai|go|process)_[a-z0-9_]+\b`)
	labels := regexp.MustCompile(`\{[^}]*\}|by ?\([^)]*\)`)
	check := func(where, expr string) {
		t.Helper()
		names := name.FindAllString(labels.ReplaceAllString(expr, ""), -1)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing: %s", where, expr)
		}
		for _, n := range names {
			base := n
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if cut, ok := strings.CutSuffix(n, suffix); ok && got.kinds[cut] == "histogram" {
					base = cut
				}
			}
			if got.kinds[base] == "" || got.kinds[base] == "histogram" && base == n {
				t.Errorf("%s asks for %s, which is not exposed", where, n)
			}
			asked[base] = true
		}
	}
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		if p.FieldConfig.Defaults.Unit == "" || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q: unit %q, %d targets", p.Title, p.FieldConfig.Defaults.Unit, len(p.Targets))
		}
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
			if e := target.Expr; strings.Contains(e, "rate(") && !strings.Contains(e, "histogram_quantile") && !strings.Contains(e, "deriv("+nameClock+"{") {
				t.Errorf("%s counts by the machine's clock, want the run's: %s", p.Title, e)
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			check("variable "+v.Name, v.Definition)
		}
	}
	beside := []string{nameBackoffs, nameTasksBegun, nameGaugesAge, nameRateLimit} // others say as much
	for _, m := range Metrics() {
		if !asked[m.Name] && !slices.Contains(beside, m.Name) {
			t.Errorf("no panel shows %s", m.Name)
		}
	}
	if d.UID == "" || d.Title == "" {
		t.Error("no uid or title")
	}
}
