package repro

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"example.com/wedge/agents"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/strict"
	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro/serving"
)

// takePresets takes the servers, the workflow and the policy, with what belongs to it of the pacer, that the
// document names in servers.preset, workflow.profile and policy.preset, so that whatever else it says of them
// changes those. A name that is unknown, or none, is found by those who read all of it.
func (s *Scenario) takePresets(doc *strict.Document) {
	var head struct {
		Servers struct {
			Preset string `yaml:"preset"`
		} `yaml:"servers"`
		Workflow struct {
			Profile string `yaml:"profile"`
		} `yaml:"workflow"`
		Policy struct {
			Preset string `yaml:"preset"`
		} `yaml:"policy"`
	}
	if doc.Peek(&head) != nil {
		return
	}
	if servers, err := serving.Preset(head.Servers.Preset); err == nil {
		s.Servers = servers
	}
	if workflow, err := agents.Profile(head.Workflow.Profile); err == nil {
		s.Workflow = workflow
	}
	if p, err := preset.Get(head.Policy.Preset); err == nil {
		if c, err := p.Pacer(s.Pacer); err == nil { // which it is: the presets' own tests see to that
			s.Policy, s.Pacer = p.Policy, c
		}
	}
}

// validPreset says what is wrong with the name of a preset policy; none is fine.
func validPreset(name string) error {
	if name == "" || slices.Contains(preset.Names(), name) {
		return nil
	}
	return fmt.Errorf("preset: found %q%s", name, strict.Suggest(name, preset.Names()))
}

// AddFaults adds the faults in a YAML text, one or a list of them, or in a file of that name. Validate
// afterwards.
func (s *Scenario) AddFaults(text string) error {
	source := "--fault " + text
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return &InputError{Source: "--fault", Msg: "found nothing, want a fault such as '{id: busy, where: router, what: status, status: 429}', or a file"}
	}
	if !strings.ContainsAny(trimmed, "{[:\n") || fileExists(trimmed) {
		content, err := strict.ReadFile(trimmed)
		if err != nil {
			return &InputError{Source: source, Msg: err.Error()}
		}
		source, trimmed = trimmed, string(bytes.TrimSpace(content))
	}
	var added struct {
		Faults []fault.Fault `yaml:"faults"`
	}
	if !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "-") {
		trimmed = "- " + strings.ReplaceAll(trimmed, "\n", "\n  ") // one fault
	}
	doc, err := strict.Parse(source, []byte("faults:\n"+trimmed+"\n"))
	if err == nil {
		err = doc.Decode(&added, strict.Plain)
	}
	if err != nil {
		var input *InputError
		if errors.As(err, &input) {
			input.Line = max(0, input.Line-1) // the line that was put before it
			if source != strings.TrimSpace(text) {
				input.Line = 0
			}
		}
		return err
	}
	for _, f := range added.Faults {
		s.sets = append(s.sets, setting{fmt.Sprintf("faults[%d]", len(s.Faults)), source})
		s.Faults = append(s.Faults, f)
	}
	return nil
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
