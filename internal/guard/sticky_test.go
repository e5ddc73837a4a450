//go:build linux

package guard

import (
	"testing"

	"golang.org/x/sys/unix"
)

func Test_Files_Of_Others_In_Sticky_Directories_Are_Refused_As_The_Kernel_Does(t *testing.T) {
	const me, other, owner = 1000, 1001, 0
	on, groups := sticky{1, 1, 1}, sticky{1, 2, 2}
	for _, tt := range []struct {
		name    string
		setting sticky
		dirMode uint32
		kind    uint32
		of      uint32
		want    bool
	}{
		{"another's file", on, unix.S_ISVTX | 0o777, unix.S_IFREG, other, true},
		{"another's FIFO", on, unix.S_ISVTX | 0o777, unix.S_IFIFO, other, true},
		{"another's link", on, unix.S_ISVTX | 0o777, unix.S_IFLNK, other, true},
		{"the settings are off", sticky{}, unix.S_ISVTX | 0o777, unix.S_IFREG, other, false},
		{"links, and the setting is off", sticky{0, 1, 1}, unix.S_ISVTX | 0o777, unix.S_IFLNK, other, false},
		{"an own file", on, unix.S_ISVTX | 0o777, unix.S_IFREG, me, false},
		{"an own link", on, unix.S_ISVTX | 0o777, unix.S_IFLNK, me, false},
		{"a file of the directory's owner", on, unix.S_ISVTX | 0o777, unix.S_IFREG, owner, false},
		{"a link of the directory's owner", on, unix.S_ISVTX | 0o777, unix.S_IFLNK, owner, false},
		{"without the sticky bit", on, 0o777, unix.S_IFREG, other, false},
		{"a link without the sticky bit", on, 0o777, unix.S_IFLNK, other, false},
		{"a directory of a group", on, unix.S_ISVTX | 0o775, unix.S_IFREG, other, false},
		{"a directory of a group, stricter", groups, unix.S_ISVTX | 0o775, unix.S_IFIFO, other, true},
		{"a directory of one user", groups, unix.S_ISVTX | 0o755, unix.S_IFREG, other, false},
		{"a device", on, unix.S_ISVTX | 0o777, unix.S_IFCHR, other, false},
	} {
		dir, file := unix.Stat_t{Mode: unix.S_IFDIR | tt.dirMode, Uid: owner}, unix.Stat_t{Mode: tt.kind | 0o666, Uid: tt.of}
		got := tt.setting.refusesFile(dir, file, me)
		if tt.kind == unix.S_IFLNK {
			got = tt.setting.refusesLink(dir, file, me)
		}
		if got != tt.want {
			t.Errorf("%s: refused %v, want %v", tt.name, got, tt.want)
		}
	}
}
