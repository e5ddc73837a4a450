package owner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Place identifies the location of a directory: this boot, and the device and inode of each directory above it, "/" first.
// It returns "" if one of them cannot be read.
func Place(dir string) string {
	var all []string
	for up := dir; up != filepath.Dir(up); {
		up = filepath.Dir(up)
		info, err := os.Stat(up)
		if err != nil {
			return ""
		}
		all = append(all, inode(info))
	}
	slices.Reverse(all)
	return bootID() + " " + strings.Join(all, ",")
}

func inode(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// IsRemoved reports whether a directory with a location of Place was removed. A missing directory may also be in another
// mount namespace or on a disk that is not mounted: so the nearest existing directory above must be the same as before.
func IsRemoved(dir, place string) bool {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || !filepath.IsAbs(dir) {
		return false
	}
	when, all, _ := strings.Cut(place, " ")
	above := strings.Split(all, ",")
	up := filepath.Clean(dir)
	for at := strings.Count(up, "/") - 1; at >= 0 && at < len(above); at-- {
		up = filepath.Dir(up)
		info, err := os.Stat(up)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return err == nil && isSameInode(above[at], inode(info), when == bootID())
	}
	return false
}

// isSameInode compares two results of inode. Devices may have other numbers after a boot.
func isSameInode(was, is string, sameBoot bool) bool {
	if sameBoot {
		return was == is
	}
	_, wasIno, ok := strings.Cut(was, ":")
	_, isIno, _ := strings.Cut(is, ":")
	return ok && wasIno == isIno
}
