// Package filetime selects one of the times of a file.
package filetime

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Kind is one of the times of a file.
type Kind uint8

// The times of a file.
const (
	Modify Kind = iota // of the content
	Access             // of the last reading
	Change             // of the content or the attributes
	Birth              // of the file; the tree does not have it
)

// HalfYear is the age from which ls shows the year in place of the time of day.
const HalfYear = 31556952 / 2 * time.Second

// Of returns the time of a file. The tree keeps no time of birth; the zero time stands for it.
func (k Kind) Of(i *vfs.Info) time.Time {
	switch k {
	case Access:
		return i.Atime
	case Change:
		return i.Ctime
	case Birth:
		return time.Time{}
	default:
		return i.Mtime
	}
}
