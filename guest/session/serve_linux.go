package session

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Serve is the guest's end: it runs what the host asks for until the connection ends, and
// kills everything then.
func Serve(conn io.ReadWriteCloser, o Options) error {
	if err := CloseOnExec(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := greet(context.Background(), conn); err != nil {
		return err
	}
	runners := newRunners(o.Runner)
	runners.prepare()
	err := accept(conn, func(a *asked) {
		if a.req.Op != "" || a.req.Dir == "" {
			a.refuse(sandbox.Errorf(sandbox.Unsupported, "the guest only runs commands, in a directory that it is told"))
			return
		}
		if o.Inside != nil {
			if run, ok := o.Inside(plainStrings(a.req.Args), a.req.Dir); ok {
				serveInside(a, run)
				return
			}
		}
		c := &command{runners: runners, asked: a}
		c.serve()
	})
	runners.killAll()
	return err
}

// serveInside runs what the guest is itself.
func serveInside(a *asked, run func(in io.Reader, out, errs io.Writer) int) {
	var input io.Reader = eof{}
	if a.in != nil {
		input = a.in
	}
	if a.out.frame(frameBegun, make([]byte, 4)) != nil {
		return
	}
	code := run(input, a.out.kind(frameOutput), a.out.kind(frameErrors))
	_ = a.out.frame(frameExit, exitFrame(code, 0)) // the host is gone, and with it who would want to know
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// files closes several files at once.
type files []*os.File

func (f files) close() {
	for _, file := range f {
		if file != nil {
			_ = file.Close()
		}
	}
}

var errGone = errors.New("the runner is gone")
