package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli"
)

func Test_Every_Command_Has_A_Page(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := cli.Commands()
	if err := write(root, dir); err != nil {
		t.Fatal(err)
	}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		text, err := os.ReadFile(filepath.Join(dir, "man", "man1", pageName(cmd)+".1"))
		if err != nil {
			t.Error(err)
		}
		for _, want := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n", ".SH EXIT STATUS\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the page of %s has no %q", cmd.CommandPath(), want)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(root)
	for _, name := range []string{"agent-sandbox", "_agent-sandbox", "agent-sandbox.fish"} {
		if info, err := os.Stat(filepath.Join(dir, "completion", name)); err != nil || info.Size() == 0 {
			t.Errorf("completion script %s: %v", name, err)
		}
	}
}

func Test_Text_Is_Not_Read_As_A_Request(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"a dot at the beginning of a line", "a\n.so /etc/passwd", "a\n\\&.so /etc/passwd"},
		{"a quote at the beginning of a line", "'exec'", "\\&'exec'"},
		{"a backslash", `\fB`, `\efB`},
		{"a hyphen", "--in", `\-\-in`},
	} {
		if got := escape(row.in); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
