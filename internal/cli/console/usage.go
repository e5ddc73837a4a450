package console

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// UsageError marks a wrong command line: what is wrong, and which help to read.
func UsageError(command string, format string, args ...any) error {
	return sandbox.Errorf(sandbox.Invalid, format, args...).WithHint("see '%s --help'", command)
}

// isUsage reports whether err is already one that we made.
func isUsage(err error) bool {
	var e *sandbox.Error
	return errors.As(err, &e)
}

// FlagError makes one line of what the flag library says.
func FlagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if isUsage(err) {
		return err
	}
	return UsageError(cmd.CommandPath(), "%s", text)
}

// NoArgs takes no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError(cmd.CommandPath(), "%s takes no argument, got %q", cmd.Name(), args[0])
	}
	return nil
}

// ArgsBetween takes from least to most arguments. what describes them in the error.
func ArgsBetween(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return UsageError(cmd.CommandPath(), "%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}

// OneSandbox takes the name of a sandbox.
func OneSandbox(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return UsageError(cmd.CommandPath(), "%s takes the name of a sandbox", cmd.Name())
	}
	return nil
}

// AtMostOneName takes no argument or one name.
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
