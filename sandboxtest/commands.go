package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func commandCases() []Case {
	return []Case{
		{Name: "the exit code of a command is its own", Run: exitCodes},
		{Name: "a command that a signal killed reports the signal and 128 more", Run: killedBySignal},
		{Name: "an empty argument list is refused as invalid", Run: emptyArgs},
		{Name: "a command that does not exist is not found with 127", Run: commandNotFound},
		{Name: "a file that is not executable is denied with 126", Run: notExecutable},
		{Name: "a command starts in the directory of the sandbox", Run: startDir},
		{Name: "a command starts in the directory that it asks for", Run: commandDir},
		{Name: "arguments arrive as they are", Run: argumentsArrive},
		{Name: "30,000 arguments arrive", Run: manyArguments},
		{Name: "a command sees no variable of the host", Run: emptyEnv},
		{Name: "a command sees the variables that it is given", Run: commandEnv},
		{Name: "commands run at the same time", Run: concurrentCommands, Alone: true},
	}
}

func exitCodes(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, code := range []int{0, 1, 2, 77, 124, 125, 126, 127, 130, 255} {
			res, err := b.sh(ctx, fmt.Sprintf("exit %d", code))
			if err != nil {
				return err
			}
			if res.Code != code || code <= 128 && res.Signal != 0 || res.TimedOut {
				return fmt.Errorf("exit %d: got %+v", code, res.Exit)
			}
		}
		return nil
	})
}

func killedBySignal(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, sig := range []int{9, 10, 11, 15} {
			// The command must not be the first process of a namespace, which ignores its own signals.
			res, err := b.sh(ctx, fmt.Sprintf("exec /bin/sh -c 'kill -%d $$; exit 3'", sig))
			if err != nil {
				return err
			}
			if res.Code != 128+sig || res.Signal != sig {
				return fmt.Errorf("signal %d: got %+v", sig, res.Exit)
			}
		}
		return nil
	})
}

func emptyArgs(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, args := range [][]string{nil, {}, {""}} {
			if _, err := b.Run(ctx, sandbox.Cmd{Args: args}); hasCode(err, sandbox.Invalid) != nil {
				return fmt.Errorf("arguments %q: %w", args, hasCode(err, sandbox.Invalid))
			}
		}
		return nil
	})
}

func commandNotFound(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, name := range []string{"no-such-command", "/no/such/command", path.Join(b.dir, "missing")} {
			_, err := b.Run(ctx, sandbox.Cmd{Args: []string{name, "argument"}})
			if err := refusedExec(err, name, sandbox.NotFound, sandbox.ExitNotFound); err != nil {
				return err
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: errors.Is does not know fs.ErrNotExist: %w", name, err)
			}
		}
		return nil
	})
}

func notExecutable(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		file := path.Join(b.dir, "plain")
		if err := b.Files().Create(ctx, file, 0o644, strings.NewReader("#!/bin/sh\necho ran\n")); err != nil {
			return err
		}
		for _, name := range []string{file, b.dir} {
			_, err := b.Run(ctx, sandbox.Cmd{Args: []string{name}})
			if err := refusedExec(err, name, sandbox.Denied, sandbox.ExitNotExecutable); err != nil {
				return err
			}
		}
		return nil
	})
}

func refusedExec(err error, name string, code sandbox.Code, exit int) error {
	if err := hasCode(err, code); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var exec *sandbox.ExecError
	if !errors.As(err, &exec) {
		return fmt.Errorf("%s: no *sandbox.ExecError in the chain of: %w", name, err)
	}
	if exec.Name != name || exec.Code != exit {
		return fmt.Errorf("%s: got name %q and code %d, want code %d", name, exec.Name, exec.Code, exit)
	}
	return nil
}

func startDir(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error { return b.prints(ctx, "pwd -P", b.dir+"\n") })
}

func commandDir(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		sub := path.Join(b.dir, "a b\nc")
		if _, err := b.Run(ctx, sandbox.Cmd{Args: []string{"mkdir", "--", sub}}); err != nil {
			return err
		}
		res, err := b.Run(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", "pwd -P"}, Dir: sub})
		if err != nil {
			return err
		}
		if got := string(res.Stdout); got != sub+"\n" {
			return fmt.Errorf("started in %q, want %q", got, sub)
		}
		_, err = b.Run(ctx, sandbox.Cmd{Args: []string{"true"}, Dir: path.Join(b.dir, "missing")})
		return hasCode(err, sandbox.NotFound)
	})
}

func argumentsArrive(ctx context.Context, h Harness) error {
	args := []string{"", " ", "a b", "--", "--help", "-", "$HOME", "`id`", "*", "'\"\\", "line\nline", "\xff\xfe", "ü", "%s%n"}
	return inside(ctx, h, nil, func(b box) error {
		res, err := b.Run(ctx, sandbox.Cmd{Args: append([]string{"printf", "<%s>"}, args...)})
		if err != nil {
			return err
		}
		want := "<" + strings.Join(args, "><") + ">"
		if string(res.Stdout) != want {
			return fmt.Errorf("got %q, want %q", res.Stdout, want)
		}
		return nil
	})
}

// A variable that every process has, or that names a path in the sandbox, does not come from the host.
func isOwnVariable(name string) bool {
	return slices.Contains([]string{"PATH", "PWD", "HOME", "TMPDIR", "SHLVL", "_"}, name)
}

// manyArguments gives a command more arguments than a backend's tools may take: bubblewrap takes 9,000.
func manyArguments(ctx context.Context, h Harness) error {
	const count = 30000
	return inside(ctx, h, nil, func(b box) error {
		args := []string{"/bin/sh", "-c", `echo $# "$1"; shift 29999; echo "$1"; exit 7`, "name"}
		for i := range count {
			args = append(args, fmt.Sprintf("a %d", i+1))
		}
		res, err := b.Run(ctx, sandbox.Cmd{Args: args})
		if err != nil {
			return err
		}
		if want := "30000 a 1\na 30000\n"; string(res.Stdout) != want || res.Code != 7 {
			return fmt.Errorf("got %q with status %d; expected %q with 7", res.Stdout, res.Code, want)
		}
		return nil
	})
}

func emptyEnv(ctx context.Context, h Harness) error {
	noEnv := func(s *sandbox.Spec) { s.Env = nil }
	return inside(ctx, h, noEnv, func(b box) error {
		res, err := b.Run(ctx, sandbox.Cmd{Args: []string{"/usr/bin/env"}})
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(res.Stdout)) {
			if name, _, _ := strings.Cut(line, "="); !isOwnVariable(name) {
				return fmt.Errorf("sees %q", line)
			}
		}
		return nil
	})
}

func commandEnv(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		res, err := b.Run(ctx, sandbox.Cmd{
			Args: []string{"/bin/sh", "-c", `printf %s "$GIVEN"`},
			Env:  []string{"GIVEN=first", "GIVEN=a = b\nc\xff"},
		})
		if err != nil {
			return err
		}
		if string(res.Stdout) != "a = b\nc\xff" {
			return fmt.Errorf("got %q", res.Stdout)
		}
		return b.prints(ctx, `printf %s "$GIVEN"`, "")
	})
}

func concurrentCommands(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		const n = 8
		begin := time.Now()
		errs := make(chan error, n)
		for i := range n {
			go func() {
				errs <- b.prints(ctx, fmt.Sprintf("sleep 1; echo %d", i), fmt.Sprintf("%d\n", i))
			}()
		}
		var all error
		for range n {
			all = errors.Join(all, <-errs)
		}
		if took := time.Since(begin); took > (n-1)*time.Second {
			all = errors.Join(all, fmt.Errorf("%d commands of one second took %s, one after the other", n, took))
		}
		return all
	})
}
