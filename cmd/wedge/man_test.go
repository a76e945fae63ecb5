package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// pagesIn reads the pages of a directory by name.
func pagesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		pages[f.Name()] = readFile(t, filepath.Join(dir, f.Name()))
	}
	return pages
}

// commandsBelow are the commands that can be given, with cmd.
func commandsBelow(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			out = append(out, commandsBelow(c)...)
		}
	}
	return out
}

// TestEachCommandHasAPage: each command and topic has one, with its flags and what it says of itself,
// twice the same bytes; and there are no others.
func TestEachCommandHasAPage(t *testing.T) {
	t.Chdir(t.TempDir())
	out, errs, code := wedgeHere(t, "man", "a/b")
	again, _, _ := wedgeHere(t, "man", "c")
	pages := pagesIn(t, "a/b")
	if code != exitOK || errs != "" || !strings.HasSuffix(out, " pages in a/b\n") || !strings.HasSuffix(again, " pages in c\n") {
		t.Errorf("exit code %d, %q, %q, %q", code, errs, out, again)
	}
	if !maps.Equal(pages, pagesIn(t, "c")) {
		t.Error("pages differ the second time")
	}
	var want []string
	for _, c := range commandsBelow(newRoot()) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		want = append(want, name)
		c.InitDefaultHelpFlag()
		page := bare(pages[name])
		for flag := range strings.Lines(c.LocalFlags().FlagUsages()) {
			if m := regexp.MustCompile(`^ *(?:-\w, )?(--[a-z0-9-]+)`).FindStringSubmatch(flag); m == nil || !strings.Contains(page, m[1]) {
				t.Errorf("%s has nothing of %q", name, flag)
			}
		}
		for _, text := range []string{c.Short, c.Long, c.Example} {
			if !strings.Contains(page, bare(text)) {
				t.Errorf("%s has nothing of, or not all of\n%s", name, text)
			}
		}
	}
	for _, topic := range topics() {
		name := "wedge-" + topic.name + ".7"
		want = append(want, name)
		names, texts := entries(slices.DeleteFunc(strings.Split(topic.text(), "\n"), func(line string) bool { return !strings.HasPrefix(line, "- ") }))
		for i := range names {
			if page := bare(pages[name]); !strings.Contains(page, bare(names[i]+texts[i])) {
				t.Errorf("%s has nothing of %s: %s", name, names[i], texts[i])
			}
		}
	}
	if got := slices.Sorted(maps.Keys(pages)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("there are\n%v, want\n%v", got, want)
	}
}

// bare is a text without what roff adds: spaces, escapes, requests.
func bare(text string) string {
	text = regexp.MustCompile(`(?m)^\.(TP|PP|EX|EE|RS|RE)\b.*\n`).ReplaceAllString(text, "")
	text = strings.NewReplacer(`\fB`, "", `\fP`, "", `\fI`, "", `\&`, "", `\-`, "-", `\\`, `\`, `\e`, `\`).Replace(text)
	return strings.Join(strings.Fields(text), "")
}

// TestPagesAreMan looks for what a reader of man pages would stumble over.
func TestPagesAreMan(t *testing.T) {
	pages, err := manPages(newRoot(), "2026-01-31")
	if err != nil {
		t.Fatal(err)
	}
	macro := regexp.MustCompile(`^\.(nh|TH|SH|PP|TP|EX|EE|RS|RE|IP)\b`)
	for _, p := range pages {
		for i, line := range strings.Split(strings.TrimSuffix(string(p.text), "\n"), "\n") {
			switch {
			case strings.HasPrefix(line, ".") && !macro.MatchString(line), strings.HasPrefix(line, "'"):
				t.Errorf("%s:%d: no macro of man: %s", p.name, i+1, line)
			case strings.Contains(line, "**"), strings.Contains(line, "```"), strings.Contains(line, "\t"):
				t.Errorf("%s:%d: markdown or a tab is left: %s", p.name, i+1, line)
			case strings.HasPrefix(line, ".TH ") && !strings.Contains(line, ` "2026-01-31" `):
				t.Errorf("%s:%d: the date is not there: %s", p.name, i+1, line)
			}
		}
		for _, section := range []string{".SH NAME\nwedge", ".SH SYNOPSIS\n\\fBwedge ", ".SH DESCRIPTION\n", ".SH SEE ALSO\n\\fBwedge"} {
			if strings.Count(string(p.text), section) != 1 {
				t.Errorf("%s has no %q", p.name, section)
			}
		}
		if n := strings.Count(string(p.text), "\n.EX\n"); n != strings.Count(string(p.text), "\n.EE\n") {
			t.Errorf("%s has %d examples that begin, and others that end", p.name, n)
		}
	}
}

func TestManRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, code := range map[string]int{"man": exitUsage, "man a b": exitUsage, "man file": exitFailed} {
		if out, errs, got := wedgeHere(t, strings.Fields(args)...); got != code || out != "" || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "wedge: ") {
			t.Errorf("%s: exit code %d, %q, %q", args, got, out, errs)
		}
	}
}

func TestManMarkdown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"One *word* and stalls/* of max_attempts, <x> [y].\nMore.", "One \\*word\\* and stalls/\\* of max\\_attempts, \\<x\\> \\[y\\].\nMore.\n"},
		{"Before:\n  a *  b\n\n  c\nAfter.", "Before:\n\n```\n  a *  b\n\n  c\n\n```\n\nAfter.\n"},
		{"Before:\n\n  last", "Before:\n\n\n```\n  last\n```\n"},
	} {
		if got := manMarkdown(c.text); got != c.want {
			t.Errorf("%q becomes\n%q, want\n%q", c.text, got, c.want)
		}
	}
}
