package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func freezeCases() []Case {
	return []Case{
		{Name: "a frozen command stands still and then goes on", Run: frozenCounter},
		{Name: "a shell with job control does not notice a freeze", Run: frozenJobs},
		{Name: "a process that was stopped before a freeze stays stopped", Run: frozenStopped},
		{Name: "a start in a frozen sandbox is refused", Run: frozenStart},
		{Name: "files of a frozen sandbox can be read and written", Run: frozenFiles},
		{Name: "close of a frozen sandbox ends it without running its commands", Run: frozenClose},
		{Name: "freeze and thaw are idempotent", Run: frozenTwice},
		{Name: "processes that start each other are frozen", Run: frozenChain},
	}
}

// frozen runs script in a resident sandbox, waits until it has printed "go", and calls f. A driver that cannot freeze has to refuse.
func frozen(ctx context.Context, h Harness, script string, edit func(*sandbox.Spec), f func(b box, run *sandbox.Running, out *watched) error) error {
	resident := func(s *sandbox.Spec) {
		s.Resident = true
		if edit != nil {
			edit(s)
		}
	}
	return inside(ctx, h, resident, func(b box) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		out := &watched{}
		run, err := b.Start(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", script}}, sandbox.Stdio{Stdout: out, Stderr: out})
		if err != nil {
			return err
		}
		err = out.wait(ctx, "go\n")
		if err == nil {
			err = f(b, run, out)
		}
		cancel()
		_, _ = run.Wait() // f checks its end
		if err != nil {
			err = fmt.Errorf("%w (output %.300q)", err, out.text())
		}
		return err
	})
}

// counting appends a line to a file again and again.
const counting = `echo go; while :; do echo x >>count; sleep 0.01; done`

// count returns the size of the file that counting writes.
func (b box) count(ctx context.Context) (int64, error) {
	info, err := b.Files().Stat(ctx, "count")
	return info.Size, err
}

// grows waits until counting has written more than from.
func (b box) grows(ctx context.Context, from int64) error {
	ctx, cancel := context.WithTimeout(ctx, Limit/10)
	defer cancel()
	for {
		now, err := b.count(ctx)
		if now > from {
			return nil
		}
		if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the counter stays at %d: %w", now, ctx.Err())
		}
	}
}

// rests returns an error if counting writes. It looks for twenty times as long as one turn takes.
func (b box) rests(ctx context.Context) error {
	before, err := b.count(ctx)
	if err != nil {
		return err
	}
	select {
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := b.count(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("a frozen command counted from %d to %d", before, after)
	}
	return err
}

// showsFrozen returns an error unless the status has the command, and frozen as wanted. An operation on files that has just ended
// can count as a command for a moment.
func (b box) showsFrozen(ctx context.Context, want bool) error {
	st, err := b.Status(ctx)
	if err == nil && (st.Frozen != want || st.Running < 1) {
		err = fmt.Errorf("the status is %+v; expected a running command, frozen %v", st, want)
	}
	return err
}

func frozenCounter(ctx context.Context, h Harness) error {
	return frozen(ctx, h, counting, nil, func(b box, _ *sandbox.Running, _ *watched) error {
		for range 3 {
			if err := errors.Join(b.grows(ctx, 0), b.Freeze(ctx), b.showsFrozen(ctx, true), b.rests(ctx)); err != nil {
				return err
			}
			at, err := b.count(ctx)
			if err = errors.Join(err, b.Thaw(ctx), b.showsFrozen(ctx, false)); err != nil {
				return err
			}
			if err := b.grows(ctx, at); err != nil {
				return err
			}
		}
		return nil
	})
}

// inBash runs a script without single quotes in bash, where there is one: dash has no job control without a terminal.
func inBash(script string) string {
	return `exec $(command -v bash || echo /bin/sh) -c '` + script + `' 2>/dev/null`
}

func frozenJobs(ctx context.Context, h Harness) error {
	script := inBash(`set -m; echo go; sh -c "while ! test -e enough; do sleep 0.01; done; exit 3"; echo "ended $?"; jobs`)
	return frozen(ctx, h, script, nil, func(b box, run *sandbox.Running, out *watched) error {
		for range 5 {
			if err := errors.Join(b.Freeze(ctx), b.Thaw(ctx)); err != nil {
				return err
			}
		}
		err := b.Files().Create(ctx, "enough", 0o644, strings.NewReader(""))
		exit, werr := run.Wait()
		if err = errors.Join(err, werr); err == nil && (exit.Code != 0 || out.text() != "go\nended 3\n") {
			err = fmt.Errorf("it ended with %+v", exit)
		}
		return err
	})
}

func frozenStopped(ctx context.Context, h Harness) error {
	script := `: >count; while :; do echo x >>count; sleep 0.01; done & kill -STOP $!
		until grep -q '^State:.T' /proc/$!/status; do sleep 0.01; done; echo go
		until test -e enough; do sleep 0.01; done; kill -CONT $!; wait`
	return frozen(ctx, h, script, nil, func(b box, _ *sandbox.Running, _ *watched) error {
		for range 2 {
			if err := errors.Join(b.Freeze(ctx), b.Thaw(ctx), b.rests(ctx)); err != nil {
				return err
			}
		}
		at, err := b.count(ctx)
		return errors.Join(err, b.Files().Create(ctx, "enough", 0o644, strings.NewReader("")), b.grows(ctx, at))
	})
}

func frozenStart(ctx context.Context, h Harness) error {
	return frozen(ctx, h, counting, nil, func(b box, _ *sandbox.Running, _ *watched) error {
		if err := b.Freeze(ctx); err != nil {
			return err
		}
		_, err := b.Run(ctx, sandbox.Cmd{Args: []string{"true"}})
		if coded := hasCode(err, sandbox.Conflict); coded != nil {
			return coded
		}
		if sandbox.HintOf(err) == "" {
			return fmt.Errorf("no hint: %w", err)
		}
		return errors.Join(b.Thaw(ctx), b.prints(ctx, "echo yes", "yes\n"))
	})
}

func frozenFiles(ctx context.Context, h Harness) error {
	return frozen(ctx, h, counting, nil, func(b box, _ *sandbox.Running, _ *watched) error {
		if err := errors.Join(b.grows(ctx, 0), b.Freeze(ctx), b.Files().Create(ctx, "f", 0o640, strings.NewReader("text"))); err != nil {
			return err
		}
		r, err := b.Files().Open(ctx, "f")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err == nil && string(text) != "text" {
			err = fmt.Errorf("read %q", text)
		}
		return errors.Join(err, b.Files().Rename(ctx, "f", "g"), b.Files().Remove(ctx, "g"), b.rests(ctx))
	})
}

// frozenClose: a command that ran again, if only to handle a signal, would write the file.
func frozenClose(ctx context.Context, h Harness) error {
	return withDir(h, func(dir string) error {
		same := func(s *sandbox.Spec) { s.Workspace, s.Policy.Filesystem = dir, h.Spec(dir).Policy.Filesystem }
		script := inBash(`trap "echo x >ran" HUP TERM INT CONT EXIT
			set -m
			(trap "echo x >ran" HUP CONT; echo go; while :; do sleep 0.01; done)
			echo x >ran`)
		err := frozen(ctx, h, script, same, func(b box, run *sandbox.Running, _ *watched) error {
			if err := errors.Join(b.Freeze(ctx), b.Close(ctx)); err != nil {
				return err
			}
			if exit, err := run.Wait(); err == nil && exit.Code == 0 {
				return errors.New("the command has ended as if nothing had been")
			}
			return nil
		})
		if err != nil {
			return err
		}
		return over(ctx, h, dir, nil, func(b box) error {
			_, err := b.Files().Stat(ctx, "ran")
			if err == nil {
				return errors.New("the command ran again")
			}
			return hasCode(err, sandbox.NotFound)
		})
	})
}

func frozenTwice(ctx context.Context, h Harness) error {
	return frozen(ctx, h, counting, nil, func(b box, _ *sandbox.Running, _ *watched) error {
		err := errors.Join(b.Thaw(ctx), b.grows(ctx, 0), b.Freeze(ctx), b.Freeze(ctx), b.showsFrozen(ctx, true), b.rests(ctx), b.Thaw(ctx))
		if err != nil {
			return err
		}
		at, err := b.count(ctx)
		return errors.Join(err, b.grows(ctx, at), b.Thaw(ctx), b.showsFrozen(ctx, false))
	})
}

// frozenChain: each process starts the next one and ends, so that none can be stopped by its number. The limit of processes bounds them.
func frozenChain(ctx context.Context, h Harness) error {
	script := `export STEP='echo x >>count; sh -c "$STEP" &'; echo go; sh -c "$STEP"; while :; do sleep 1; done`
	few := func(s *sandbox.Spec) { s.Policy.Limits.Pids = 200 }
	err := frozen(ctx, h, script, few, func(b box, _ *sandbox.Running, _ *watched) error {
		for range 2 {
			at, err := b.count(ctx)
			if sandbox.CodeOf(err) == sandbox.NotFound {
				err = nil
			}
			if err = errors.Join(err, b.grows(ctx, at), b.Freeze(ctx)); err != nil {
				return err
			}
			if err = errors.Join(b.rests(ctx), b.Thaw(ctx)); err != nil {
				return err
			}
		}
		return nil
	})
	return ignoreUnsupported(err) // of the limit
}

// watched is a writer that stores all data and lets other goroutines wait for a text.
type watched struct {
	mu     sync.Mutex
	data   []byte
	change chan struct{} // closed by the next write; nil: no other waits
}

// Write stores all data; the case bounds it.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p...)
	if w.change != nil {
		close(w.change)
		w.change = nil
	}
	return len(p), nil
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.data)
}

// wait waits until text was written.
func (w *watched) wait(ctx context.Context, text string) error {
	for {
		w.mu.Lock()
		if strings.Contains(string(w.data), text) {
			w.mu.Unlock()
			return nil
		}
		if w.change == nil {
			w.change = make(chan struct{})
		}
		change := w.change
		w.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return fmt.Errorf("wait for %q: %w", text, ctx.Err())
		}
	}
}
