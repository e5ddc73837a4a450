package listing

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/versionorder"
)

// sortFiles brings the files into the order that is asked for.
func (l *lsConfig) sortFiles(files []*lsFile) {
	if l.sort == sortNone {
		return
	}
	compare := l.comparison()
	slices.SortStableFunc(files, func(a, b *lsFile) int {
		if l.dirsFirst {
			if x, y := a.isLikeDir(), b.isLikeDir(); x != y {
				if x {
					return -1
				}
				return 1
			}
		}
		if l.reverse {
			a, b = b, a
		}
		if c := compare(a, b); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
}

// isLikeDir reports whether the file is a directory or leads to one.
func (f *lsFile) isLikeDir() bool {
	return f.dir() || f.mode&fs.ModeSymlink != 0 && f.leadsOK && f.leads.IsDir()
}

func (l *lsConfig) comparison() func(a, b *lsFile) int {
	switch l.sort {
	case sortSize:
		return func(a, b *lsFile) int { return cmp.Compare(b.info.Size, a.info.Size) }
	case sortTime:
		return func(a, b *lsFile) int { return l.time.Of(&b.info).Compare(l.time.Of(&a.info)) }
	case sortVersion:
		return func(a, b *lsFile) int { return versionorder.Compare(a.name, b.name) }
	case sortExtension:
		return func(a, b *lsFile) int { return strings.Compare(extension(a.name), extension(b.name)) }
	case sortWidth:
		return func(a, b *lsFile) int { return cmp.Compare(a.width, b.width) }
	default:
		return func(a, b *lsFile) int { return strings.Compare(a.name, b.name) }
	}
}

// extension returns a name from its last dot on.
func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}
