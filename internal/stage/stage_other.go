//go:build !linux

package stage

import (
	"context"
	"io"
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Holder is the process that uses a stage.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// Use is a stage on which a command runs.
type Use struct{}

// Wrap describes how to start a program on a stage.
type Wrap struct {
	Path string
	Args []string
	Attr *syscall.SysProcAttr
}

func unsupported() error {
	return sandbox.Errorf(sandbox.Unsupported, "only Linux can stage writes")
}

// Create is Unsupported on this system.
func (s *Store) Create(_, _ string) (*Stage, error) { return nil, unsupported() }

// Open is Unsupported on this system.
func (s *Store) Open(_, _ string) (*Stage, error) { return nil, unsupported() }

// Ensure is Unsupported on this system.
func (s *Store) Ensure(_, _ string) (*Stage, error) { return nil, unsupported() }

// Sweep does nothing on this system.
func (s *Store) Sweep() {}

// List returns no stages on this system.
func (s *Store) List() ([]*Stage, error) { return nil, nil }

// Discard is Unsupported on this system.
func (s *Stage) Discard() error { return unsupported() }

// Await is Unsupported on this system.
func (s *Stage) Await(context.Context) error { return unsupported() }

// Drop is Unsupported on this system.
func (s *Stage) Drop(context.Context) error { return unsupported() }

// Holder is false on this system.
func (s *Stage) Holder() (Holder, bool) { return Holder{}, false }

// Use is Unsupported on this system.
func (s *Stage) Use([]string) (*Use, error) { return nil, unsupported() }

// IsPristine is false on this system.
func (s *Stage) IsPristine() bool { return false }

// CountLines is Unsupported on this system.
func (s *Stage) CountLines([]Change) ([]Lines, error) { return nil, unsupported() }

// Diff is Unsupported on this system.
func (s *Stage) Diff() ([]Change, error) { return nil, unsupported() }

// Hidden is Unsupported on this system.
func (s *Stage) Hidden([]Change) ([]string, error) { return nil, unsupported() }

// WritePatch is Unsupported on this system.
func (s *Stage) WritePatch(io.Writer, []Change) error { return unsupported() }

// Apply is Unsupported on this system.
func (s *Stage) Apply(ApplyOptions) (Result, error) { return Result{}, unsupported() }

// File is nil on this system.
func (u *Use) File() *os.File { return nil }

// Close does nothing on this system.
func (u *Use) Close() error { return nil }

// Command returns only guest on this system.
func (u *Use) Command(guest string) Wrap { return Wrap{Path: guest} }
