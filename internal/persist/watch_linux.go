package persist

import (
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// What F_NOTIFY is asked for, by <linux/fcntl.h>.
const (
	dnDelete    = 0x00000008
	dnMultishot = 0x80000000
)

// watch returns a channel that is closed when a record is deleted, and not when its directory gets another name. A system that cannot tell is no error: then it is never closed.
//
// It asks for DN_DELETE (F_NOTIFY in fcntl(2)) and not inotify(7), of which a user has 128 by default: as many
// sandboxes would leave none to his editor. It looks for the record in the directory: that itself stays as long as the lock
// in it is open, which is for ever.
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
	go func() { // lives as long as the process
		defer dir.Close()
		for !deleted() {
			<-told
		}
		close(gone)
	}()
	return gone, nil
}
