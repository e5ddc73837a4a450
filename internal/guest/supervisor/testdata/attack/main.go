// Command attack tries what the guard inside a container refuses, as a command would, and prints what came of each
// attempt as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "race" {
		race(os.Args[2])
		return
	}
	results := map[string]string{}
	for name, try := range attempts(os.Args[1]) {
		results[name] = outcome(try())
	}
	_ = json.NewEncoder(os.Stdout).Encode(results)
}

func outcome(err error) string {
	var errno unix.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// attempts are the attacks that are tried in the workspace ws.
func attempts(ws string) map[string]func() error {
	in := func(name string) string { return filepath.Join(ws, name) }
	fresh := 0
	file := func() string {
		fresh++
		path := in("plain" + strconv.Itoa(fresh))
		must(os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
		return path
	}
	all := map[string]func() error{
		"mkdir":             func() error { return unix.Mkdir(in(".husky"), 0o755) },
		"mkdir in capitals": func() error { return unix.Mkdir(in(".HUSKY"), 0o755) },
		"mkdir by cwd":      func() error { return unix.Mkdir("/proc/self/cwd/.husky", 0o755) },
		"mkdir by thread":   func() error { return unix.Mkdir("/proc/thread-self/cwd/.husky", 0o755) },
		"mkdir by root":     func() error { return unix.Mkdir("/proc/self/root"+in(".husky"), 0o755) },
		"mkdir by pid":      func() error { return unix.Mkdir("/proc/"+strconv.Itoa(os.Getpid())+"/cwd/.husky", 0o755) },
		"create":            func() error { return create(in(".husky")) },
		"link":              func() error { return unix.Link(file(), in(".husky")) },
		"symlink":           func() error { return unix.Symlink("/tmp", in(".husky")) },
		"rename":            func() error { return unix.Rename(file(), in(".husky")) },
		"fifo":              func() error { return unix.Mknod(in(".husky"), unix.S_IFIFO|0o644, 0) },
		"bind":              func() error { return bind(in(".husky")) },
		"openat2":           func() error { return openat2(in(".husky")) },
		"hook by create":    func() error { return create(in(".git/hooks/pre-commit")) },
		"hook by rename":    func() error { return unix.Rename(file(), in(".git/hooks/pre-commit")) },
		"hook by link":      func() error { return unix.Link(file(), in(".git/hooks/pre-commit")) },
		"hook by symlink":   func() error { return unix.Symlink("/tmp/x", in(".git/hooks/pre-commit")) },
		"hook by openat2":   func() error { return openat2(in(".git/hooks/pre-commit")) },
		"hook by bind":      func() error { return bind(in(".git/hooks/pre-commit")) },
		"the hooks away":    func() error { return unix.Rename(in(".git/hooks"), in("away")) },
		"a repository":      func() error { return unix.Mkdir(in("sub/.git"), 0o755) },
		"a bare repository": func() error { return bare(in("bare")) },
		"by a link to it":   byLink(in, ".husky"),
		"by a descriptor":   byDescriptor(ws),
		"host socket":       func() error { return connect(in("late.sock"), unix.SOCK_STREAM) },
		"host socket by link": func() error {
			must(unix.Symlink(in("late.sock"), in("sock")))
			return connect(in("sock"), unix.SOCK_STREAM)
		},
		"datagrams":          func() error { return connect(in("late.sock"), unix.SOCK_DGRAM) },
		"own socket":         own,
		"kill 1":             func() error { return unix.Kill(1, unix.SIGKILL) },
		"stop 1":             func() error { return unix.Kill(1, unix.SIGSTOP) },
		"trace 1":            func() error { return unix.PtraceAttach(1) },
		"memory of 1":        func() error { return open("/proc/1/mem") },
		"descriptors of 1":   func() error { _, err := os.Readlink("/proc/1/fd/0"); return err },
		"descriptor of 1":    descriptorOf1,
		"read 1":             func() error { return readMemory(1) },
		"the runner":         func() error { return open("/proc/" + strconv.Itoa(os.Getppid()) + "/mem") },
		"set-user-ID":        func() error { return os.Chmod(file(), 0o755|os.ModeSetuid) },
		"an ordinary file":   func() error { return create(in("fine")) },
		"a directory":        func() error { return unix.Mkdir(in("dir"), 0o755) },
		"an ordinary rename": func() error { return unix.Rename(file(), in("renamed")) },
	}
	for name, try := range tunings() {
		all[name] = try
	}
	return all
}

// tunings change the limits and the scheduling of processes: of the first one, which is the supervisor, by its
// threads' IDs, too.
func tunings() map[string]func() error {
	thread := 1
	if tasks, err := os.ReadDir("/proc/1/task"); err == nil {
		for _, task := range tasks {
			thread, _ = strconv.Atoi(task.Name()) // the last one
		}
	}
	pid, limit := os.Getpid(), unix.Rlimit{Cur: 64, Max: 64}
	files := func(pid int) error { return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil) }
	call := func(nr, a, b, c uintptr) error {
		if _, _, errno := unix.RawSyscall(nr, a, b, c); errno != 0 {
			return errno
		}
		return nil
	}
	idle := func(pid int) error {
		var priority int32
		err := call(unix.SYS_SCHED_SETSCHEDULER, uintptr(pid), unix.SCHED_IDLE, uintptr(unsafe.Pointer(&priority)))
		runtime.KeepAlive(&priority)
		return err
	}
	const ioIdle = 3 << 13
	one := unix.CPUSet{1}
	return map[string]func() error{
		"limits of 1":          func() error { return files(1) },
		"limits of its thread": func() error { return files(thread) },
		"reading limits of 1":  func() error { return unix.Prlimit(1, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{}) },
		"policy of 1":          func() error { return idle(1) },
		"policy of its thread": func() error { return idle(thread) },
		"attributes of 1": func() error {
			return unix.SchedSetAttr(1, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
		},
		"processors of 1": func() error { return unix.SchedSetaffinity(1, &one) },
		"priority of 1":   func() error { return unix.Setpriority(unix.PRIO_PROCESS, thread, 19) },
		"priority of its group": func() error {
			group, err := unix.Getpgid(1)
			if err == nil && group == 0 {
				return unix.EPERM // the group lies outside, where no ID leads
			}
			return unix.Setpriority(unix.PRIO_PGRP, group, 19)
		},
		"priority of the user": func() error { return unix.Setpriority(unix.PRIO_USER, os.Getuid(), 19) },
		"I/O of 1":             func() error { return call(unix.SYS_IOPRIO_SET, 1, 1, ioIdle) },
		"I/O of the user":      func() error { return call(unix.SYS_IOPRIO_SET, 3, uintptr(os.Getuid()), ioIdle) },
		"own limits":           func() error { return files(pid) },
		"own policy":           func() error { return idle(pid) },
		"own priority":         func() error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) },
		"own processors":       func() error { return unix.SchedSetaffinity(unix.Gettid(), &one) },
		"own I/O":              func() error { return call(unix.SYS_IOPRIO_SET, 1, uintptr(pid), ioIdle) },
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func create(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY, 0o644)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func open(path string) error {
	fd, err := unix.Open(path, unix.O_RDWR, 0)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func openat2(path string) error {
	_, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o644})
	return err
}

func bind(path string) error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(err)
	return unix.Bind(s, &unix.SockaddrUnix{Name: path})
}

func connect(path string, kind int) error {
	s, err := unix.Socket(unix.AF_UNIX, kind, 0)
	if err != nil {
		return err
	}
	return unix.Connect(s, &unix.SockaddrUnix{Name: path})
}

// own connects to a socket of the sandbox's own, by the path that the kernel names.
func own() error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(err)
	must(unix.Bind(s, &unix.SockaddrUnix{Name: "/tmp/own.sock"}))
	must(unix.Listen(s, 1))
	at, err := unix.Getsockname(s)
	must(err)
	name := at.(*unix.SockaddrUnix).Name
	if name != "/tmp/own.sock" {
		return fmt.Errorf("the socket's path is %q, want /tmp/own.sock", name)
	}
	return connect(name, unix.SOCK_STREAM)
}

func bare(dir string) error {
	must(os.Mkdir(dir, 0o755))
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	return create(filepath.Join(dir, "HEAD"))
}

func byLink(in func(string) string, name string) func() error {
	return func() error {
		must(unix.Symlink(in(name), in("lure")))
		return create(in("lure"))
	}
}

func byDescriptor(ws string) func() error {
	return func() error {
		fd, err := unix.Open(ws, unix.O_PATH|unix.O_DIRECTORY, 0)
		must(err)
		if err := unix.Mkdirat(fd, ".husky", 0o755); err == nil {
			return nil
		}
		return unix.Mkdir(fmt.Sprintf("/dev/fd/%d/.husky", fd), 0o755)
	}
}

func descriptorOf1() error {
	fd, err := unix.PidfdOpen(1, 0)
	if err != nil {
		return err
	}
	_, err = unix.PidfdGetfd(fd, 0, 0)
	return err
}

func readMemory(pid int) error {
	var b [8]byte
	local := unix.Iovec{Base: &b[0]}
	local.SetLen(len(b))
	_, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: 0x400000, Len: len(b)}}, 0)
	return err
}

// race calls mkdir(2) again and again with a path that another thread changes, and a way that it exchanges.
func race(ws string) {
	path := []byte(filepath.Join(ws, ".husky") + "\x00")
	at := len(path) - 2
	runtime.GOMAXPROCS(4)
	go func() {
		runtime.LockOSThread()
		for {
			path[at] ^= 'y' ^ 'x'
		}
	}()
	go func() {
		for {
			_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(ws, "way"), unix.AT_FDCWD, filepath.Join(ws, "other"), unix.RENAME_EXCHANGE)
		}
	}()
	must(os.MkdirAll(filepath.Join(ws, "other"), 0o755))
	must(os.Symlink(ws, filepath.Join(ws, "way")))
	crooked := append([]byte(filepath.Join(ws, "way", ".husky")), 0)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		for _, p := range [][]byte{path, crooked} {
			_, _, _ = unix.Syscall6(unix.SYS_MKDIRAT, ^uintptr(99), uintptr(unsafe.Pointer(&p[0])), 0o755, 0, 0, 0)
			_ = unix.Rmdir(filepath.Join(ws, ".huskx"))
			_ = unix.Rmdir(filepath.Join(ws, "other", ".husky"))
		}
	}
}
