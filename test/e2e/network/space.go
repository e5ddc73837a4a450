//go:build linux

// Package network builds an internet for tests: two network namespaces with a cable between
// them. The tests and the programs that they start run in one namespace, as on a host. In the
// other, name, web, package, git and SSH servers of this package answer at every address and
// record each connection. No packet leaves this machine.
package network

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// marker is an environment variable of the process in the namespaces.
const marker = "AGENT_SANDBOX_TEST_NETWORK=inside"

// Run calls tests in namespaces that hold an Internet, in a second process of the same program
// with the same arguments, and returns its exit status. If that is not possible, it calls tests
// in this process with the reason and no Internet. TestMain calls it.
//
// Without root it uses a user namespace; the tests then keep capabilities that
// [Internet.Prepare] takes from the processes that they start.
func Run(args, env []string, tests func(*Internet, error) int) int {
	if slices.Contains(env, marker) {
		n, err := newInternet()
		if err != nil {
			return tests(nil, err)
		}
		code := tests(n, nil)
		if err := n.close(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "network:", err)
			return 1
		}
		return code
	}
	code, err := again(args, append(env, marker))
	if err != nil {
		return tests(nil, err)
	}
	return code
}

// again starts this program in new namespaces and waits for it.
func again(args, env []string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		Pdeathsig:  unix.SIGKILL,
	}
	if uid := os.Getuid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	// Pdeathsig kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := &exec.Cmd{Path: self, Args: args, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: attr}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("namespaces for the test network: %w", err)
	}
	// `go test` interrupts this process at its time limit; the tests then print their stacks.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT)
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // it may have ended
		case err := <-done:
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				return 0, err
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// Addresses of the cable; all others belong to the servers.
const (
	hostIPv4 = "93.184.215.1"
	hostIPv6 = "2606:2800:220:2::1"
)

// elsewhere calls f on a thread in a new network namespace, which is connected to that of this
// process. Sockets that f makes and programs that it starts stay there.
func elsewhere(f func() error) error {
	failed := make(chan error, 1)
	var run func()
	run = func() {
		runtime.LockOSThread()
		// The first thread's namespace is that of the process, which must not change.
		if unix.Gettid() == unix.Getpid() {
			next := make(chan struct{})
			go func() { defer close(next); run() }()
			<-next
			runtime.UnlockOSThread()
			return
		}
		// The thread is never unlocked, so it ends with this goroutine, and its namespace ends with
		// it.
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			failed <- fmt.Errorf("network namespace: %w", err)
			return
		}
		if err := layCable(); err != nil {
			failed <- err
			return
		}
		failed <- f()
	}
	go run()
	return <-failed
}

// layCable makes the cable and configures the servers' end.
func layCable() error {
	for _, line := range []string{
		"link add world type veth peer name host netns " + strconv.Itoa(os.Getpid()),
		"link set lo up",
		"link set world up",
		"addr add 93.184.215.2/24 dev world",
		"-6 addr add 2606:2800:220:2::2/64 dev world nodad",
		// Every address except those of the cable is local; in table main, where the routes of the
		// cable are more specific.
		"route add local default dev lo table main",
		"-6 route add local default dev lo table main",
	} {
		if err := ip(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// plugIn configures the tests' end of the cable.
func plugIn() error {
	for _, line := range []string{
		"link set lo up",
		"addr add " + hostIPv4 + "/24 dev host",
		"link set host up",
		"-6 addr add " + hostIPv6 + "/64 dev host nodad",
		"route add default via 93.184.215.2",
		"-6 route add default via 2606:2800:220:2::2",
	} {
		if err := ip(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput() //nolint:noctx // as long as the tests
	if err != nil {
		return fmt.Errorf("ip %q: %w: %s", args, err, out)
	}
	return nil
}

// Prepare makes cmd run as uid, without the capabilities of the tests. Without root, uid must
// be that of the tests.
func (n *Internet) Prepare(cmd *exec.Cmd, uid int) {
	if os.Getuid() == 0 {
		id := uint32(uid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
		return
	}
	// bubblewrap refuses to run with capabilities that it did not request.
	cmd.Args = append([]string{"setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = n.setpriv
}
