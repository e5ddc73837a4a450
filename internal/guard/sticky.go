//go:build linux

package guard

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sticky are the settings fs.protected_symlinks, fs.protected_fifos and fs.protected_regular (proc_sys_fs(5)): in a directory
// with the sticky bit, a process does not follow links and does not open files of other users with O_CREAT. The kernel
// applies them to the process that opens. The guard opens existing files without O_CREAT and follows the last link itself,
// so it applies them to its targets.
type sticky struct{ symlinks, fifos, regular int }

// readSticky returns the settings of this machine. One that cannot be read is 0.
func readSticky() sticky {
	read := func(name string) int {
		data, err := os.ReadFile("/proc/sys/fs/" + name)
		if err != nil {
			return 0
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(data))) // the kernel writes a number
		return n
	}
	return sticky{read("protected_symlinks"), read("protected_fifos"), read("protected_regular")}
}

// concerns reports whether a setting may refuse to open a file in dir.
func (s sticky) concerns(dir int) bool {
	if s.fifos == 0 && s.regular == 0 {
		return false
	}
	var st unix.Stat_t
	return unix.Fstat(dir, &st) != nil || st.Mode&unix.S_ISVTX != 0
}

// refusesOpen reports whether a process with the file system ID uid must not open the file of the descriptor pin, which is
// in dir, with O_CREAT.
func (s sticky) refusesOpen(dir, pin, uid int) bool {
	var directory, file unix.Stat_t
	if unix.Fstat(dir, &directory) != nil || unix.Fstat(pin, &file) != nil {
		return true
	}
	return s.refusesFile(directory, file, uid)
}

func (s sticky) refusesFile(dir, file unix.Stat_t, uid int) bool {
	setting := 0
	switch file.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		setting = s.regular
	case unix.S_IFIFO:
		setting = s.fifos
	}
	switch {
	case setting == 0, dir.Mode&unix.S_ISVTX == 0, file.Uid == dir.Uid, int(file.Uid) == uid:
		return false
	case dir.Mode&unix.S_IWOTH != 0:
		return true
	}
	const alsoGroups = 2
	return setting >= alsoGroups && dir.Mode&unix.S_IWGRP != 0
}

// refusesFollow reports whether a process with the file system ID uid must not follow the link e.
func (s sticky) refusesFollow(e entry, uid int) bool {
	if s.symlinks == 0 {
		return false
	}
	var dir, link unix.Stat_t
	if unix.Fstat(e.dir, &dir) != nil || unix.Fstatat(e.dir, e.name, &link, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return true
	}
	return s.refusesLink(dir, link, uid)
}

func (s sticky) refusesLink(dir, link unix.Stat_t, uid int) bool {
	const shared = unix.S_ISVTX | unix.S_IWOTH
	return s.symlinks != 0 && int(link.Uid) != uid && dir.Mode&shared == shared && link.Uid != dir.Uid
}
