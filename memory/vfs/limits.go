package vfs

import "time"

// Limits bound a tree. In each field zero stands for the default and a negative
// number for no limit.
type Limits struct {
	Bytes     int64 // content of all files; default 100 MiB; past it ENOSPC
	FileBytes int64 // size of one file; default 10 MiB; past it EFBIG
	Nodes     int   // names and inodes, the root too; default 10000; past it ENOSPC
}

// The defaults of [Limits].
const (
	DefaultBytes     = 100 << 20
	DefaultFileBytes = 10 << 20
	DefaultNodes     = 10000
)

const (
	endless = int64(1) << 62 // no limit
	maxLink = 65000          // links of one inode, as on ext4
)

// Options are for [New]; the zero value is useful.
type Options struct {
	Limits Limits
	Now    func() time.Time // the clock; nil: time.Now
	Random func(p []byte)   // fills p for /dev/random and /dev/urandom; nil: crypto/rand
	// NoAtime leaves times of access as they are. Without it reading sets them as
	// Linux does by default (relatime): when they are older than the last change or a day.
	NoAtime bool
}

// limits are Limits with every field filled in.
type limits struct{ bytes, file, nodes int64 }

func (l Limits) resolve() limits {
	or := func(n, fallback int64) int64 {
		switch {
		case n < 0:
			return endless
		case n == 0:
			return fallback
		}
		return min(n, endless)
	}
	return limits{or(l.Bytes, DefaultBytes), or(l.FileBytes, DefaultFileBytes), or(int64(l.Nodes), DefaultNodes)}
}

// Usage is what a tree holds. What it shares with snapshots and forks counts in full
// for each of them. Files that are unlinked but open count too.
type Usage struct {
	Bytes  int64 // content: the sizes of files without their holes of 64 KiB and more, and of links' targets
	Nodes  int   // inodes, and names beyond an inode's first
	Limits Limits
}
