package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page returns the manual page of a command in the language of man(7).
func page(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"agent-sandbox\" \"agent-sandbox\"\n", strings.ToUpper(pageName(cmd)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(pageName(cmd)), escape(cmd.Short))
	use := cmd.Use
	if cmd.HasParent() {
		use = cmd.Parent().CommandPath() + " " + use
	}
	section(&b, "SYNOPSIS", use)
	section(&b, "DESCRIPTION", cmd.Long)
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", escape(sub.Name()), escape(sub.Short))
			}
		}
	}
	b.WriteString(".SH OPTIONS\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { option(&b, f) })
	section(&b, "EXIT STATUS", cmd.Annotations["exit"])
	section(&b, "EXAMPLES", cmd.Example)
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", escape(pageName(cmd.Parent())))
	}
	return b.String()
}

// section writes a heading and text with its line breaks, or nothing if the text is empty.
func section(b *strings.Builder, title, text string) {
	if text != "" {
		fmt.Fprintf(b, ".SH %s\n.nf\n%s\n.fi\n", title, escape(text))
	}
}

// option writes a flag and its description. The usage text names the flag's argument in backquotes.
func option(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	arg, _ := pflag.UnquoteUsage(f)
	names := "\\fB" + escape("--"+f.Name) + "\\fR"
	if f.Shorthand != "" {
		names = "\\fB" + escape("-"+f.Shorthand) + "\\fR, " + names
	}
	switch {
	case f.Value.Type() == "bool":
	case f.NoOptDefVal != "":
		names += "[=\\fI" + escape(arg) + "\\fR]"
	default:
		names += " \\fI" + escape(arg) + "\\fR"
	}
	usage := strings.ReplaceAll(strings.Replace(f.Usage, "`"+arg+"`", arg, 1), "\n", " ")
	fmt.Fprintf(b, ".TP\n%s\n%s\n", names, escape(usage))
}

// escape prevents roff from reading text as requests: it escapes backslashes, a dot or quote at the beginning of a line, and
// hyphens, which otherwise cannot be copied as minus signs.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
