package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
)

func newRepro() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "repro [NAME|FILE]",
		Short: "Reproduce a hang from the catalogue or a scenario file, or list the catalogue",
		Long: `Without a name, repro lists the catalogue of hangs and of controls, which must not be called one.
With a name, or a scenario file of your own, it runs that, prints the verdict, compares it with the one that the
scenario expects, and writes the evidence. What ends in .yaml or .yml, or has a slash in it, is a file.

Exit codes: 0 the expected verdict was reproduced, 1 it was not, 2 bad input, 4 the evidence or the result could not be
written, 130 interrupted.`,
		Example: `  wedge repro starvation
  wedge repro silent-stream --set policy.idle=60s
  wedge repro starvation --clock wall --scale 60 --json
  wedge repro starvation --print > my.yaml
  wedge repro my.yaml`,
		Args: atMostOne("scenario"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return f.list(cmd)
			}
			return f.junit.around(cmd, func() error { return f.repro(cmd, args[0]) })
		},
	}
	f.register(cmd.Flags(), string(repro.ClockVirtual))
	return cmd
}

// list prints the catalogue. Flags that only make sense with a name are refused, not ignored.
func (f *runFlags) list(cmd *cobra.Command) error {
	if cmd.Flags().NFlag() > 0 {
		return &repro.InputError{Source: "repro", Msg: "found flags without a scenario, want repro NAME with them; names: " + strings.Join(repro.Names(), ", ")}
	}
	return printCatalogue(cmd.OutOrStdout())
}

func (f *runFlags) repro(cmd *cobra.Command, name string) error {
	s, err := scenarioOf(name)
	if err != nil {
		return err
	}
	if err := f.apply(cmd, s); err != nil {
		return err
	}
	if f.print {
		return printScenario(cmd.OutOrStdout(), s)
	}
	o, err := f.options(cmd, s, "repro "+quote(name))
	if err != nil {
		return err
	}
	r, err := f.execute(cmd, s, o)
	if r != nil {
		f.junit.result(r, true)
	}
	if err != nil {
		return err
	}
	switch {
	case r.Interrupted():
		return &exitError{code: exitInterrupted}
	case r.Verdict.Expected != nil && !r.Verdict.Reproduced:
		return &exitError{code: exitMismatch}
	}
	return nil
}

// scenarioOf reads a scenario file, or looks a name up in the catalogue.
func scenarioOf(name string) (*repro.Scenario, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" || strings.ContainsRune(name, filepath.Separator) {
		return repro.ReadFile(name)
	}
	return repro.Lookup(name)
}

func printCatalogue(w io.Writer) error {
	p := &page{style: styleOf(w)}
	p.line("%s", p.bold("Hangs"))
	if err := p.scenarios(repro.Names(), func(s *repro.Scenario) bool { return !s.Control() }); err != nil {
		return err
	}
	p.section("Controls, which must not be called a hang")
	if err := p.scenarios(repro.Names(), (*repro.Scenario).Control); err != nil {
		return err
	}
	p.section("Workloads to compare policies on (wedge compare), with no verdict to expect")
	if err := p.scenarios(repro.Workloads(), func(*repro.Scenario) bool { return true }); err != nil {
		return err
	}
	p.line("\nwedge repro NAME runs one, wedge repro NAME --print shows its file, wedge repro FILE runs yours.")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// scenarios lists those of the named scenarios that are wanted, each with what it is about.
func (p *page) scenarios(names []string, wanted func(*repro.Scenario) bool) error {
	for _, name := range names {
		s, err := repro.Lookup(name)
		if err != nil {
			return err
		}
		if !wanted(s) {
			continue
		}
		const column = 22
		text := p.wrap(strings.Repeat(" ", column), firstSentence(s.About))
		if head := "  " + name; len(head) < column {
			text = fmt.Sprintf("%-*s", column, head) + strings.TrimLeft(text, " ")
		} else {
			text = head + "\n" + text
		}
		p.b.WriteString(text)
	}
	return nil
}

func firstSentence(text string) string {
	text = strings.TrimPrefix(oneLine(text), "Control. ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}
