package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
)

// Sections of the manual.
const (
	sectionCommands = "1"
	sectionTopics   = "7"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write man pages of all commands and topics into a directory",
		Long: `man writes a page for each command (section 1) and each help topic (section 7). The same wedge writes the same bytes: a
page has the date of the commit that wedge was built from, or none.`,
		Example: `  wedge man man && man -l man/wedge-soak.1
  wedge man ~/.local/share/man/man1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return &repro.InputError{Source: "man", Msg: fmt.Sprintf("found %d arguments, want one directory", len(args))}
			}
			return nil
		},
		ValidArgsFunction: once(directories),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages, err := manPages(newRoot(), commitDate()) // of its own, since its texts are changed
			if err == nil {
				err = writePages(args[0], pages)
			}
			if err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d pages in %s\n", len(pages), plainText(args[0]))
			return nil
		},
	}
}

// manPage is a page with the name of its file.
type manPage struct {
	name string
	text []byte
}

// manPages makes the pages of the commands and of the topics. It changes the texts of the commands.
func manPages(root *cobra.Command, date string) ([]manPage, error) {
	pages, err := commandPages(nil, root, date)
	if err != nil {
		return nil, err
	}
	seeAlso := ".SH SEE ALSO\n\\fBwedge(1)\\fP\n"
	for _, t := range topics() {
		name := "wedge-" + t.name
		cmd := &cobra.Command{Use: name, Short: manWords(t.short), Long: topicMarkdown(t.text()), DisableFlagsInUseLine: true}
		cmd.Flags().BoolP("help", "h", false, "")
		_ = cmd.Flags().MarkHidden("help") // it was made just now
		page, err := onePage(cmd, sectionTopics, date)
		if err != nil {
			return nil, err
		}
		was, is := fmt.Sprintf("\\fB%s\\fP", name), fmt.Sprintf("\\fBwedge help %s\\fP", t.name)
		page.text = bytes.Replace(page.text, []byte(".SH SYNOPSIS\n"+was), []byte(".SH SYNOPSIS\n"+is), 1)
		page.text = append(page.text, seeAlso...)
		pages = append(pages, page)
		pages[0].text = fmt.Appendf(bytes.TrimRight(pages[0].text, "\n"), ", \\fB%s(%s)\\fP\n", name, sectionTopics)
	}
	return pages, nil
}

func commandPages(pages []manPage, cmd *cobra.Command, date string) ([]manPage, error) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.Short, cmd.Long = manWords(cmd.Short), manMarkdown(cmd.Long)
	if cmd.HasAvailableSubCommands() {
		cmd.Use, cmd.DisableFlagsInUseLine = cmd.Use+" COMMAND", true
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		f.Usage = manWords(f.Usage)
		switch {
		case f.DefValue == "[]":
			f.DefValue = ""
		case f.Value.Type() != "string": // which is quoted
			f.DefValue = manWords(f.DefValue)
		}
	})
	page, err := onePage(cmd, sectionCommands, date)
	if err != nil {
		return nil, err
	}
	pages = append(pages, page)
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if pages, err = commandPages(pages, c, date); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// tabbed is how an option, or an element of a list, comes out of cobra: a paragraph with a tab in it. It
// becomes a term with its explanation.
var tabbed = regexp.MustCompile(`(?m)^(\.PP|\.SH OPTIONS)\n(\\fB.*)\n\t`)

// roff mends what cobra makes of a page.
func roff(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("[=false]"), nil)
	text = tabbed.ReplaceAllFunc(text, func(match []byte) []byte {
		term := bytes.Replace(bytes.TrimSuffix(match, []byte("\t")), []byte(".PP\n"), []byte(".TP\n"), 1)
		return bytes.Replace(term, []byte(".SH OPTIONS\n"), []byte(".SH OPTIONS\n.TP\n"), 1)
	})
	var out bytes.Buffer
	verbatim := false
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte(".EX")):
			verbatim = true
		case bytes.HasPrefix(line, []byte(".EE")):
			verbatim = false
		case !verbatim && len(line) == 1: // the macros make the room that there is to be
			continue
		}
		out.Write(line)
	}
	return out.Bytes()
}

// onePage makes the page of a command.
func onePage(cmd *cobra.Command, section, date string) (manPage, error) {
	cmd.DisableAutoGenTag = true // it has the date of today
	var out bytes.Buffer
	var never time.Time // for a header that is replaced, as cobra knows months only
	header := &doc.GenManHeader{Section: section, Date: &never, Source: "wedge", Manual: "wedge"}
	if err := doc.GenMan(cmd, header, &out); err != nil {
		return manPage{}, fmt.Errorf("the page of %s: %w", cmd.CommandPath(), err)
	}
	text := bytes.Replace(out.Bytes(), []byte(never.Format(`"Jan 2006"`)), fmt.Appendf(nil, "%q", date), 1)
	return manPage{strings.ReplaceAll(cmd.CommandPath(), " ", "-") + "." + section, roff(text)}, nil
}

// commitDate is the day of the commit that this wedge was built from; empty if that is not known.
func commitDate() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}

// writePages makes the directory and puts the pages there, each of them whole.
func writePages(dir string, pages []manPage) error {
	const mode = 0o755
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	for _, p := range pages {
		if err := replaceFile(filepath.Join(dir, p.name), p.text); err != nil {
			return err
		}
	}
	return nil
}

// manMarkdown makes markdown of a help text: indented lines stay as they are, others are paragraphs.
func manMarkdown(text string) string {
	var out strings.Builder
	verbatim := false
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != verbatim && (indented || strings.TrimSpace(line) != "") {
			out.WriteString("\n```\n")
			if !indented {
				out.WriteString("\n")
			}
			verbatim = indented
		}
		if !verbatim {
			line = manWords(line)
		}
		out.WriteString(line)
	}
	if verbatim {
		out.WriteString("```\n")
	}
	return out.String()
}

// topicMarkdown makes markdown of a topic: its lists are set as options are.
func topicMarkdown(text string) string {
	var out, plain strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		names, texts := entries(lines[i:])
		if len(names) == 0 {
			plain.WriteString(lines[i] + "\n")
			i++
			continue
		}
		out.WriteString(manMarkdown(plain.String()) + "\n")
		plain.Reset()
		for n, name := range names {
			fmt.Fprintf(&out, "**%s**\n\t%s\n\n", manWords(name), manWords(texts[n]))
		}
		i += len(names)
	}
	out.WriteString(manMarkdown(plain.String()))
	return out.String()
}

// markdownSigns are what markdown would take for more than it is.
var markdownSigns = regexp.MustCompile("[\\\\`*_<>\\[\\]|&#~]")

// manWords makes text without markup safe for markdown.
func manWords(text string) string { return markdownSigns.ReplaceAllString(text, `\$0`) }
