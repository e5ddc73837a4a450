package coreutils

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// localZone returns the time zone of a process: that of TZ, or UTC.
func localZone(p *shell.Proc) *time.Location { return zone.Load(p.Getenv("TZ")) }

// of returns the time of a file. The tree keeps no time of birth; the zero time stands for it.
func (k fileTime) of(i *vfs.Info) time.Time {
	switch k {
	case timeAccess:
		return i.Atime
	case timeChange:
		return i.Ctime
	case timeBirth:
		return time.Time{}
	default:
		return i.Mtime
	}
}
