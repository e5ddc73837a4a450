package sandboxtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func endCases() []Case {
	return []Case{
		{Name: "a signal reaches the command, which may answer it", Run: signalArrives},
		{Name: "a signal that is not answered kills the command", Run: signalKills},
		{Name: "the wall-clock limit ends a command with 124", Run: wallLimit},
		{Name: "the wall-clock limit kills the whole process tree", Run: wallKillsTree},
		{Name: "a command below the wall-clock limit is left alone", Run: wallSpared},
		{Name: "cancel kills the whole process tree", Run: cancelKillsTree},
		{Name: "a deadline of the caller is a timeout and not the limit", Run: callersDeadline},
		{Name: "close kills what a command left running", Run: closeKillsTree},
		{Name: "a command that leaves others running ends without them", Run: leavesOthers},
	}
}

func signalArrives(ctx context.Context, h Harness) error {
	script := `trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.1; done`
	return signalled(ctx, h, script, syscall.SIGTERM, "caught", sandbox.Exit{Code: 7})
}

func signalKills(ctx context.Context, h Harness) error {
	script := `echo ready; exec sleep 1000`
	return signalled(ctx, h, script, syscall.SIGTERM, "", sandbox.Exit{Code: 143, Signal: 15})
}

func signalled(ctx context.Context, h Harness, script string, sig syscall.Signal, line string, want sandbox.Exit) error {
	return inside(ctx, h, nil, func(b box) error {
		r, w := io.Pipe()
		run, err := b.Start(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", script}}, sandbox.Stdio{Stdout: w})
		if err != nil {
			return err
		}
		said := make(chan error, 1)
		go func() {
			out := bufio.NewReader(r)
			err := errors.Join(expectLine(out, "ready"), run.Signal(sig))
			if line != "" && err == nil {
				err = expectLine(out, line)
			}
			said <- errors.Join(err, r.Close())
		}()
		exit, err := run.Wait()
		if err := errors.Join(err, w.Close(), <-said); err != nil {
			return err
		}
		if exit.Code != want.Code || exit.Signal != want.Signal {
			return fmt.Errorf("got %+v, want %+v", exit, want)
		}
		return nil
	})
}

func limitWall(d time.Duration) func(*sandbox.Spec) {
	return func(s *sandbox.Spec) { s.Policy.Limits.Wall = sandbox.Duration(d) }
}

func wallLimit(ctx context.Context, h Harness) error {
	return inside(ctx, h, limitWall(300*time.Millisecond), func(b box) error {
		res, err := b.sh(ctx, "trap '' TERM INT HUP; echo begun; while :; do sleep 1; done")
		if err != nil {
			return err
		}
		if !res.TimedOut || res.Code != sandbox.ExitTimeout || res.Duration > Limit/2 {
			return fmt.Errorf("got %+v after %s, timed out %v", res.Exit, res.Duration, res.TimedOut)
		}
		return nil
	})
}

func wallSpared(ctx context.Context, h Harness) error {
	return inside(ctx, h, limitWall(Limit), func(b box) error {
		res, err := b.sh(ctx, "exit 4")
		if err != nil {
			return err
		}
		if res.TimedOut || res.Code != 4 {
			return fmt.Errorf("got %+v, timed out %v", res.Exit, res.TimedOut)
		}
		return nil
	})
}

// The survivor is not a child of the command, has a session of its own, holds none of
// its streams, ignores what can be ignored, and keeps the pipe open while it lives.
const survivor = `(setsid sh -c 'trap "" TERM INT HUP; exec 3>alive; echo up >&3
while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &) ; `

// life is a command that has left a survivor behind.
type life struct {
	box    box
	run    *sandbox.Running
	cancel context.CancelFunc // of the command's context
	input  io.Closer          // of the command
}

// outlived starts a survivor in one sandbox while another, over the same directory, reads the pipe. It returns an error unless
// end kills the survivor.
func outlived(ctx context.Context, h Harness, edit func(*sandbox.Spec), end func(life) error) error {
	ctx, cancel := context.WithTimeout(ctx, Limit/2)
	defer cancel()
	return inside(ctx, h, nil, func(w box) error {
		if _, err := w.out(ctx, "mkfifo alive"); err != nil {
			return err
		}
		_, err := w.talk(ctx, []string{"cat", "alive"}, func(_ io.WriteCloser, out *bufio.Reader) error {
			return over(ctx, h, w.dir, edit, func(b box) error { return outlive(ctx, b, out, end) })
		})
		return err
	})
}

func outlive(ctx context.Context, b box, pipe *bufio.Reader, end func(life) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	// With a copied input Wait returns when the copy ends, so it has to be closed.
	defer r.Close()
	cmd := sandbox.Cmd{Args: []string{"/bin/sh", "-c", survivor + "cat"}}
	run, err := b.Start(ctx, cmd, sandbox.Stdio{Stdin: r})
	if err != nil {
		return err
	}
	if err := errors.Join(expectLine(pipe, "up"), end(life{b, run, cancel, w})); err != nil {
		return err
	}
	if rest, err := pipe.ReadString('\n'); !errors.Is(err, io.EOF) {
		return fmt.Errorf("a process outlived the command (read %q, %w)", rest, err)
	}
	return nil
}

// Y14: every backend kills a command at its time limit, with all processes that it started.
func wallKillsTree(ctx context.Context, h Harness) error {
	return outlived(ctx, h, limitWall(2*time.Second), func(l life) error {
		exit, err := l.run.Wait()
		if err == nil && exit.Code != sandbox.ExitTimeout {
			err = fmt.Errorf("got %+v, want %d", exit, sandbox.ExitTimeout)
		}
		return err
	})
}

// Y14: the same when the caller gives up.
func cancelKillsTree(ctx context.Context, h Harness) error {
	return outlived(ctx, h, nil, func(l life) error {
		l.cancel()
		_, err := l.run.Wait()
		return hasCode(err, sandbox.Canceled)
	})
}

func closeKillsTree(ctx context.Context, h Harness) error {
	return outlived(ctx, h, nil, func(l life) error {
		err := l.input.Close()
		exit, waited := l.run.Wait()
		if waited == nil && exit.Code != 0 {
			waited = fmt.Errorf("got %+v", exit)
		}
		return errors.Join(err, waited, l.box.Close(ctx))
	})
}

// leavesOthers needs a driver whose commands share one isolated place; other drivers have to refuse.
func leavesOthers(ctx context.Context, h Harness) error {
	return inside(ctx, h, func(s *sandbox.Spec) { s.Resident = true }, func(b box) error {
		script := `mkfifo go gone; (read word <go; echo late; echo "$word" >gone) & echo now`
		res, err := b.Run(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", script}, Leave: true})
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err != nil || res.Code != 0 || string(res.Stdout) != "now\n" {
			return fmt.Errorf("got %+v, %w", res, err)
		}
		out, err := b.out(ctx, "echo word >go; cat gone")
		if err == nil && out != "word\n" {
			err = fmt.Errorf("the process that was left wrote %q", out)
		}
		return err
	})
}

func callersDeadline(ctx context.Context, h Harness) error {
	return inside(ctx, h, limitWall(Limit), func(b box) error {
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_, err := b.Run(short, sandbox.Cmd{Args: []string{"sleep", "1000"}})
		if err := hasCode(err, sandbox.Timeout); err != nil {
			return err
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("errors.Is does not know context.DeadlineExceeded: %w", err)
		}
		return nil
	})
}
