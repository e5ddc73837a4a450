package listing

import (
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// file returns the value of a directive for a file.
func (j *statJob) file(c statDirective, name string, i vfs.Info) (string, bool) {
	if s, ok := c.fileNumber(i); ok {
		return s, true
	}
	switch c.verb {
	case 'A':
		return c.text(filemode.String(i.Mode)), true
	case 'C':
		return c.text("?"), true
	case 'F':
		return c.text(filemode.TypeName(i.Mode, i.Size)), true
	case 'G':
		return c.text(knownName(j.accounts.Group(i.GID))), true
	case 'U':
		return c.text(knownName(j.accounts.User(i.UID))), true
	case 'm':
		return c.text("/"), true
	case 'n':
		return c.text(name), true
	case 'N':
		return c.text(j.quotedName(name, i)), true
	case 'w', 'x', 'y', 'z':
		return c.text(j.when(statTime(c.verb, i))), true
	case 'W', 'X', 'Y', 'Z':
		return c.seconds(statTime(c.verb|0x20, i)), true
	}
	return "", false
}

// knownName returns the placeholder for an owner without a name.
func knownName(s string) string {
	if strings.Trim(s, "0123456789") == "" {
		return "UNKNOWN"
	}
	return s
}

// fileNumber is a directive for a number.
func (c statDirective) fileNumber(i vfs.Info) (string, bool) {
	major, minor := uint64(vfs.Major(i.Rdev)), uint64(vfs.Minor(i.Rdev))
	switch c.verb {
	case 'a':
		return c.number(uint64(filemode.Bits(i.Mode)), "o"), true
	case 'b':
		return c.number(uint64(i.Blocks), "d"), true
	case 'B':
		return c.number(512, "d"), true
	case 'd', 'r':
		device := i.Rdev
		if c.verb == 'd' {
			device = filesystem.DeviceNumber
		}
		switch c.which {
		case 'H':
			device = uint64(vfs.Major(device))
		case 'L':
			device = uint64(vfs.Minor(device))
		}
		return c.number(device, "d"), true
	case 'D':
		return c.number(filesystem.DeviceNumber, "x"), true
	case 'R':
		return c.number(i.Rdev, "x"), true
	case 'f':
		return c.number(uint64(filemode.TypeBits(i.Mode)|filemode.Bits(i.Mode)), "x"), true
	case 'g':
		return c.number(uint64(i.GID), "d"), true
	case 'u':
		return c.number(uint64(i.UID), "d"), true
	case 'h':
		return c.number(uint64(max(0, i.Nlink)), "d"), true
	case 'i':
		return c.number(i.Ino, "d"), true
	case 'o':
		return c.number(filesystem.BlockSize, "d"), true
	case 's':
		return c.number(uint64(i.Size), "d"), true
	case 't':
		return c.number(major, "x"), true
	case 'T':
		return c.number(minor, "x"), true
	}
	return "", false
}

// quotedName is %N: the name, and where a link leads.
func (j *statJob) quotedName(name string, i vfs.Info) string {
	style := quoting.ShellEscapeAlways
	if !j.given {
		style = quoting.Literal
	}
	if given, ok, _ := choice.Find(quoting.Styles, j.proc.Getenv("QUOTING_STYLE")); ok && j.given && j.proc.Getenv("QUOTING_STYLE") != "" {
		style = given
	}
	s := quoting.Quote(name, style, "")
	if i.Mode&fs.ModeSymlink != 0 {
		if target, err := j.proc.Readlink(name); err == nil {
			s += " -> " + quoting.Quote(target, style, "")
		}
	}
	return s
}

func statTime(verb byte, i vfs.Info) time.Time {
	switch verb {
	case 'w':
		return time.Time{}
	case 'x':
		return i.Atime
	case 'z':
		return i.Ctime
	}
	return i.Mtime
}

func (j *statJob) when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return strftime.Format("%Y-%m-%d %H:%M:%S.%N %z", t.In(program.Zone(j.proc)))
}

// seconds is a time in seconds, with the fraction that the precision asks for.
func (c statDirective) seconds(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	s := strconv.FormatInt(t.Unix(), 10)
	if c.precision != "" {
		n := 9
		if len(c.precision) > 1 {
			n, _ = strconv.Atoi(c.precision[1:]) // The parser accepts only a few digits.
		}
		if fraction := strconv.Itoa(t.Nanosecond() + 1e9)[1:]; n > 9 {
			s += "." + fraction + strings.Repeat("0", n-9) // bounded: by the digits that the parser accepts
		} else if n > 0 {
			s += "." + fraction[:n]
		}
	}
	width, _ := strconv.Atoi(c.width) // The same.
	missing := max(0, width-len(s))
	switch {
	case strings.Contains(c.flags, "-"):
		return s + strings.Repeat(" ", missing) // bounded: by the digits that the parser accepts
	case strings.Contains(c.flags, "0"):
		return strings.Repeat("0", missing) + s // bounded: by the digits that the parser accepts
	}
	return strings.Repeat(" ", missing) + s // bounded: by the digits that the parser accepts
}

// system returns the value of a directive for the file system.
func (c statDirective) system(name string, s filesystem.Space) (string, bool) {
	switch c.verb {
	case 'a', 'f':
		return c.number(uint64(s.Free/filesystem.BlockSize), "d"), true
	case 'b':
		return c.number(uint64(s.Total/filesystem.BlockSize), "d"), true
	case 'c':
		return c.number(uint64(s.Nodes), "d"), true
	case 'd':
		return c.number(uint64(s.NodesFree), "d"), true
	case 'i':
		return c.number(filesystem.DeviceNumber, "x"), true
	case 'l':
		return c.number(255, "d"), true
	case 'n':
		return c.text(name), true
	case 's', 'S':
		return c.number(filesystem.BlockSize, "d"), true
	case 't':
		return c.number(0x01021994, "x"), true
	case 'T':
		return c.text(filesystem.Type), true
	}
	return "", false
}
