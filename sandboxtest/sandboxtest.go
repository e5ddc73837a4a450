// Package sandboxtest is the contract of package sandbox: the same cases for every driver of any backend. A case returns an error
// instead of calling package testing, so that a program can run the contract on any host; [Run] runs it in go test.
//
// The cases need a POSIX shell with coreutils inside the sandbox.
package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Harness connects the contract with a driver. [Local] is the harness for drivers whose sandboxes run on this host. Its methods
// must be safe for concurrent use: [Run] runs most cases in parallel.
type Harness interface {
	// Driver is the driver under test.
	Driver() sandbox.Driver
	// Dir makes an empty directory on the host; remove deletes it.
	Dir() (dir string, remove func() error, err error)
	// Spec describes a sandbox that has dir as writable workspace and start
	// directory, a PATH with a shell and coreutils, and nothing else. Sandboxes
	// with the same dir share its files.
	Spec(dir string) sandbox.Spec
	// Residue lists what the driver holds outside of its sandboxes at this moment,
	// one line each: processes, mounts, temporary files. It is the same before
	// Create and after Close.
	Residue(ctx context.Context) ([]string, error)
}

// Case is one sentence of the contract.
type Case struct {
	Name  string                                     // a sentence
	Run   func(ctx context.Context, h Harness) error // nil: it holds
	Alone bool                                       // it counts what this process holds, or time: no other case may run meanwhile
}

// Limit bounds the time of one case. It is long enough for a slow machine, and ends cases that hang.
const Limit = 5 * time.Minute

// Cases returns the whole contract, in a fixed order.
func Cases() []Case {
	return slices.Concat(commandCases(), stdioCases(), listenCases(), endCases(), fileCases(), treeCases(), policyCases(), lifeCases(), snapshotCases(), freezeCases())
}

// Run runs every case as a subtest; see RunCases. For a driver whose Check reports that it cannot start a sandbox here, Run skips
// the test, or fails it when require, a list of backend names separated by commas, has the driver's name.
func Run(t *testing.T, h Harness, require string) {
	t.Helper()
	if err := Available(t.Context(), h.Driver()); err != nil {
		if slices.Contains(strings.Split(require, ","), h.Driver().Name()) {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
	RunCases(t, h, Cases())
}

// RunCases runs cases as subtests: first those that have to be alone, then the others, as many at one time as the flag
// -parallel of go test allows. h must be safe for concurrent use.
func RunCases(t *testing.T, h Harness, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if !c.Alone {
				t.Parallel() // waits until the loop has ended
			}
			ctx, cancel := context.WithTimeout(t.Context(), Limit)
			defer cancel()
			if err := c.Run(ctx, h); err != nil {
				t.Error(err)
			}
		})
	}
}

// Available returns nil when the driver can start a sandbox on this host, and
// otherwise the reasons of its Check, each with its fix.
func Available(ctx context.Context, d sandbox.Driver) error {
	report, err := d.Check(ctx)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if report.OK() {
		return nil
	}
	var reasons []error
	for _, f := range report.Findings {
		if f.Needed && f.State == sandbox.Impossible {
			reasons = append(reasons, fmt.Errorf("%s: %s; fix: %s", f.Rule, f.Detail, f.Fix))
		}
	}
	return errors.Join(reasons...)
}

// box is a sandbox of one case.
type box struct {
	*sandbox.Sandbox
	dir string // its workspace
}

// inside makes a workspace and a sandbox over it, which edit may change first,
// and runs f in it.
func inside(ctx context.Context, h Harness, edit func(*sandbox.Spec), f func(b box) error) error {
	return withDir(h, func(dir string) error { return over(ctx, h, dir, edit, f) })
}

func withDir(h Harness, f func(dir string) error) (err error) {
	dir, remove, err := h.Dir()
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	return f(dir)
}

// over makes a sandbox over dir and runs f in it.
func over(ctx context.Context, h Harness, dir string, edit func(*sandbox.Spec), f func(b box) error) (err error) {
	spec := h.Spec(dir)
	if edit != nil {
		edit(&spec)
	}
	s, err := sandbox.Create(ctx, h.Driver(), spec)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	// The case's context may have ended, but the sandbox must be closed.
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	return f(box{s, dir})
}

// sh runs a shell script and returns its result; a failing script is not an error.
func (b box) sh(ctx context.Context, script string) (*sandbox.Result, error) {
	res, err := b.Run(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", script}})
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", script, err)
	}
	return res, nil
}

// out runs a shell script that has to succeed and returns its stdout.
func (b box) out(ctx context.Context, script string) (string, error) {
	res, err := b.sh(ctx, script)
	if err != nil {
		return "", err
	}
	if res.Code != 0 {
		return "", fmt.Errorf("%q ended with %d: %s", script, res.Code, res.Stderr)
	}
	return string(res.Stdout), nil
}

// prints runs a script that has to succeed and returns an error unless its output is want.
func (b box) prints(ctx context.Context, script, want string) error {
	got, err := b.out(ctx, script)
	if err == nil && got != want {
		err = fmt.Errorf("%q printed %q, want %q", script, got, want)
	}
	return err
}

// hasCode returns nil if err is an error of package sandbox with this code, and satisfies errors.Is with the code's sentinel.
func hasCode(err error, want sandbox.Code) error {
	var e *sandbox.Error
	switch {
	case err == nil:
		return fmt.Errorf("no error, want code %s", want)
	case !errors.As(err, &e):
		return fmt.Errorf("%T is not a *sandbox.Error: %w", err, err)
	case e.Code != want:
		return fmt.Errorf("code %s, want %s: %w", e.Code, want, err)
	case !errors.Is(err, &sandbox.Error{Code: want}):
		return fmt.Errorf("errors.Is does not know the sentinel of %s: %w", want, err)
	}
	return nil
}
