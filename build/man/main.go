// Command man writes the manual pages and the completion scripts of agent-sandbox from its commands: man DIR makes DIR/man/man1
// and DIR/completion.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	if err := write(cli.Commands(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write makes the pages of a command and its subcommands, and the completion scripts, below dir.
func write(root *cobra.Command, dir string) error {
	pages, scripts := filepath.Join(dir, "man", "man1"), filepath.Join(dir, "completion")
	for _, sub := range []string{pages, scripts} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
	}
	return errors.Join(
		writePages(root, pages),
		root.GenBashCompletionFileV2(filepath.Join(scripts, "agent-sandbox"), true),
		root.GenZshCompletionFile(filepath.Join(scripts, "_agent-sandbox")),
		root.GenFishCompletionFile(filepath.Join(scripts, "agent-sandbox.fish"), true),
	)
}

func writePages(cmd *cobra.Command, dir string) error {
	err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(page(cmd)), 0o644)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			err = errors.Join(err, writePages(sub, dir))
		}
	}
	return err
}

// pageName returns the name of a command's page, such as "agent-sandbox-stage-diff".
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }
