//go:build linux

// Package fuzz_test runs random programs of file system calls in sandboxes, and checks on the host that none of them changes a
// file outside, or creates a protected name or a repository. The same programs break each of these rules in a sandbox without
// protections, so the checks can fail.
//
// A normal run makes the programs of some fixed seeds. With AGENT_SANDBOX_FUZZ=1h it runs random programs in each kind of
// sandbox for that time. A failure prints the shortest program that still fails and how to repeat it.
package fuzz_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := 1
	err := fixture.setUp()
	if err == nil {
		code = m.Run()
	}
	if fixture.base != "" {
		if remaining := removeTree(fixture.base); err == nil {
			err = remaining
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		code = 1
	}
	os.Exit(code)
}

// fixture has the fixtures that all tests share.
var fixture fixtures //nolint:gochecknoglobals // as testing.M has no other place

type fixtures struct {
	base    string // outside /tmp, since a sandbox has its own
	tools   string // the directory of the programs
	command string // agent-sandbox
	runner  string // makes the calls of a program
}

func (f *fixtures) setUp() error {
	parent := "/srv"
	if os.Getuid() != 0 {
		var err error
		if parent, err = os.UserHomeDir(); err != nil {
			return err
		}
	}
	var err error
	if f.base, err = os.MkdirTemp(parent, "agent-sandbox-fuzz-"); err != nil {
		return err
	}
	if err := os.Chmod(f.base, 0o755); err != nil {
		return err
	}
	f.tools = filepath.Join(f.base, "tools")
	if err := programs.Install(context.Background(), f.tools, programs.Command, programs.CommandWithPods); err != nil {
		return err
	}
	f.command, f.runner = filepath.Join(f.tools, programs.Command), filepath.Join(f.tools, "runner")
	return programs.Build(context.Background(), "runner", f.runner)
}
