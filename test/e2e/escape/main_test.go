//go:build linux

// Package escape_test attacks the sandbox. A case is one attempt, made inside by a
// script or by this test binary under another name, with assertions about the
// host. The control makes the same attempt without a sandbox, and the same
// assertions must find that it succeeds: a case that cannot fail proves nothing.
//
// With -update the tests write the matrix in docs/threat-model.md from the results
// of the run.
package escape_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

var (
	update   = flag.Bool("update", false, "write the matrix into docs/threat-model.md")
	controls = flag.Bool("controls", false, "make only the attempts without a sandbox")
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == attacker.Name {
		os.Exit(attacker.Main(os.Args[1:]))
	}
	flag.Parse()
	code := 1
	if testing.Short() { // what needs no program, and so nothing of this machine
		if err := flag.Set("test.run", "^Test_The_Threat_Model_Lists_All_Attempts$"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	if err := fixture.setUp(); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, "escape:", err)
	}
	if err := removeTree(fixture.base); err != nil {
		fmt.Fprintln(os.Stderr, "escape:", err)
		code = 1
	}
	os.Exit(code)
}

// fixtures holds the state that all cases share.
type fixtures struct {
	base     string // outside /tmp, since a sandbox has its own
	command  string // agent-sandbox
	attacker string // this binary
}

var fixture fixtures

// filesVariable names the directory for the files of all hosts, which is in memory in make test. Without the variable they
// are on the disk.
const filesVariable = "AGENT_SANDBOX_TEST_FILES"

func (l *fixtures) setUp() (err error) {
	parent := os.Getenv(filesVariable)
	if parent == "" {
		parent = "/srv"
		if os.Getuid() != 0 {
			if parent, err = os.UserHomeDir(); err != nil {
				return err
			}
		}
	}
	if l.base, err = os.MkdirTemp(parent, "agent-sandbox-escape-"); err != nil {
		return err
	}
	if err := os.Chmod(l.base, 0o755); err != nil {
		return err
	}
	l.command = filepath.Join(l.base, programs.Command)
	l.attacker = filepath.Join(l.base, attacker.Name)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := copyFile(self, l.attacker); err != nil {
		return err
	}
	return programs.Install(context.Background(), l.base, programs.Command, programs.CommandWithPods)
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err = io.Copy(dst, src); err != nil {
		_ = dst.Close()
		return err
	}
	return dst.Close()
}
