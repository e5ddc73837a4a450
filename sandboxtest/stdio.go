package sandboxtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func stdioCases() []Case {
	return []Case{
		{Name: "stdout and stderr arrive apart", Run: outputsApart},
		{Name: "without input a command reads its end", Run: noInput},
		{Name: "input that the caller does not give is the null device", Run: nullInput},
		{Name: "input that the caller gives is a pipe or a file", Run: givenInput},
		{Name: "input and output stream while a command runs", Run: streaming},
		{Name: "a command goes on after its input has ended", Run: halfClose},
		{Name: "binary data passes unchanged in both directions", Run: binaryData},
		{Name: "output past the limit is cut and the command goes on", Run: outputCut},
		{Name: "output below the limit is not cut", Run: outputWhole},
	}
}

func outputsApart(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		res, err := b.sh(ctx, "echo out; echo err >&2; echo out2")
		if err != nil {
			return err
		}
		if string(res.Stdout) != "out\nout2\n" || string(res.Stderr) != "err\n" {
			return fmt.Errorf("got stdout %q and stderr %q", res.Stdout, res.Stderr)
		}
		return nil
	})
}

func noInput(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error { return b.prints(ctx, "cat; echo end", "end\n") })
}

// nullInput: programs such as rg search a pipe on their input in place of the directory.
func nullInput(ctx context.Context, h Harness) (err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, null.Close()) }()
	return inside(ctx, h, nil, func(b box) error {
		return errors.Join(b.seesInput(ctx, nil, "device"), b.seesInput(ctx, (*os.File)(nil), "device"), b.seesInput(ctx, null, "device"))
	})
}

func givenInput(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		return b.seesInput(ctx, strings.NewReader(""), "pipe")
	})
}

// seesInput checks what a command sees as its standard input: a character device or a pipe.
func (b box) seesInput(ctx context.Context, in io.Reader, kind string) error {
	var out bytes.Buffer
	const script = `if [ -c /dev/stdin ]; then echo device; elif [ -p /dev/stdin ]; then echo pipe; else ls -lL /dev/stdin; fi`
	_, err := b.RunStdio(ctx, sandbox.Cmd{Args: []string{"/bin/sh", "-c", script}}, sandbox.Stdio{Stdin: in, Stdout: &out})
	if err == nil && out.String() != kind+"\n" {
		err = fmt.Errorf("with input %#v the command sees %q, want %q", in, out.String(), kind)
	}
	return err
}

// talk runs args with a pipe at either end.
func (b box) talk(ctx context.Context, args []string, f func(in io.WriteCloser, out *bufio.Reader) error) (sandbox.Exit, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	run, err := b.Start(ctx, sandbox.Cmd{Args: args}, sandbox.Stdio{Stdin: inR, Stdout: outW})
	if err != nil {
		return sandbox.Exit{}, err
	}
	talked := make(chan error, 1)
	go func() {
		err := f(inW, bufio.NewReader(outR))
		// After any error close both ends, so that Wait returns.
		talked <- errors.Join(err, inW.Close(), outR.Close())
	}()
	exit, err := run.Wait()
	return exit, errors.Join(err, outW.Close(), <-talked)
}

func expectLine(out *bufio.Reader, want string) error {
	got, err := out.ReadString('\n')
	if err != nil || got != want+"\n" {
		return fmt.Errorf("read %q, want %q: %w", got, want, err)
	}
	return nil
}

func streaming(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		exit, err := b.talk(ctx, []string{"cat"}, func(in io.WriteCloser, out *bufio.Reader) error {
			for i := range 20 {
				line := fmt.Sprintf("line %d", i)
				if _, err := io.WriteString(in, line+"\n"); err != nil {
					return err
				}
				// The next line is sent only after this one has come back.
				if err := expectLine(out, line); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && exit.Code != 0 {
			err = fmt.Errorf("got %+v", exit)
		}
		return err
	})
}

func halfClose(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		args := []string{"/bin/sh", "-c", "cat; echo after; exit 5"}
		exit, err := b.talk(ctx, args, func(in io.WriteCloser, out *bufio.Reader) error {
			if _, err := io.WriteString(in, "before\n"); err != nil {
				return err
			}
			if err := errors.Join(in.Close(), expectLine(out, "before")); err != nil {
				return err
			}
			return expectLine(out, "after")
		})
		if err == nil && exit.Code != 5 {
			err = fmt.Errorf("got %+v, want 5", exit)
		}
		return err
	})
}

// everyByte returns n bytes in which each value occurs. They do not repeat with the period of a buffer size, which could hide an
// error.
func everyByte(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return data
}

func binaryData(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		want := everyByte(3<<20 + 7)
		var got bytes.Buffer
		res, err := b.RunStdio(ctx, sandbox.Cmd{Args: []string{"cat"}}, sandbox.Stdio{Stdin: bytes.NewReader(want), Stdout: &got})
		if err != nil {
			return err
		}
		if res.Code != 0 || !bytes.Equal(got.Bytes(), want) {
			return fmt.Errorf("%d bytes came back as %d different ones, code %d", len(want), got.Len(), res.Code)
		}
		return nil
	})
}

func limitOutput(n sandbox.Bytes) func(*sandbox.Spec) {
	return func(s *sandbox.Spec) { s.Policy.Limits.Output = n }
}

func outputCut(ctx context.Context, h Harness) error {
	return inside(ctx, h, limitOutput(1000), func(b box) error {
		res, err := b.sh(ctx, "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 9")
		if err != nil {
			return err
		}
		if n := len(res.Stdout) + len(res.Stderr); !res.Cut || n != 1000 || res.Code != 9 {
			return fmt.Errorf("got %d bytes, cut %v, code %d; want 1000, true, 9", n, res.Cut, res.Code)
		}
		return nil
	})
}

func outputWhole(ctx context.Context, h Harness) error {
	return inside(ctx, h, limitOutput(1000), func(b box) error {
		res, err := b.sh(ctx, "head -c 1000 /dev/zero")
		if err != nil {
			return err
		}
		if res.Cut || string(res.Stdout) != strings.Repeat("\x00", 1000) {
			return fmt.Errorf("got %d bytes, cut %v", len(res.Stdout), res.Cut)
		}
		return nil
	})
}
