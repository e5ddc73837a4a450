package sandboxtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func policyCases() []Case {
	return []Case{
		{Name: "a read-only path can be read and not be changed", Run: readOnly},
		{Name: "an excluded path cannot be read or listed", Run: excluded},
		{Name: "a writable path below a read-only one can be changed", Run: writableBelow},
		{Name: "without a network there is only the loopback", Run: loopbackOnly},
		{Name: "the zero Spec sees no file of the host", Run: zeroSpecFiles},
		{Name: "the private /tmp is empty, writable and not the host's", Run: privateTmp},
		{Name: "a relative workspace is refused as invalid", Run: relativeWorkspace},
		{Name: "the report is complete", Run: reportComplete},
		{Name: "a limit is enforced or refused as unsupported", Run: enforceOrRefuse},
		{Name: "a file cannot grow beyond its limit", Run: fileLimit},
		{Name: "commands have no more processes than their limit", Run: processLimit},
		{Name: "a sandbox outlives a command that has all processes of its limit", Run: outlivesProcessLimit},
	}
}

// Offline is implemented by harnesses whose sandboxes without a network see interfaces that nothing inside can use.
type Offline interface {
	// Internet is a program inside that ends with 0 when it could make an Internet socket.
	Internet() []string
}

// seed fills dir from inside, before any rule applies to it.
func seed(ctx context.Context, h Harness, dir, script string) error {
	return over(ctx, h, dir, nil, func(b box) error {
		_, err := b.out(ctx, script)
		return err
	})
}

func (b box) refused(ctx context.Context, scripts ...string) error {
	for _, script := range scripts {
		res, err := b.sh(ctx, script)
		if err != nil {
			return err
		}
		if res.Code == 0 {
			return fmt.Errorf("%q succeeded and printed %q", script, res.Stdout)
		}
	}
	return nil
}

func readOnly(ctx context.Context, h Harness) error {
	return withDir(h, func(dir string) error {
		if err := seed(ctx, h, dir, "mkdir ro; echo old >ro/f; echo old >file"); err != nil {
			return err
		}
		ro := func(s *sandbox.Spec) {
			s.Policy.Filesystem.RO = append(s.Policy.Filesystem.RO, path.Join(dir, "ro"), path.Join(dir, "file"))
		}
		return over(ctx, h, dir, ro, func(b box) error {
			err := b.prints(ctx, "cat ro/f file", "old\nold\n")
			err = errors.Join(err, b.refused(ctx,
				"echo new >ro/f", "echo new >>file", "rm -f ro/f", "rm -f file", "mv file other", "mv ro other",
				"mkdir ro/d", "ln -s x ro/l", "echo new >ro/new", "chmod 777 ro", "echo new >other && mv other file"))
			if b.put(ctx, path.Join(dir, "ro/f"), []byte("new")) == nil {
				err = errors.Join(err, errors.New("Files.Create wrote a read-only file"))
			}
			if b.Files().Remove(ctx, path.Join(dir, "ro")) == nil {
				err = errors.Join(err, errors.New("Files.Remove removed a read-only directory"))
			}
			return errors.Join(err, b.prints(ctx, "cat ro/f file; ls ro", "old\nold\nf\n"))
		})
	})
}

func excluded(ctx context.Context, h Harness) error {
	return withDir(h, func(dir string) error {
		if err := seed(ctx, h, dir, "mkdir -p hide/d; echo canary >hide/d/f; echo canary >file; ln -s hide/d/f link"); err != nil {
			return err
		}
		hide := func(s *sandbox.Spec) {
			s.Policy.Filesystem.Exclude = append(s.Policy.Filesystem.Exclude, path.Join(dir, "hide"), path.Join(dir, "file"))
		}
		return over(ctx, h, dir, hide, func(b box) error {
			err := b.refused(ctx, "cat hide/d/f", "cat file", "cat link", "cat hide/../hide/d/f", "cd hide && cat d/f")
			err = errors.Join(err, b.prints(ctx, "ls -A hide 2>&1", ""))
			for _, name := range []string{"hide/d/f", "file", "link"} {
				if data, open := b.fetch(ctx, path.Join(dir, name)); open == nil {
					err = errors.Join(err, fmt.Errorf("Files.Open of %s read %q", name, data))
				}
			}
			return err
		})
	})
}

func writableBelow(ctx context.Context, h Harness) error {
	return withDir(h, func(dir string) error {
		if err := seed(ctx, h, dir, "mkdir -p ro/rw"); err != nil {
			return err
		}
		both := func(s *sandbox.Spec) {
			s.Policy.Filesystem.RO = append(s.Policy.Filesystem.RO, path.Join(dir, "ro"))
			s.Policy.Filesystem.RW = append(s.Policy.Filesystem.RW, path.Join(dir, "ro/rw"))
		}
		return over(ctx, h, dir, both, func(b box) error {
			return errors.Join(b.prints(ctx, "echo new >ro/rw/f; cat ro/rw/f", "new\n"), b.refused(ctx, "echo new >ro/f"))
		})
	})
}

func loopbackOnly(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		out, err := b.out(ctx, "cat /proc/net/dev")
		if err != nil {
			return err
		}
		var names []string
		for line := range strings.Lines(out) {
			if name, _, ok := strings.Cut(line, ":"); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
		if len(names) == 1 && names[0] == "lo" {
			return nil
		}
		o, ok := h.(Offline)
		if !ok {
			return fmt.Errorf("interfaces %q, want lo alone", names)
		}
		return b.offline(ctx, o.Internet())
	})
}

// offline runs a program that makes an Internet socket. The program must exist and fail.
func (b box) offline(ctx context.Context, program []string) error {
	res, err := b.Run(ctx, sandbox.Cmd{Args: program})
	if err == nil && res.Code == 0 {
		err = fmt.Errorf("%q made an Internet socket", program)
	}
	return err
}

func zeroSpecFiles(ctx context.Context, h Harness) error {
	return withDir(h, func(dir string) (err error) {
		if err := os.WriteFile(filepath.Join(dir, "canary"), []byte("of the host"), 0o600); err != nil {
			return err
		}
		s, err := sandbox.Create(ctx, h.Driver(), sandbox.Spec{})
		if err != nil {
			return err
		}
		b := box{s, "/tmp"}
		defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
		canary := filepath.Join(dir, "canary")
		err = b.refused(ctx, "cat '"+canary+"'", "cat '/proc/self/root"+canary+"'", "echo x >/usr/x", "echo x >/etc/x")
		return errors.Join(err, b.prints(ctx, "pwd", "/tmp\n"))
	})
}

func privateTmp(ctx context.Context, h Harness) error {
	file, err := os.CreateTemp("/tmp", "canary-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // the case has failed already when the canary is gone
	if err := file.Close(); err != nil {
		return err
	}
	return inside(ctx, h, nil, func(b box) error {
		mine := file.Name() + ".inside"
		err := errors.Join(b.refused(ctx, "cat "+file.Name()), b.prints(ctx, "echo x >"+mine+"; cat "+mine, "x\n"))
		if _, stat := os.Stat(mine); stat == nil {
			err = errors.Join(err, fmt.Errorf("%s appeared on the host", mine), os.Remove(mine))
		}
		return err
	})
}

func relativeWorkspace(ctx context.Context, h Harness) error {
	_, err := h.Driver().Create(ctx, h.Spec("relative/dir"))
	return hasCode(err, sandbox.Invalid)
}

func reportComplete(ctx context.Context, h Harness) error {
	report, err := h.Driver().Check(ctx)
	if err != nil {
		return err
	}
	if report.Backend != h.Driver().Name() || len(report.Findings) == 0 || !report.OK() {
		return fmt.Errorf("report %+v of driver %s", report, h.Driver().Name())
	}
	for _, f := range report.Findings {
		switch f.State {
		case sandbox.Enforced, sandbox.Emulated:
		case sandbox.Impossible:
			if f.Detail == "" {
				return fmt.Errorf("%s is impossible, and nothing says why", f.Rule)
			}
		default:
			return fmt.Errorf("%s has state %q", f.Rule, f.State)
		}
	}
	return nil
}

func enforceOrRefuse(ctx context.Context, h Harness) error {
	report, err := h.Driver().Check(ctx)
	if err != nil {
		return err
	}
	for rule, edit := range map[string]func(*sandbox.Limits){
		"limits.memory": func(l *sandbox.Limits) { l.Memory = 512 << 20 },
		"limits.pids":   func(l *sandbox.Limits) { l.Pids = 64 },
		"limits.cpu":    func(l *sandbox.Limits) { l.CPU = 0.5 },
		"limits.file":   func(l *sandbox.Limits) { l.File = 4 << 20 },
		"limits.disk":   func(l *sandbox.Limits) { l.Disk = 64 << 20 },
		"limits.nodes":  func(l *sandbox.Limits) { l.Nodes = 1000 },
		"limits.tmp":    func(l *sandbox.Limits) { l.Tmp = 1 << 20 },
	} {
		state := sandbox.State("unknown")
		for _, f := range report.Findings {
			if f.Rule == rule {
				state = f.State
			}
		}
		err := inside(ctx, h, func(s *sandbox.Spec) { edit(&s.Policy.Limits) }, func(b box) error {
			return b.prints(ctx, "echo runs", "runs\n")
		})
		switch state {
		case sandbox.Enforced, sandbox.Emulated:
		case sandbox.Impossible:
			err = hasCode(err, sandbox.Unsupported)
		default:
			err = fmt.Errorf("the report says nothing about it")
		}
		if err != nil {
			return fmt.Errorf("%s is %s: %w", rule, state, err)
		}
	}
	return nil
}

func fileLimit(ctx context.Context, h Harness) error {
	const limit = 1 << 20
	return inside(ctx, h, func(s *sandbox.Spec) { s.Policy.Limits.File = limit }, func(b box) error {
		// The kernel sends a signal, too, which kills programs that do not ignore it.
		const script = `ulimit -f unlimited 2>/dev/null; trap "" XFSZ; %s; echo $?; wc -c <big`
		for _, grow := range []string{
			"head -c 3000000 /dev/zero >big", "cat /dev/zero >>big", "for i in 1 2 3; do head -c 500000 /dev/zero; done >big", "truncate -s 2M big",
		} {
			res, err := b.sh(ctx, fmt.Sprintf(script, grow))
			if err != nil {
				return err
			}
			var status, size int64
			if _, err := fmt.Sscan(string(res.Stdout), &status, &size); err != nil || status == 0 || size > limit {
				return fmt.Errorf("%s: %q, want a failure and at most %d bytes: %w", grow, res.Stdout, limit, err)
			}
			if !strings.Contains(string(res.Stderr), "File too large") {
				return fmt.Errorf("%s says %q", grow, res.Stderr)
			}
		}
		if err := hasCode(b.put(ctx, "big", everyByte(limit+1)), sandbox.Exhausted); err != nil {
			return fmt.Errorf("through Files: %w", err)
		}
		return errors.Join(b.put(ctx, "fits", everyByte(limit)), b.prints(ctx, "wc -c <fits | tr -d ' '; echo small >small; cat small", "1048576\nsmall\n"))
	})
}

// guestRoom is the number of processes allowed beyond the limit where the guest's threads count, too.
const guestRoom = 64

func processLimit(ctx context.Context, h Harness) error {
	const limit = 40
	err := inside(ctx, h, func(s *sandbox.Spec) { s.Policy.Limits.Pids = limit }, func(b box) error {
		// The shell gives up when it cannot fork; its children die with the sandbox. None may end before, because a slow machine needs
		// seconds to start all of them.
		res, err := b.sh(ctx, `i=0; while [ $i -lt 300 ]; do sleep 600 >/dev/null 2>&1 & i=$((i+1)); echo $i; done`)
		if err != nil {
			return err
		}
		if n := strings.Count(string(res.Stdout), "\n"); n < 1 || n > limit+guestRoom {
			return fmt.Errorf("%d processes at once, want at most %d: %s", n, limit+guestRoom, res.Stderr)
		}
		return nil
	})
	return ignoreUnsupported(err)
}

// outlivesProcessLimit starts commands while another one has all processes that the limit permits. They may fail, and must not
// end the sandbox.
func outlivesProcessLimit(ctx context.Context, h Harness) error {
	const limit, rounds, together = 40, 4, 12
	err := inside(ctx, h, func(s *sandbox.Spec) { s.Policy.Limits.Pids = limit }, func(b box) error {
		// The inner shell gives up when it cannot fork. The outer one stays, and with it the children.
		const fill = `sh -c 'while :; do sleep 600 >/dev/null 2>&1 & done' 2>/dev/null; echo full; read line`
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		unread, stdin := io.Pipe()
		defer stdin.Close()
		out, stdout := io.Pipe()
		run, err := b.Start(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", fill}}, sandbox.Stdio{Stdin: unread, Stdout: stdout})
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() {
			_, err := run.Wait()
			ended <- errors.Join(err, stdout.Close())
		}()
		if err := expectLine(bufio.NewReader(out), "full"); err != nil {
			return err
		}
		for range rounds {
			var all sync.WaitGroup
			for range together {
				all.Go(func() { _, _ = b.sh(ctx, "true") }) // it fails where no process is left for it
			}
			all.Wait()
		}
		cancel()
		_ = out.Close()
		if err := <-ended; sandbox.CodeOf(err) == sandbox.Closed {
			return err
		}
		return b.prints(context.WithoutCancel(ctx), "echo on", "on\n")
	})
	return ignoreUnsupported(err)
}
