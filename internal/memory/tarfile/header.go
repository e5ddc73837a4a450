// Package tarfile reads and writes tar archives as GNU tar 1.34 does, member by member:
// unlike archive/tar it shows the real content of an archive (member by member as they
// are stored, holes as holes, damaged headers as such), and writes the same bytes as GNU tar.
package tarfile

import (
	"errors"
	"time"
)

// BlockSize is the unit of archives.
const BlockSize = 512

// Format is a way to write headers.
type Format uint8

// The formats. A reader takes all of them.
const (
	GNU    Format = iota
	OldGNU        // GNU before 1.12
	Ustar         // POSIX 1003.1-1988
	Pax           // POSIX 1003.1-2001
	V7            // of old Unix
)

// Type is the type of a member.
type Type byte

// The types of members.
const (
	Regular    Type = '0'
	OldRegular Type = 0
	Link       Type = '1'
	Symlink    Type = '2'
	Char       Type = '3'
	Block      Type = '4'
	Dir        Type = '5'
	Fifo       Type = '6'
	Contiguous Type = '7'
	DumpDir    Type = 'D' // of an incremental archive
	Continued  Type = 'M' // the rest of a member of another volume
	Sparse     Type = 'S'
	Volume     Type = 'V' // a label

	longLink  Type = 'K'
	longName  Type = 'L'
	paxHeader Type = 'x'
	paxGlobal Type = 'g'
)

// Run is a part of a file that is not a hole.
type Run struct{ Off, Size int64 }

// Header describes a member.
type Header struct {
	Name, Link  string
	Type        Type
	Mode        uint32 // twelve bits
	UID, GID    uint32
	User, Group string // empty: not known
	Size        int64  // of the file, holes included
	Mtime       time.Time
	Atime       time.Time // zero: not known
	Ctime       time.Time // zero: not known

	Major, Minor uint32
	// Runs are the data of a file with holes; Holes says that it has holes. Stored is the size
	// of all runs, and that of a file without holes.
	Runs   []Run
	Holes  bool
	Stored int64

	// Format is that of the header; a reader sets it.
	Format Format
	// Unknown are keywords of extended headers that mean nothing to this package.
	Unknown []string
	// Block is the number of the first block of the member, from 0; a reader sets it.
	Block int64
}

// Faults of an archive.
var (
	// ErrHeader means that a block is not a header where one was expected. The next Next looks for one.
	ErrHeader = errors.New("not a header")
	// ErrTruncated is an end within a member.
	ErrTruncated = errors.New("unexpected end of archive")
	// ErrLarge is an extension that is larger than any real one.
	ErrLarge = errors.New("header too large")
	// ErrMalformed is an extension that makes no sense.
	ErrMalformed = errors.New("malformed extended header")
)
