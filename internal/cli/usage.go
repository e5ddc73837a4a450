package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// usageError marks a wrong command line: what is wrong, and which help to read.
func usageError(command string, format string, args ...any) error {
	return sandbox.Errorf(sandbox.Invalid, format, args...).WithHint("see '%s --help'", command)
}

// isUsage reports whether err is already one that we made.
func isUsage(err error) bool {
	var e *sandbox.Error
	return errors.As(err, &e)
}

// flagError makes one line of what the flag library says.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if isUsage(err) {
		return err
	}
	return usageError(cmd.CommandPath(), "%s", text)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd.CommandPath(), "%s takes no argument, got %q", cmd.Name(), args[0])
	}
	return nil
}

func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usageError(cmd.CommandPath(), "%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}

func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError(cmd.CommandPath(), "%s takes the name of a sandbox", cmd.Name())
	}
	return nil
}

func atLeastOne(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError(cmd.CommandPath(), "%s takes the name of a sandbox", cmd.Name())
	}
	return nil
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError(cmd.CommandPath(), "%s takes one name, got %q", cmd.Name(), args[1])
	}
	return nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
