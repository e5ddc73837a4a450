package persist

import (
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Arguments of F_NOTIFY (<linux/fcntl.h>).
const (
	dnDelete    = 0x00000008
	dnMultishot = 0x80000000
)

// watch returns a channel that is closed when the record is deleted, but not when its directory is renamed. It is never
// closed on a system without F_NOTIFY.
//
// It uses DN_DELETE (F_NOTIFY in fcntl(2)) and not inotify(7), of which a user has 128 instances by default: as many
// sandboxes would leave none for an editor. It watches the record and not the directory, which exists as long as its
// lock file is open.
func (s Store) watch(id string) (<-chan struct{}, error) {
	dir, err := os.Open(s.dir(id))
	if err != nil {
		return nil, err
	}
	deleted := func() bool {
		var st unix.Stat_t
		return errors.Is(unix.Fstatat(int(dir.Fd()), recordFile, &st, unix.AT_SYMLINK_NOFOLLOW), unix.ENOENT)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGIO)
	gone := make(chan struct{})
	if _, err := unix.FcntlInt(dir.Fd(), unix.F_NOTIFY, dnDelete|dnMultishot); err != nil {
		signal.Stop(told)
		return gone, dir.Close()
	}
	go func() { // exists as long as the process
		defer dir.Close()
		for !deleted() {
			<-told
		}
		close(gone)
	}()
	return gone, nil
}
