package shell

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// ProcOptions describes a process for the test of a command without a script. Zero
// fields: an empty file system with /tmp, root's rights, directory "/", no input, output that is lost.
type ProcOptions struct {
	FS       *vfs.FS
	Cred     vfs.Cred
	Args     []string // at least the name
	Env      []string
	Dir      string
	Umask    fs.FileMode
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Commands []Command // what Run finds besides
	Limits   Limits
	Now      func() time.Time
	Seed     uint64 // 0: another one each time
}

// NewProc returns a process that no shell has started. It ends when ctx does.
func NewProc(ctx context.Context, o ProcOptions) *Proc {
	s := New(Options{
		FS: o.FS, Cred: o.Cred, Env: o.Env, Dir: o.Dir, Commands: o.Commands, Limits: o.Limits, Umask: o.Umask, Now: o.Now, Seed: o.Seed,
	})
	s.sh.umask = o.Umask
	run, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(run, s.stop)
	s.m.begin(run, cancel)
	s.sh.begin(run, Script{}, Stdio{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr})
	p := s.sh.proc(o.Args)
	p.env = o.Env
	if p.env == nil {
		p.env = []string{}
	}
	return p
}
