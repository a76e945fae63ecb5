package live

import (
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric is one of the metrics that /metrics has of a run. Those of the Go runtime and of the process come on top.
type Metric struct {
	Name   string
	Type   string // counter, gauge or histogram
	Unit   string // in words; empty: it is a mark that is always 1
	Labels []string
	Help   string
	OTel   string // name by OpenTelemetry's conventions for generative AI; empty: they have none
}

// Labels with an OpenTelemetry name, as the mapping to Prometheus spells it.
const (
	labelOperation = "gen_ai_operation_name"
	labelModel     = "gen_ai_request_model"
	labelTokenType = "gen_ai_token_type"
	labelError     = "error_type"
)

// Names of the metrics that the collector makes, each once.
const (
	nameOperation  = "gen_ai_client_operation_duration_seconds"
	nameFirstChunk = "gen_ai_client_operation_time_to_first_chunk_seconds"
	namePerChunk   = "gen_ai_client_operation_time_per_output_chunk_seconds"
	nameTokenUsage = "gen_ai_client_token_usage"
	nameAgent      = "gen_ai_invoke_agent_duration_seconds"
	nameTool       = "gen_ai_execute_tool_duration_seconds"

	nameRun           = "wedge_run_info"
	nameClock         = "wedge_run_clock_seconds"
	nameAgents        = "wedge_agents"
	nameTasksBegun    = "wedge_tasks_begun_total"
	nameTasksEnded    = "wedge_tasks_ended_total"
	nameSteps         = "wedge_steps_total"
	nameCalls         = "wedge_calls_in_flight"
	nameCallsEnded    = "wedge_calls_ended_total"
	nameOldest        = "wedge_oldest_call_age_seconds"
	nameAttempts      = "wedge_attempts_total"
	nameAttemptsEnded = "wedge_attempts_ended_total"
	nameSent          = "wedge_attempts_in_flight"
	nameTimeouts      = "wedge_timeouts_total"
	nameErrorAnswers  = "wedge_error_answers_total"
	nameBackoffs      = "wedge_backoffs_total"
	nameTokens        = "wedge_tokens_received_total"
	nameTokensWasted  = "wedge_tokens_wasted_total"
	nameSlotsUsed     = "wedge_slots_in_use"
	nameSlotsMax      = "wedge_slots_limit"
	nameSlotsWaiting  = "wedge_slots_waiting_calls"
	nameRateLimit     = "wedge_rate_limit_per_second"
	nameRateLeft      = "wedge_rate_left"
	nameWait          = "wedge_pacer_wait_duration_seconds"
	nameStage         = "wedge_stage_duration_seconds_total"
	nameIdle          = "wedge_step_age_seconds"
	nameStalls        = "wedge_stalls_total"
	nameStalled       = "wedge_stall_duration_seconds_total"
	nameStallOpen     = "wedge_stalls_open"
	nameLastStall     = "wedge_last_stall_info"
	nameGauge         = "wedge_server_reading"
	nameGaugesAge     = "wedge_server_readings_age_seconds"
)

// Metrics returns the metrics of a run, in the order in which people read of them. All times are on the run's own
// clock: of a virtual run, simulated seconds.
func Metrics() []Metric {
	return slices.Concat(conventional(), ofAgents(), ofCalls(), ofStalls())
}

// conventional are those that have a name elsewhere.
func conventional() []Metric {
	const s, h = "seconds", "histogram"
	return []Metric{
		{nameOperation, h, s, []string{labelOperation, labelModel, labelError}, "Calls, from when the agent wanted the answer to its end, waits and attempts included.", "gen_ai.client.operation.duration"},
		{nameFirstChunk, h, s, []string{labelOperation, labelModel}, "Attempts, from being sent to their first output.", "gen_ai.client.operation.time_to_first_chunk"},
		{namePerChunk, h, s, []string{labelOperation, labelModel}, "Mean time between two tokens of an attempt, after the first.", "gen_ai.client.operation.time_per_output_chunk"},
		{nameTokenUsage, h, "tokens", []string{labelOperation, labelModel, labelTokenType}, "Tokens of a call, of its prompt (estimated) and of its answer.", "gen_ai.client.token.usage"},
		{nameAgent, h, s, []string{labelOperation, labelError}, "Tasks of agents, from when they were there to their end.", "gen_ai.invoke_agent.duration"},
		{nameTool, h, s, []string{labelOperation}, "Calls of tools, waits for locks included.", "gen_ai.execute_tool.duration"},
	}
}

func ofAgents() []Metric {
	return []Metric{
		{nameRun, "gauge", "", []string{"scenario", "seed", "clock", "command", "version"}, "Which run it is; always 1.", ""},
		{nameClock, "gauge", "seconds", nil, "The run's own clock, since its start.", ""},
		{nameAgents, "gauge", "agents", []string{"stage"}, "Agents at work, sub-agents included, by what they are at.", ""},
		{nameTasksBegun, "counter", "tasks", nil, "Tasks that agents have begun.", ""},
		{nameTasksEnded, "counter", "tasks", []string{"outcome"}, "Tasks that have ended: done or failed.", ""},
		{nameSteps, "counter", "steps", nil, "Steps that agents have finished.", ""},
	}
}

func ofCalls() []Metric {
	return []Metric{
		{nameCalls, "gauge", "calls", []string{"stage"}, "Calls in flight, by their stage.", ""},
		{nameCallsEnded, "counter", "calls", []string{"outcome"}, "Calls that have ended: ok or failed.", ""},
		{nameOldest, "gauge", "seconds", nil, "Time since the oldest call in flight began; 0 if there is none.", ""},
		{nameAttempts, "counter", "attempts", nil, "Attempts of calls, begun.", ""},
		{nameAttemptsEnded, "counter", "attempts", []string{"outcome"}, "Attempts that have ended, by how.", ""},
		{nameSent, "gauge", "attempts", nil, "Attempts that are at the servers, by the agents' count.", ""},
		{nameTimeouts, "counter", "attempts", []string{"limit"}, "Attempts that a time limit has ended, by the limit.", ""},
		{nameErrorAnswers, "counter", "attempts", []string{"status"}, "Attempts that were answered with an error, by HTTP status.", ""},
		{nameBackoffs, "counter", "waits", nil, "Waits before another attempt, begun.", ""},
		{nameTokens, "counter", "tokens", nil, "Output tokens of attempts that have ended.", ""},
		{nameTokensWasted, "counter", "tokens", nil, "Those of them that are part of no answer.", ""},
		{nameSlotsUsed, "gauge", "slots", nil, "The pacer's slots in use.", ""},
		{nameSlotsMax, "gauge", "slots", nil, "The pacer's slots; 0: no limit.", ""},
		{nameSlotsWaiting, "gauge", "calls", nil, "Calls that wait for a slot.", ""},
		{nameRateLimit, "gauge", "per second", []string{"of"}, "The pacer's rate limit, of requests or tokens.", ""},
		{nameRateLeft, "gauge", "requests or tokens", []string{"of"}, "What the rate limit lets through at once; below 0: promised to attempts that wait.", ""},
		{nameWait, "histogram", "seconds", []string{"for"}, "Waits of calls in the pacer: for a slot, a rate limit or a backoff.", ""},
		{nameStage, "counter", "seconds", []string{"stage"}, "Time of calls in each stage, added up over calls.", ""},
	}
}

func ofStalls() []Metric {
	return []Metric{
		{nameIdle, "gauge", "seconds", nil, "Time since an agent last finished a step, while there is work.", ""},
		{nameStalls, "counter", "stalls", nil, "Stalls that the watchdog has raised.", ""},
		{nameStalled, "counter", "seconds", nil, "Time in stalls, from the last step before each.", ""},
		{nameStallOpen, "gauge", "stalls", nil, "1 while there is a stall, else 0.", ""},
		{nameLastStall, "gauge", "", []string{"episode", "outcome", "layer", "cause"}, "The verdict of the last stall; always 1.", ""},
		{nameGauge, "gauge", "as the server has it", []string{"gauge"}, "Gauges of the servers, as they were read last.", ""},
		{nameGaugesAge, "gauge", "seconds", nil, "Time since the gauges of the servers were read.", ""},
	}
}

// kindOf is the type of values that a metric's name stands for.
func kindOf(m *Metric) prometheus.ValueType {
	if m.Type == "counter" {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

// describe makes the descriptions of the metrics by name. It panics if two have the same one, or one has no type.
func describe() map[string]described {
	out := map[string]described{}
	for _, m := range Metrics() {
		if _, twice := out[m.Name]; twice || !slices.Contains([]string{"counter", "gauge", "histogram"}, m.Type) {
			panic(fmt.Sprintf("live: metric %s: type %q, or there twice", m.Name, m.Type))
		}
		help := m.Help
		if m.OTel != "" {
			help += " OpenTelemetry: " + m.OTel + "."
		}
		out[m.Name] = described{prometheus.NewDesc(m.Name, help, m.Labels, nil), kindOf(&m)}
	}
	return out
}

// described is a metric as the library wants it.
type described struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}
