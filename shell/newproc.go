package shell

import (
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/vfs"
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
	Seed     uint64
}

// NewProc returns a process that no shell has started. Its end is ctx's.
func NewProc(ctx context.Context, o ProcOptions) *Proc {
	if o.FS == nil {
		o.FS = vfs.New(vfs.Options{Now: o.Now})
		// An empty tree takes a directory; root's rights do not matter for it.
		_ = o.FS.Mkdir(vfs.Cred{}, "/tmp", 0o777|fs.ModeSticky)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &machine{
		fs: o.FS, now: o.Now, limits: o.Limits.withDefaults(), commands: byName(o.Commands),
		rand: rand.New(rand.NewPCG(o.Seed, 0)), //nolint:gosec // A test's numbers are to repeat.
	}
	m.fuel.Store(m.limits.Fuel)
	sh := &interp{m: m, cred: o.Cred, dir: o.Dir, umask: o.Umask}
	if sh.dir == "" {
		sh.dir = "/"
	}
	p := &Proc{Args: o.Args, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, sh: sh, env: o.Env, ctx: ctx}
	if p.env == nil {
		p.env = []string{}
	}
	if p.Stdin == nil {
		p.Stdin = strings.NewReader("")
	}
	if p.Stdout == nil {
		p.Stdout = io.Discard
	}
	if p.Stderr == nil {
		p.Stderr = io.Discard
	}
	return p
}
