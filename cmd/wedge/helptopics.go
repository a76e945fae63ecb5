package main

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/strict"
	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
	"example.com/wedge/repro/threshold"
)

// topicFiles are the help topics. Of each file the first line says in short what it is about. Lines
// "- NAME: TEXT" are lists, in which the tests hold the names against the code; {{WORD}} is a list that
// the code has the text of too.
//
//go:embed topics/*.txt
var topicFiles embed.FS

// topic is something to read about that is no command.
type topic struct {
	name  string
	short string // one line
	raw   string // as it stands in its file
}

// text is what there is to know, with lists in lines "- NAME: TEXT".
func (t *topic) text() string { return filledIn(t.raw) }

// topics returns the help topics by name.
func topics() []topic {
	names, err := fs.Glob(topicFiles, "topics/*.txt")
	if err != nil {
		panic(err) // the pattern is right
	}
	var out []topic
	for _, name := range names {
		text, err := topicFiles.ReadFile(name)
		if err != nil {
			panic(err) // it was listed just now
		}
		short, long, _ := strings.Cut(string(text), "\n")
		out = append(out, topic{strings.TrimSuffix(path.Base(name), ".txt"), short, strings.TrimSpace(long)})
	}
	return out
}

// newTopics returns the topics as commands that do nothing. Their texts are made when somebody asks,
// since some of it is read from many files, and every command would wait for that.
func newTopics() []*cobra.Command {
	var out []*cobra.Command
	for _, t := range topics() {
		c := &cobra.Command{Use: t.name, Short: t.short}
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), topicText(t.text())) })
		out = append(out, c)
	}
	return out
}

// filledIn puts the code's lists into a topic.
func filledIn(text string) string {
	for word, list := range map[string]func() []string{
		"presets":    presetEntries,
		"places":     placeEntries,
		"metrics":    func() []string { return thresholdEntries(threshold.KindMetric) },
		"aggregates": func() []string { return thresholdEntries(threshold.KindAggregate) },
		"units":      func() []string { return thresholdEntries(threshold.KindUnit) },
	} {
		if mark := "{{" + word + "}}"; strings.Contains(text, mark) {
			text = strings.ReplaceAll(text, mark, strings.Join(list(), "\n"))
		}
	}
	return text
}

func entry(name, text string) string { return "- " + name + ": " + oneLine(text) }

func presetEntries() []string {
	var out []string
	for _, name := range preset.Names() {
		if p, err := preset.Get(name); err == nil {
			out = append(out, entry(name, firstSentence(p.About)))
		}
	}
	return out
}

// placeEntries are the places of faults, each with the kinds that there are.
func placeEntries() []string {
	var out []string
	for _, line := range fault.Kinds() {
		place, kinds, _ := strings.Cut(line, ":")
		out = append(out, entry(place, kinds))
	}
	return out
}

func thresholdEntries(kind threshold.Kind) []string {
	var out []string
	for _, n := range threshold.Names() {
		if n.Kind != kind {
			continue
		}
		text := n.Meaning
		if n.Aggs != "" {
			text += " (" + n.Aggs + ")"
		}
		out = append(out, entry(n.Name, text))
	}
	return out
}

// topicText sets the lists of a topic as tables.
func topicText(text string) string {
	const (
		indent     = "  "
		columnsMax = 24
	)
	var out strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		names, texts := entries(lines[i:])
		if len(names) == 0 {
			out.WriteString(lines[i] + "\n")
			i++
			continue
		}
		i += len(names)
		width := 0
		for _, name := range names {
			if len(name) <= columnsMax {
				width = max(width, len(name))
			}
		}
		column := strings.Repeat(" ", len(indent)+width+2)
		for n, name := range names {
			body := style{}.wrap(column, texts[n])
			if len(name) > width {
				out.WriteString(indent + name + "\n" + body)
				continue
			}
			out.WriteString(indent + name + strings.Repeat(" ", width-len(name)) + "  " + strings.TrimLeft(body, " "))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// entries returns the list that the lines begin with.
func entries(lines []string) (names, texts []string) {
	for _, line := range lines {
		name, text, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		if !ok || !strings.HasPrefix(line, "- ") {
			break
		}
		names, texts = append(names, name), append(texts, text)
	}
	return names, texts
}

// newHelp is the command help, which knows topics besides commands, and refuses what is neither.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command or a topic",
		Long:  "help prints the help of a command, or what there is to know about a topic. Without either it lists both.",
		Example: `  wedge help soak
  wedge help faults`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 && !about.HasParent() {
				return &repro.InputError{Source: "help", Msg: "found " + quote(strings.Join(args, " ")) + strict.Suggest(strings.Join(args, " "), helpNames(cmd.Root()))}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// helpNames are the commands and topics that there is help about.
func helpNames(root *cobra.Command) []string {
	var out []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			out = append(out, c.Name())
		}
	}
	return out
}

func completeHelp(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	at, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, c := range at.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return beginning(out, begun), cobra.ShellCompDirectiveNoFileComp
}
