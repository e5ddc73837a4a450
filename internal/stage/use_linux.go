package stage

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Use is a stage on which a command runs. No other process can use, apply or discard it
// until Close.
type Use struct {
	stage *Stage
	lock  *os.File
}

// Wrap describes how to start a program that sees the stage at the workspace's path:
// exec.Cmd{Path: w.Path, Args: append(w.Args, program, arguments...), SysProcAttr: w.Attr}.
// The program's path is absolute. It runs with the user's own identity and without additional
// capabilities, in the process that exec.Cmd starts, so that it has the descriptors and
// signals of the command. It is the first process of a PID namespace and dies with the thread
// that starts it. So the kernel kills all processes inside, however this process ends. PIDs
// that the program reports are those of that namespace. The program and its children see the
// view at the workspace's path. Mounts that they make at or from a path below the workspace
// use the view, too.
type Wrap struct {
	Path string
	Args []string // argv 0 first, "--" last
	Attr *syscall.SysProcAttr
}

// Use locks the stage for a command; it records the command for error messages only. Denied:
// another process uses the stage, or an apply was interrupted.
func (s *Stage) Use(command []string) (*Use, error) {
	f, err := lock(s.dir, newHolder(command))
	if err != nil {
		return nil, err
	}
	err = s.usable()
	if err == nil {
		err = s.renew()
	}
	if err != nil {
		release(f)
		return nil, err
	}
	return &Use{stage: s, lock: f}, nil
}

func (s *Stage) usable() error {
	if err := s.reload(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(s.dir, journalFile)); err == nil {
		return sandbox.Errorf(sandbox.Denied, "an apply of stage %s was interrupted", s.Name).
			WithHint("apply it again, or discard it")
	}
	if err := s.sameWorkspace(); err != nil {
		return err
	}
	point, err := findSubmount(s.Workspace)
	if err == nil && point != "" {
		err = sandbox.Errorf(sandbox.Unsupported, "the workspace has a mount below it, %s, which a stage would not show", point)
	}
	return err
}

// sameWorkspace returns Denied if the workspace is another directory than at the creation of
// the stage.
func (s *Stage) sameWorkspace() error {
	var st unix.Stat_t
	if err := unix.Lstat(s.Workspace, &st); err != nil {
		return sandbox.Errorf(sandbox.NotFound, "workspace %s: %w", s.Workspace, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Ino != s.data.Inode {
		return sandbox.Errorf(sandbox.Denied, "%s is another directory than the one that was staged", s.Workspace).
			WithHint("put it back, or discard the stage")
	}
	return nil
}

// File returns the lock file. A process that inherits it (bwrap --sync-fd) keeps the stage in
// use until it ends, even if this process is killed before.
func (u *Use) File() *os.File { return u.lock }

// Close unlocks the stage, also for processes that inherited File: call it when the command
// has ended. It is idempotent.
func (u *Use) Close() error {
	if u.lock == nil {
		return nil
	}
	release(u.lock)
	u.lock = nil
	return passTick(u.stage.data.Created)
}

// Command returns how to start a program on the stage; guest is the path of the guest. The
// caller may add to Attr.
func (u *Use) Command(guest string) Wrap {
	w := u.stage.wrap(guest)
	w.Attr.Cloneflags |= unix.CLONE_NEWPID
	w.Attr.Pdeathsig = unix.SIGKILL
	w.Args = append(w.Args, "--parent", strconv.Itoa(os.Getpid()), "--")
	return w
}

func (s *Stage) wrap(guest string) Wrap {
	args := []string{"agent-sandbox", "stage"}
	if s.Kind == Overlay {
		args = append(args, "--lower", s.Workspace, "--upper", s.viewDir(), "--work", filepath.Join(s.dir, workDir))
	} else {
		args = append(args, "--bind", s.viewDir())
	}
	return Wrap{Path: guest, Args: append(args, "--target", s.Workspace), Attr: newNamespaces()}
}

// newNamespaces returns a user namespace that maps every user to itself, and a mount namespace
// that belongs to it.
func newNamespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS}
	uid, gid := os.Geteuid(), os.Getegid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	if uid != 0 {
		// Only root keeps capabilities across execve(2) without ambient ones. The kernel
		// requires these to mount an overlay, and to copy and mark files in it; they apply
		// only to files of this user.
		attr.AmbientCaps = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SYS_ADMIN}
		return attr
	}
	// Root also needs the IDs of other users, for their files.
	if uids, gids := allIDs("/proc/self/uid_map"), allIDs("/proc/self/gid_map"); uids != nil && gids != nil && canMapAll() {
		attr.UidMappings, attr.GidMappings = uids, gids
	}
	return attr
}

// canMapAll reports whether this process may map IDs other than its own (user_namespaces(7)).
func canMapAll() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	const need = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	return data[0].Effective&need == need
}

// allIDs returns a mapping of every ID of this user namespace to itself; nil on an error.
func allIDs(name string) []syscall.SysProcIDMap {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil
		}
		first, err1 := strconv.Atoi(f[0])
		size, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil {
			return nil
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
	}
	return all
}

// tryMount mounts the stage once, as a test. reason is the kernel's error for this mount, ""
// if it succeeds; err means that this system allows no mounts.
func tryMount(guest string, s *Stage) (reason string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w := s.wrap(guest)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, w.Path)
	cmd.Args, cmd.SysProcAttr, cmd.Stderr, cmd.Dir, cmd.Env = w.Args, w.Attr, &stderr, "/", []string{}
	err = cmd.Run()
	if err == nil {
		return "", nil
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return strings.TrimPrefix(line, "agent-sandbox: stage: "), nil
	}
	return "", sandbox.Errorf(sandbox.Unavailable, "start %s in a user namespace: %w", guest, err).
		WithHint("run 'agent-sandbox doctor' for the layer that forbids it")
}
