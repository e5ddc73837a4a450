package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Snapshotter is implemented by harnesses whose driver has snapshots.
type Snapshotter interface {
	// SnapshotSpec returns the Spec of a sandbox that has snapshots, with the workspace dir.
	SnapshotSpec(dir string) sandbox.Spec
}

// Forker is implemented by harnesses whose driver copies sandboxes.
type Forker interface {
	// ForkName returns a name that no sandbox has.
	ForkName() string
}

func snapshotCases() []Case {
	return []Case{
		{Name: "a restored snapshot has the files that were there", Run: restored},
		{Name: "a snapshot is taken while a command writes, and the command goes on", Run: takenWhileWriting},
		{Name: "restore ends what runs", Run: restoreEnds},
		{Name: "snapshots are listed, removed, and their names are checked", Run: snapshotNames},
		{Name: "a fork begins with the files of its origin and goes its own way", Run: forked},
	}
}

// withSnapshots runs f in a sandbox with snapshots; a driver without them passes.
func withSnapshots(ctx context.Context, h Harness, f func(b box) error) error {
	k, ok := h.(Snapshotter)
	if !ok {
		return nil
	}
	return inside(ctx, h, func(s *sandbox.Spec) {
		name := s.Name
		*s = k.SnapshotSpec(s.Workspace)
		if s.Name == "" {
			s.Name = name
		}
	}, f)
}

func restored(ctx context.Context, h Harness) error {
	return withSnapshots(ctx, h, func(b box) error {
		_, err := b.out(ctx, `mkdir d; echo one >d/f; echo keep >keep; ln -s d/f link; echo x >gone; chmod 640 d/f`)
		err = errors.Join(err, b.Snapshot(ctx, "first"))
		if err != nil {
			return err
		}
		if _, err = b.out(ctx, `rm -r d link; echo two >keep; mkdir link; echo new >new; rm gone`); err != nil {
			return err
		}
		const look = `cat link keep gone; ls -A; test "$(stat -c %a d/f)" = 640`
		const want = "one\nkeep\nx\nd\ngone\nkeep\nlink\n"
		err = errors.Join(b.Restore(ctx, "first"), b.prints(ctx, look, want))
		if _, serr := b.out(ctx, `echo three >keep; rm -r d`); serr != nil {
			return errors.Join(err, serr)
		}
		return errors.Join(err, b.Restore(ctx, "first"), b.prints(ctx, look, want))
	})
}

func takenWhileWriting(ctx context.Context, h Harness) error {
	return withSnapshots(ctx, h, func(b box) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		begun := newWaiter("go\n")
		run, err := b.Start(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", `echo 0 >a; echo 0 >b; echo go; i=0
			while test ! -e enough; do i=$((i+1)); echo $i >t; mv t a; echo $i >t; mv t b; done; echo ended`}}, sandbox.Stdio{Stdout: begun})
		if err != nil {
			return err
		}
		if err := begun.wait(ctx); err != nil {
			return err
		}
		err = b.Snapshot(ctx, "busy")
		if _, oerr := b.out(ctx, `: >enough`); oerr != nil {
			return errors.Join(err, oerr)
		}
		exit, werr := run.Wait()
		if err = errors.Join(err, werr); err != nil || exit.Code != 0 || !strings.HasSuffix(begun.text(), "ended\n") {
			return fmt.Errorf("it ended with %+v after %q: %w", exit, begun.text(), err)
		}
		return errors.Join(b.Restore(ctx, "busy"),
			b.prints(ctx, `test ! -e enough && d=$(($(cat a) - $(cat b))) && test "$d" = 0 -o "$d" = 1 && echo whole`, "whole\n"))
	})
}

func restoreEnds(ctx context.Context, h Harness) error {
	return withSnapshots(ctx, h, func(b box) error {
		if err := b.Snapshot(ctx, "one"); err != nil {
			return err
		}
		begun := newWaiter("go\n")
		run, err := b.Start(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", "echo go; sleep 1000"}}, sandbox.Stdio{Stdout: begun})
		if err == nil {
			err = begun.wait(ctx)
		}
		if err != nil {
			return err
		}
		if err := b.Restore(ctx, "one"); err != nil {
			return err
		}
		if exit, err := run.Wait(); err == nil && exit.Code == 0 {
			return errors.New("what ran has ended as if nothing had been")
		}
		return b.prints(ctx, "echo lives", "lives\n")
	})
}

func snapshotNames(ctx context.Context, h Harness) error {
	return withSnapshots(ctx, h, func(b box) error {
		for _, name := range []string{"", "a\nb", "a/b", "..", "-a", "a b", "\xff", strings.Repeat("x", 64)} {
			for op, err := range map[string]error{"snapshot": b.Snapshot(ctx, name), "restore": b.Restore(ctx, name), "remove": b.RemoveSnapshot(ctx, name)} {
				if err := hasCode(err, sandbox.Invalid); err != nil {
					return fmt.Errorf("%s %q: %w", op, name, err)
				}
			}
		}
		if list, err := b.Snapshots(ctx); err != nil || len(list) > 0 {
			return fmt.Errorf("before the first: %+v, %w", list, err)
		}
		err := errors.Join(b.Snapshot(ctx, "z"), b.Snapshot(ctx, "a.1_x-"))
		err = errors.Join(err, hasCode(b.Snapshot(ctx, "z"), sandbox.Exists), hasCode(b.Restore(ctx, "y"), sandbox.NotFound), hasCode(b.RemoveSnapshot(ctx, "y"), sandbox.NotFound))
		list, lerr := b.Snapshots(ctx)
		if err = errors.Join(err, lerr); err != nil {
			return err
		}
		if len(list) != 2 || list[0].Name != "z" || list[1].Name != "a.1_x-" || list[0].Created.IsZero() || list[1].Created.Before(list[0].Created) {
			return fmt.Errorf("%+v", list)
		}
		err = b.RemoveSnapshot(ctx, "z")
		if list, lerr = b.Snapshots(ctx); lerr != nil || len(list) != 1 {
			return fmt.Errorf("after one was removed: %+v, %w", list, lerr)
		}
		return errors.Join(err, hasCode(b.Restore(ctx, "z"), sandbox.NotFound), b.Restore(ctx, "a.1_x-"))
	})
}

func forked(ctx context.Context, h Harness) error {
	namer, ok := h.(Forker)
	if !ok {
		return nil
	}
	return withSnapshots(ctx, h, func(b box) error {
		_, err := b.out(ctx, "echo one >f")
		err = errors.Join(err, b.Snapshot(ctx, "one"))
		if _, oerr := b.out(ctx, "echo two >f"); errors.Join(err, oerr) != nil {
			return errors.Join(err, oerr)
		}
		now, err := b.forkedAs(ctx, namer.ForkName(), "")
		if err != nil {
			return err
		}
		defer now.Close(context.WithoutCancel(ctx))
		old, err := b.forkedAs(ctx, namer.ForkName(), "one")
		if err != nil {
			return err
		}
		defer old.Close(context.WithoutCancel(ctx))
		_, taken := b.Fork(ctx, old.ID(), "")
		_, missing := b.Fork(ctx, namer.ForkName(), "no-such")
		err = errors.Join(hasCode(taken, sandbox.Exists), hasCode(missing, sandbox.NotFound),
			now.prints(ctx, "cat f; echo now >f; echo x >now", "two\n"), old.prints(ctx, "cat f; echo old >f", "one\n"),
			b.prints(ctx, "cat f; ls now 2>&1 | wc -l", "two\n1\n"), now.prints(ctx, "cat f", "now\n"), old.prints(ctx, "cat f", "old\n"))
		return errors.Join(err, now.Close(ctx), old.prints(ctx, "cat f", "old\n"), old.Close(ctx), b.prints(ctx, "cat f", "two\n"))
	})
}

func (b box) forkedAs(ctx context.Context, name, snapshot string) (box, error) {
	s, err := b.Fork(ctx, name, snapshot)
	if err != nil {
		return box{}, fmt.Errorf("fork %q: %w", snapshot, err)
	}
	return box{s, b.dir}, nil
}

// waiter stores what is written to it, and signals the first line.
type waiter struct {
	mu    sync.Mutex
	data  []byte
	first string
	come  chan struct{}
}

func newWaiter(first string) *waiter { return &waiter{first: first, come: make(chan struct{})} }

// Write stores all data; the case bounds it.
func (w *waiter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.HasPrefix(string(w.data), w.first)
	w.data = append(w.data, p...)
	if !before && strings.HasPrefix(string(w.data), w.first) {
		close(w.come)
	}
	return len(p), nil
}

func (w *waiter) wait(ctx context.Context) error {
	select {
	case <-w.come:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %q: %w", w.first, ctx.Err())
	}
}

func (w *waiter) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.data)
}
