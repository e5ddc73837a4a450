//go:build linux

package fuzz_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// watcher records the protected names that appear for a moment.
type watcher struct {
	w      *world
	fd     int
	end    [2]int // a pipe
	before map[string]string
	dirs   map[int32]string
	seen   []violation
	done   sync.WaitGroup
}

const watched = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_ONLYDIR

// watch watches the trees for commands until stop is called.
func (w *world) watch(before map[string]string) *watcher {
	w.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	w.must(err)
	v := &watcher{w: w, fd: fd, before: before, dirs: map[int32]string{}}
	w.must(unix.Pipe2(v.end[:], unix.O_CLOEXEC))
	for path, text := range before {
		if strings.HasPrefix(text, "mode 4") {
			v.add(path)
		}
	}
	v.done.Go(v.run)
	return v
}

// add watches the directory at a path without symbolic links, and returns its entries.
func (v *watcher) add(path string) []os.DirEntry {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return nil
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	if n, err := unix.InotifyAddWatch(v.fd, fmt.Sprintf("/proc/self/fd/%d", fd), watched); err == nil {
		v.dirs[int32(n)] = path
	}
	entries, _ := dir.ReadDir(-1)
	return entries
}

// enter watches a directory that was created or moved, and its existing entries.
func (v *watcher) enter(path string) {
	for _, e := range v.add(path) {
		v.look(filepath.Join(path, e.Name()))
		if e.IsDir() {
			v.enter(filepath.Join(path, e.Name()))
		}
	}
}

// leave forgets the paths of a directory that has moved.
func (v *watcher) leave(path string) {
	for n, dir := range v.dirs {
		if within(dir, path) {
			delete(v.dirs, n)
		}
	}
}

func (v *watcher) run() {
	buf := make([]byte, 64<<10)
	for {
		fds := []unix.PollFd{{Fd: int32(v.fd), Events: unix.POLLIN}, {Fd: int32(v.end[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		n, _ := unix.Read(v.fd, buf)
		v.read(buf[:max(n, 0)])
		if n <= 0 && fds[1].Revents != 0 {
			return
		}
	}
}

// read processes the events.
func (v *watcher) read(events []byte) {
	for len(events) >= unix.SizeofInotifyEvent {
		dir := v.dirs[int32(binary.NativeEndian.Uint32(events))]
		mask, size := binary.NativeEndian.Uint32(events[4:]), binary.NativeEndian.Uint32(events[12:])
		name := strings.TrimRight(string(events[unix.SizeofInotifyEvent:][:size]), "\x00")
		events = events[unix.SizeofInotifyEvent+size:]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			v.note(missed, "more events than the kernel stores")
		}
		if dir == "" || name == "" {
			continue
		}
		path := filepath.Join(dir, name)
		switch {
		case mask&unix.IN_MOVED_FROM != 0:
			v.leave(path)
			continue
		case mask&unix.IN_ISDIR != 0:
			v.enter(path)
		}
		v.look(path)
	}
}

// look records a protected path that has appeared.
func (v *watcher) look(path string) {
	if !v.w.isProtected(path) {
		return
	}
	v.note(visible, fmt.Sprintf("%q was there", path))
}

func (v *watcher) note(kind, text string) {
	if len(v.seen) < 20 {
		v.seen = append(v.seen, violation{kind, text})
	}
}

// stop ends the watch and returns the recorded paths.
func (v *watcher) stop() []violation {
	_, _ = unix.Write(v.end[1], []byte{0})
	v.done.Wait()
	for _, fd := range []int{v.fd, v.end[0], v.end[1]} {
		_ = unix.Close(fd)
	}
	return v.seen
}
