package listing

import (
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// lsWidths are the widths of the columns of a long listing.
type lsWidths struct {
	inode, blocks, links, owner, group, author, size, major, minor int
}

// measure finds the widths for the files of one directory.
func (l *lsLister) measure(files []*lsFile) {
	var w lsWidths
	wider := func(n *int, s string) { *n = max(*n, utf8.RuneCountInString(s)) }
	for _, f := range files {
		if l.inode {
			wider(&w.inode, l.inodeOf(f))
		}
		if l.blocks {
			wider(&w.blocks, l.blocksOf(f))
		}
		if l.format != formatLong {
			continue
		}
		wider(&w.links, l.linksOf(f))
		if !l.noOwner {
			wider(&w.owner, l.ownerOf(f))
		}
		if !l.noGroup {
			wider(&w.group, l.groupOf(f))
		}
		if l.author {
			wider(&w.author, l.ownerOf(f))
		}
		if f.known && f.mode&fs.ModeDevice != 0 {
			wider(&w.major, accounts.FormatID(vfs.Major(f.info.Rdev)))
			wider(&w.minor, accounts.FormatID(vfs.Minor(f.info.Rdev)))
			w.size = max(w.size, w.major+2+w.minor)
		} else {
			wider(&w.size, l.sizeOf(f))
		}
	}
	l.widths = w
}

// unknown stands for what could not be found out.
func (f *lsFile) unknown(s string) string {
	if f.failed {
		return "?"
	}
	return s
}

func (l *lsConfig) inodeOf(f *lsFile) string { return f.unknown(strconv.FormatUint(f.ino, 10)) }

func (l *lsConfig) blocksOf(f *lsFile) string {
	return f.unknown(l.blockUnit.Show(f.info.Blocks * 512))
}

func (l *lsConfig) linksOf(f *lsFile) string { return f.unknown(strconv.Itoa(f.info.Nlink)) }

func (l *lsConfig) ownerOf(f *lsFile) string {
	if l.numeric {
		return f.unknown(accounts.FormatID(f.info.UID))
	}
	return f.unknown(l.accounts.User(f.info.UID))
}

func (l *lsConfig) groupOf(f *lsFile) string {
	if l.numeric {
		return f.unknown(accounts.FormatID(f.info.GID))
	}
	return f.unknown(l.accounts.Group(f.info.GID))
}

func (l *lsConfig) sizeOf(f *lsFile) string { return f.unknown(l.sizeUnit.Show(f.info.Size)) }

// writeLong writes one line of a long listing.
func (l *lsLister) writeLong(f *lsFile) {
	l.indent()
	l.putFront(f)
	mode := "??????????"
	if f.known {
		mode = filemode.String(f.mode)
	}
	if f.failed {
		mode = string(typeLetterUnknown(f.mode)) + mode[1:]
	}
	l.put(mode + " " + program.PadLeft(l.linksOf(f), l.widths.links) + " ")
	if !l.noOwner {
		l.putAccount(f, l.ownerOf(f), l.widths.owner)
	}
	if !l.noGroup {
		l.putAccount(f, l.groupOf(f), l.widths.group)
	}
	if l.author {
		l.putAccount(f, l.ownerOf(f), l.widths.author)
	}
	if l.context {
		l.put("? ")
	}
	if f.known && f.mode&fs.ModeDevice != 0 {
		l.put(program.PadLeft(accounts.FormatID(vfs.Major(f.info.Rdev)), l.widths.size-2-l.widths.minor) + ", " +
			program.PadLeft(accounts.FormatID(vfs.Minor(f.info.Rdev)), l.widths.minor) + " ")
	} else {
		l.put(program.PadLeft(l.sizeOf(f), l.widths.size) + " ")
	}
	l.put(l.timeText(f) + " ")
	start := l.offset.at
	l.putName(f)
	l.offset.name(start)
	if f.linkShown {
		l.put(" -> ")
		l.putTarget(f)
	} else if l.indicator != indicateNone {
		l.put(indicate(l.indicator, f.mode, f.known || !f.failed))
	}
}

func typeLetterUnknown(m fs.FileMode) byte {
	if m.IsRegular() {
		return '?'
	}
	return filemode.TypeLetter(m)
}

// putAccount writes a name to the left of its column, a number to the right.
func (l *lsLister) putAccount(f *lsFile, name string, width int) {
	if number := name != "" && strings.Trim(name, "0123456789") == ""; number && !f.failed {
		l.put(program.PadLeft(name, width) + " ")
		return
	}
	l.put(name + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(name))) + " ") // bounded: by the longest name of an account
}

// timeText is the time of a file; old ones and those of the future show the year.
func (l *lsConfig) timeText(f *lsFile) string {
	t := l.time.Of(&f.info)
	if f.failed || t.IsZero() {
		return program.PadLeft("?", utf8.RuneCountInString(strftime.Format(l.timeFormats[0], l.now.In(l.zone))))
	}
	if t.After(l.now) {
		l.now = l.proc.Now()
	}
	format := l.timeFormats[0]
	if t.After(l.now.Add(-filetime.HalfYear)) && t.Before(l.now) {
		format = l.timeFormats[1]
	}
	return strftime.Format(format, t.In(l.zone))
}

// putTarget writes the target of a link, in the color and with the mark of the target.
func (l *lsLister) putTarget(f *lsFile) {
	color := ""
	if l.colors != nil {
		color = l.colors.ofTarget(f)
	}
	l.putColored(l.quoteName(f.target), color)
	if l.indicator > indicateDirs && f.leadsOK {
		l.put(indicate(l.indicator, f.leads, true))
	}
}

// indicate returns the mark for a file.
func indicate(kind indicator, m fs.FileMode, known bool) string {
	if m.IsDir() {
		return "/"
	}
	if kind == indicateDirs {
		return ""
	}
	switch {
	case m&fs.ModeSymlink != 0:
		return "@"
	case m&fs.ModeNamedPipe != 0:
		return "|"
	case m&fs.ModeSocket != 0:
		return "="
	case known && kind == indicateAll && m.IsRegular() && m&0o111 != 0:
		return "*"
	}
	return ""
}
