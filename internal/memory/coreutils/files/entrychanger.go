package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// entryChanger is the common part of chmod, chown and chgrp.
type entryChanger struct {
	proc   *shell.Proc
	silent bool
}

func (c *entryChanger) warn(err error, format string, args ...any) {
	if !c.silent {
		c.proc.Errorf(err, format, args...)
	}
}

// changeEntries calls change with each entry of a directory, without following links. False: not all were changed.
func (c *entryChanger) changeEntries(dir string, change func(path string, link vfs.Info) bool) bool {
	entries, err := c.proc.ReadDir(dir)
	if err != nil {
		c.warn(err, "cannot read directory %s", shell.Quote(dir))
		return false
	}
	ok := true
	for _, e := range entries {
		if c.proc.Spend(2) != nil {
			return false
		}
		path := pathname.Join(dir, e.Name)
		link, err := c.proc.Lstat(path)
		if err != nil {
			c.warn(err, "cannot access %s", shell.Quote(path))
			ok = false
			continue
		}
		ok = change(path, link) && ok
	}
	return ok
}
