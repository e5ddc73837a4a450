//go:build linux

package host

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/limits"
	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/internal/mountinfo"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
)

// facts are the measurements on a host. diagnose draws the conclusions.
type facts struct {
	uid     int
	release string // of the kernel

	bwrap    string // path; empty: none
	bwrapErr error  // why there is none, or why it cannot be used
	version  string
	features Features
	tries    map[string]string // by part (tryProc, ...): "" if it works, else bubblewrap's message; absent: not tried

	userns      error    // of clone(CLONE_NEWUSER)
	cloneSysctl int      // kernel.unprivileged_userns_clone; -1, like all sysctls: no such file
	maxUserns   int      // user.max_user_namespaces
	appArmor    int      // kernel.apparmor_restrict_unprivileged_userns
	yama        int      // kernel.yama.ptrace_scope
	tiocsti     int      // dev.tty.legacy_tiocsti
	seccomp     int      // mode of this process: 2 is a filter
	caps        uint64   // effective capabilities
	masked      []string // mounts below /proc
	chrooted    bool

	notify      error             // of user notification in this kernel
	listen      error             // of installing a listener
	getfd       error             // of pidfd_getfd(2)
	landlock    int               // version; 0: none
	controllers map[string]string // see limits.Probe
	cgroups     []string          // see limits.Probe
}

// The parts of the isolation that are tried with bubblewrap.
const (
	tryBase          = "base" // user, mount, PID, IPC and UTS namespaces
	tryProc          = "proc"
	tryNet           = "net"
	tryDisableUserns = "disable-userns"
	tryBindFD        = "bind-fd"
	trySeccomp       = "seccomp"
)

// collectFacts measures this host. With an empty bwrapPath it calls Find.
func collectFacts(ctx context.Context, bwrapPath string) facts {
	f := facts{
		uid: os.Geteuid(), release: limits.KernelRelease(),
		cloneSysctl: sysctl("kernel/unprivileged_userns_clone"), maxUserns: sysctl("user/max_user_namespaces"),
		appArmor: sysctl("kernel/apparmor_restrict_unprivileged_userns"),
		yama:     sysctl("kernel/yama/ptrace_scope"), tiocsti: sysctl("dev/tty/legacy_tiocsti"),
		userns: tryUserns(ctx), notify: guard.Available(), listen: tryListen(), getfd: tryGetfd(), landlock: landlock.Version(),
	}
	status, _ := os.ReadFile("/proc/self/status")
	f.readStatus(string(status))
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	f.readMounts(string(mounts))
	f.controllers, f.cgroups = limits.Probe()
	if f.bwrap, f.bwrapErr = bwrapPath, nil; bwrapPath == "" {
		f.bwrap, f.bwrapErr = Find(nil, nil)
	}
	if f.bwrapErr != nil {
		return f
	}
	if f.features, f.bwrapErr = Probe(ctx, f.bwrap, ""); f.bwrapErr != nil {
		return f
	}
	f.version = bwrapVersion(ctx, f.bwrap)
	f.tryParts(ctx)
	return f
}

// sysctl returns a number below /proc/sys; -1 if there is none.
func sysctl(name string) int {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return -1
	}
	return n
}

func (f *facts) readStatus(status string) {
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); key {
		case "Seccomp":
			f.seccomp, _ = strconv.Atoi(value)
		case "CapEff":
			f.caps, _ = strconv.ParseUint(value, 16, 64)
		}
	}
}

// readMounts finds the mounts over parts of /proc, and whether this process is in a chroot, whose root is not a mount.
func (f *facts) readMounts(text string) {
	f.chrooted = text != ""
	for _, m := range mountinfo.Parse(text) {
		point := m.Point
		if point == "/" {
			f.chrooted = false
		}
		// Binfmt_misc is an ordinary mount of the host, which hides nothing.
		if strings.HasPrefix(point, "/proc/") && point != "/proc/sys/fs/binfmt_misc" {
			f.masked = append(f.masked, point)
		}
	}
}

// tryUserns creates a user namespace for a program that does not exist: the clone comes first, so the error about the
// missing program means success.
func tryUserns(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "/proc/self/no such program")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	err := cmd.Run()
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// tryListen installs a listener for no system call, on a thread that ends with it.
func tryListen() error {
	result := make(chan error, 1)
	var onThread func()
	onThread = func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// The main thread never ends; occupy it so that another one runs the function.
			defer runtime.UnlockOSThread()
			done := make(chan struct{})
			go func() { defer close(done); onThread() }()
			<-done
			return
		}
		// Not unlocked: the filter stays on the thread.
		l, err := guard.Listen(seccomp.Allow())
		if err == nil {
			err = l.Close()
		}
		result <- err
	}
	go onThread()
	return <-result
}

// tryGetfd duplicates a descriptor of this process with pidfd_getfd(2).
func tryGetfd() error {
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(self) }()
	fd, _, errno := unix.Syscall(unix.SYS_PIDFD_GETFD, uintptr(self), uintptr(self), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// tryParts tries all parts at once, and one by one if that fails.
func (f *facts) tryParts(ctx context.Context) {
	parts := []string{tryProc, tryNet, trySeccomp}
	if f.features.DisableUserns {
		parts = append(parts, tryDisableUserns)
	}
	if f.features.BindFD {
		parts = append(parts, tryBindFD)
	}
	f.tries = map[string]string{tryBase: ""}
	if f.tryOnce(ctx, parts...) == "" {
		for _, part := range parts {
			f.tries[part] = ""
		}
		return
	}
	if f.tries[tryBase] = f.tryOnce(ctx); f.tries[tryBase] != "" {
		return // the others would fail with the same message
	}
	for _, part := range parts {
		f.tries[part] = f.tryOnce(ctx, part)
	}
}

// tryOnce runs bubblewrap with the base and the given parts. It returns bubblewrap's message, "" if it succeeds.
func (f *facts) tryOnce(ctx context.Context, parts ...string) string {
	args := []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/"}
	var files []*os.File
	defer func() {
		for _, file := range files {
			_ = file.Close()
		}
	}()
	for _, part := range parts {
		more, file, err := partArgs(part, 3+len(files))
		if err != nil {
			return err.Error()
		}
		if args = append(args, more...); file != nil {
			files = append(files, file)
		}
	}
	// The only program that certainly exists inside is bubblewrap itself.
	cmd := exec.CommandContext(ctx, f.bwrap, append(args, "--", f.bwrap, "--version")...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{"LC_ALL=C"}, "/", files
	var message bytes.Buffer
	cmd.Stderr = &message
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(message.String(), "\n")
		if line == "" {
			line = err.Error()
		}
		return line[:min(len(line), 300)]
	}
	return ""
}

// partArgs returns the arguments for one part, and the file that they name as descriptor fd, if any.
func partArgs(part string, fd int) ([]string, *os.File, error) {
	switch part {
	case tryProc:
		return []string{"--proc", "/proc", "--dev", "/dev"}, nil, nil
	case tryNet:
		return []string{"--unshare-net"}, nil, nil
	case tryDisableUserns:
		return []string{"--disable-userns"}, nil, nil
	case tryBindFD:
		root, err := os.Open("/")
		return []string{"--tmpfs", "/tmp", "--ro-bind-fd", strconv.Itoa(fd), "/tmp"}, root, err
	}
	program, err := seccomp.Deny(runtime.GOARCH, seccomp.DenyOptions{})
	if err != nil {
		return nil, nil, err
	}
	file, err := memoryFile(program.Bytes())
	return []string{"--seccomp", strconv.Itoa(fd)}, file, err
}

// memoryFile returns an anonymous file with data, at its start.
func memoryFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("agent-sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "memfd")
	if _, err := file.Write(data); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := file.Seek(0, 0); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
