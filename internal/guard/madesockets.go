//go:build linux

package guard

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// madeSockets are the files of the Unix sockets that commands have bound, wherever these files are: commands may connect to
// them. Each is an open descriptor, so that no other file gets its inode number, and comes from the socket itself: what is at
// the path a moment after bind(2) may be another socket, one of the host. The zero value is ready for use.
type madeSockets struct {
	mu    sync.Mutex // connects run beside Serve
	files []int      // opened with O_PATH, the oldest first
}

// maxMadeSockets bounds the descriptors, because commands can create any number of sockets. Connections to the oldest are
// refused when there are more.
const maxMadeSockets = 256

// siocunixfile returns the file to which a Unix socket is bound, opened with O_PATH (linux/un.h). It needs CAP_NET_ADMIN in the
// user namespace that owns the socket's network namespace: the guard has it over a network of the sandbox's own, and has it not
// inside a container or as a plain user with the host's network.
const siocunixfile = 0x89e0

// add adds the file of a socket that was bound, if the kernel tells which one it is.
func (s *madeSockets) add(sock int) {
	file, err := unix.IoctlRetInt(sock, siocunixfile)
	if err != nil {
		return // an abstract name, or a kernel that does not tell: connections are refused
	}
	unix.CloseOnExec(file)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) >= maxMadeSockets {
		s.files = slices.DeleteFunc(s.files, func(fd int) bool {
			var st unix.Stat_t
			if unix.Fstat(fd, &st) == nil && st.Nlink > 0 {
				return false
			}
			_ = unix.Close(fd)
			return true
		})
	}
	if len(s.files) >= maxMadeSockets {
		_ = unix.Close(s.files[0])
		s.files = slices.Delete(s.files, 0, 1)
	}
	s.files = append(s.files, file)
}

// has reports whether a descriptor is of one of the files.
func (s *madeSockets) has(fd int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.files, func(file int) bool { return isSameFile(file, fd) })
}

func (s *madeSockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fd := range s.files {
		_ = unix.Close(fd)
	}
	s.files = nil
}
