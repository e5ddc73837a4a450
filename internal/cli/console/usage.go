package console

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// UsageError reports a wrong command line, with the help to read.
func UsageError(command string, format string, args ...any) error {
	return sandbox.Errorf(sandbox.Invalid, format, args...).WithHint("see '%s --help'", command)
}

// isUsage reports whether err is already a UsageError.
func isUsage(err error) bool {
	var e *sandbox.Error
	return errors.As(err, &e)
}

// FlagError formats an error of the flag library as one line. An unknown flag of another program names what does the same here;
// one that is spelled like one of cmd names that one.
func FlagError(cmd *cobra.Command, err error) error {
	if isUsage(err) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && cmd.Flags().Lookup("cwd") != nil { // a command that makes sandboxes
		if advice := adviseFlag(cmd.Flags(), unknown.GetSpecifiedName()); advice != "" {
			return sandbox.Errorf(sandbox.Invalid, "%w", err).WithHint("%s; see '%s --help'", advice, cmd.CommandPath())
		}
	}
	return OwnFlagError(cmd, err)
}

// OwnFlagError is FlagError for commands that pass flags on to another program, which are not meant for agent-sandbox.
func OwnFlagError(cmd *cobra.Command, err error) error {
	if isUsage(err) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := jsonc.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return sandbox.Errorf(sandbox.Invalid, "%w", err).WithHint("did you mean '--%s'? See '%s --help'", near, cmd.CommandPath())
		}
	}
	return UsageError(cmd.CommandPath(), "%s", err.Error())
}

// NoArgs accepts no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError(cmd.CommandPath(), "%s takes no argument, got %q", cmd.Name(), args[0])
	}
	return nil
}

// ArgsBetween accepts from least to most arguments. what describes them in the error.
func ArgsBetween(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return UsageError(cmd.CommandPath(), "%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}

// OneSandbox accepts the name of a sandbox.
func OneSandbox(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return UsageError(cmd.CommandPath(), "%s takes the name of a sandbox", cmd.Name())
	}
	return nil
}

// AtMostOneName accepts no argument or one name.
func AtMostOneName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return UsageError(cmd.CommandPath(), "%s takes one name, got %q", cmd.Name(), args[1])
	}
	return nil
}

// First returns the first argument, or "".
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
