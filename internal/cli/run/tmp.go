package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
)

// toldFile is the file, below agent-sandbox's data directory, that exists when the user has seen the remark about /tmp.
const toldFile = "told-tmp"

// tmpRemark tells a user once that the files in /tmp end with the sandbox. A nil one is valid and tells nothing.
type tmpRemark struct {
	file string
	left atomic.Bool
}

// newTmpRemark returns nil for who has seen the remark, or would not see it now.
func newTmpRemark(a *console.App, h host.Host, f *execFlags) *tmpRemark {
	if f.quiet || f.json || !console.IsTerminal(a.Stdio.Stderr) {
		return nil
	}
	file := filepath.Join(h.Data, toldFile)
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &tmpRemark{file: file}
}

// hook returns the function to call when a command has left files.
func (r *tmpRemark) hook() func() {
	if r == nil {
		return nil
	}
	return func() { r.left.Store(true) }
}

// print prints the remark if a command has left files, and no other process has printed it meanwhile.
func (r *tmpRemark) print(a *console.App) {
	if r == nil || !r.left.Load() {
		return
	}
	f, err := os.OpenFile(r.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // it could not be told once only
	}
	_ = f.Close() // nothing was written
	a.Err.Say("the files that the command left in /tmp are gone with the sandbox; --tmp keep keeps them for the next run in this directory")
}
