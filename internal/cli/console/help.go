package console

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// PrintHelp prints the help of a subcommand: the same sections in the same order for all.
func PrintHelp(out *Output, cmd *cobra.Command) {
	fmt.Fprintf(out, "%s - %s\n\nUSAGE\n  %s\n", cmd.CommandPath(), cmd.Short, usageLine(cmd))
	if cmd.Long != "" {
		fmt.Fprintf(out, "\n%s\n", cmd.Long)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(out, "\nCOMMANDS\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(out, "  %-17s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(out, "\nEXAMPLES\n  %s\n", strings.ReplaceAll(cmd.Example, "\n", "\n  "))
	}
	fmt.Fprintf(out, "\nFLAGS\n")
	printFlags(out, cmd.LocalFlags())
	fmt.Fprintf(out, "\nEXIT STATUS\n%s\n", cmd.Annotations["exit"])
}

// printFlags prints a line for each flag. The usage text names the argument in
// backquotes, as package flag has it.
func printFlags(out *Output, fs *pflag.FlagSet) {
	const column = 30
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		arg, _ := pflag.UnquoteUsage(f)
		usage := strings.Replace(f.Usage, "`"+arg+"`", arg, 1)
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		switch {
		case f.Value.Type() == "bool":
		case f.NoOptDefVal != "":
			name += "[=" + arg + "]"
		default:
			name += " " + arg
		}
		fmt.Fprintf(out, "%-*s  %s\n", column, name, strings.ReplaceAll(usage, "\n", "\n"+strings.Repeat(" ", column+2)))
	})
}

// usageLine returns the synopsis with the full name of the command.
func usageLine(cmd *cobra.Command) string {
	return cmd.Parent().CommandPath() + " " + cmd.Use
}

// Describe adds the EXIT STATUS section to a command's help.
func Describe(cmd *cobra.Command, exit string) *cobra.Command {
	cmd.Annotations = map[string]string{"exit": exit}
	cmd.Flags().BoolP("help", "h", false, "print this help")
	return cmd
}
