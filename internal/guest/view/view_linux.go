// Package view mounts a staged view over a workspace and executes a command in it.
package view

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// exitStage is the exit status if the view cannot be mounted. It means that the sandbox failed.
const exitStage = 125

// overlayMagic is OVERLAYFS_SUPER_MAGIC of statfs(2).
const overlayMagic = 0x794c7630

// view is an overlay that "stage" mounts over a directory.
type view struct {
	lower, upper, work string // a kernel overlay
	bind               string // or a copy
	target             string
	parent             string   // process with which this one dies; empty: none
	command            []string // the command to execute; empty: only test the mount
}

// Run mounts a staged view over a directory and executes the command after "--" in place of this
// process, without privileges of its own:
//
//	stage --lower DIR --upper DIR --work DIR --target DIR [--parent PID] [-- COMMAND [ARGUMENT...]]
//	stage --bind DIR --target DIR [--parent PID] [-- COMMAND [ARGUMENT...]]
//
// The caller starts it in its own user and mount namespace; without them the kernel refuses the
// mount. Without a command Run only tests the mount. COMMAND must contain a slash. With --parent
// it dies with the thread that started it, a thread of process PID.
func Run(args, env []string) int {
	// Capabilities belong to a thread: the thread that drops them must execute the command.
	runtime.LockOSThread()
	p := process.Process{Env: env}
	v, ok := parseView(args)
	switch {
	case !ok && process.IsInside():
		return p.Fail(exitStage, "this is inside a sandbox already")
	case !ok:
		return p.Usage()
	}
	if err := v.mount(); err != nil {
		return p.Fail(exitStage, "stage: "+err.Error())
	}
	if len(v.command) == 0 {
		return 0
	}
	if err := dropCapabilities(); err != nil {
		return p.Fail(exitStage, "stage: give up capabilities: "+err.Error())
	}
	if err := dieWith(v.parent); err != nil {
		return p.Fail(exitStage, "stage: "+err.Error())
	}
	err := process.ExecCandidate(v.command[0], v.command, env)
	return p.Fail(exitStage, "stage: "+v.command[0]+": "+err.Error())
}

func parseView(args []string) (v view, ok bool) {
	for len(args) > 1 && args[0] != "--" {
		switch value := args[1]; args[0] {
		case "--lower":
			v.lower = value
		case "--upper":
			v.upper = value
		case "--work":
			v.work = value
		case "--bind":
			v.bind = value
		case "--target":
			v.target = value
		case "--parent":
			v.parent = value
		default:
			return v, false
		}
		args = args[2:]
	}
	if len(args) > 0 {
		if args[0] != "--" || len(args) < 2 || !strings.Contains(args[1], "/") {
			return v, false
		}
		v.command = args[1:]
	}
	overlay := v.lower != "" && v.upper != "" && v.work != ""
	if v.bind != "" {
		return v, v.target != "" && v.lower+v.upper+v.work == ""
	}
	return v, v.target != "" && overlay
}

// mount mounts the view over the target. The mount is not visible in the mount namespace of the
// parent process.
func (v view) mount() error {
	own, err := ownMounts()
	if err != nil {
		return err
	}
	if !own {
		return errors.New("not in a mount namespace of its own")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	target, err := openDirectory(v.target)
	if err != nil {
		return err
	}
	if v.bind != "" {
		return v.mountCopy(target)
	}
	return v.mountOverlay(target)
}

func (v view) mountCopy(target directory) error {
	from, err := openDirectory(v.bind)
	if err != nil {
		return err
	}
	if err := unix.Mount(from.proc(), target.proc(), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind mount: %w", err)
	}
	over, err := openDirectory(v.target)
	if err != nil {
		return err
	}
	if !over.same(from) {
		return errors.New("the copy does not show at " + v.target)
	}
	return nil
}

// mountOverlay passes descriptors instead of names to the kernel: they need no escaping, and other
// processes cannot exchange the directories. With userxattr redirection is off, so the content of
// a directory is always below its own name.
func (v view) mountOverlay(target directory) error {
	var options []string
	for _, o := range []struct{ name, dir string }{{"lowerdir", v.lower}, {"upperdir", v.upper}, {"workdir", v.work}} {
		d, err := openDirectory(o.dir)
		if err != nil {
			return err
		}
		options = append(options, o.name+"="+d.proc())
	}
	options = append(options, "userxattr", "metacopy=off", "index=off")
	if err := unix.Mount("overlay", target.proc(), "overlay", unix.MS_NOSUID|unix.MS_NODEV, strings.Join(options, ",")); err != nil {
		return fmt.Errorf("mount overlay: %w", err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(v.target, &st); err != nil {
		return err
	}
	if st.Type != overlayMagic {
		return errors.New("the overlay does not show at " + v.target)
	}
	// If the kernel cannot use the upper directory, it mounts the overlay read-only.
	if st.Flags&unix.ST_RDONLY != 0 {
		return errors.New("the overlay is read-only")
	}
	return nil
}

// initialUser is the inode of the user namespace that the system started with
// (PROC_USER_INIT_INO in the kernel).
const initialUser = "user:[4026531837]"

// ownMounts reports whether this process has a new mount namespace. If a user calls this operation
// by hand, it must not change the mounts of the machine.
func ownMounts() (bool, error) {
	user, err := os.Readlink("/proc/self/ns/user")
	if err != nil || user == initialUser {
		return false, err
	}
	mine, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return false, err
	}
	parent, err := parentOf()
	if err != nil {
		return false, err
	}
	parents, err := os.Readlink("/proc/" + parent + "/ns/mnt")
	if errors.Is(err, os.ErrPermission) {
		return true, nil // the parent is in another user namespace
	}
	return mine != parents, err
}

// directory is an O_PATH descriptor.
type directory int

func openDirectory(name string) (directory, error) {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return directory(fd), nil
}

func (d directory) proc() string { return "/proc/self/fd/" + strconv.Itoa(int(d)) }

func (d directory) same(other directory) bool {
	var a, b unix.Stat_t
	return unix.Fstat(int(d), &a) == nil && unix.Fstat(int(other), &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}

// dieWith makes the kernel kill this process when its parent dies. The parent must be alive now.
func dieWith(parent string) error {
	if parent == "" {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with the parent: %w", err)
	}
	now, err := parentOf()
	if err == nil && now != parent {
		err = errors.New("whoever started it is gone")
	}
	return err
}

// parentOf returns the PID of the parent process. getppid(2) returns 0 in the first process of a
// PID namespace, but /proc is that of the parent's namespace and has the PID.
func parentOf() (string, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(status)) {
		if pid, ok := strings.CutPrefix(line, "PPid:"); ok {
			return strings.TrimSpace(pid), nil
		}
	}
	return "", errors.New("/proc/self/status names no parent")
}

// dropCapabilities drops the capabilities, so that the next program has only those of its user.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	return unix.Capset(&header, &data[0])
}
