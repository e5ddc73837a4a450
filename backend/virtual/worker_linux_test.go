package virtual_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Arguments with which the test's program acts as another program.
const (
	workerArgument = "work"   // a worker
	parentArgument = "parent" // a process that holds a sandbox in a worker until it is killed
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		os.Exit(virtual.Work(virtual.Options{Commands: hostilePrograms()}))
	}
	if len(os.Args) == 2 && os.Args[1] == parentArgument {
		holdSandbox()
	}
	os.Exit(m.Run())
}

// hostilePrograms simulate faults of this project's own programs, which the machine's accounting cannot limit.
func hostilePrograms() []shell.Command {
	return []shell.Command{
		{Name: "hog", Summary: "takes memory that it does not charge", Run: func(*shell.Proc) int {
			var all [][]byte
			for {
				one := make([]byte, 1<<20)
				for i := 0; i < len(one); i += 4096 {
					one[i] = 1
				}
				all = append(all, one) //nolint:staticcheck // it is held
			}
		}},
		{Name: "overflow", Summary: "overflows Go's stack", Run: func(*shell.Proc) int { return recurse(0) }},
		{Name: "crash", Summary: "panics on a goroutine of its own", Run: func(p *shell.Proc) int {
			go panic("planned")
			<-p.Context().Done()
			return 0
		}},
		{Name: "look", Summary: "prints what the worker has of the host", Run: look},
	}
}

func recurse(n int) int {
	if n < 0 {
		return 0
	}
	return recurse(n+1) + 1
}

// look prints the worker's variables, descriptors and restrictions, and whether it can execute a program.
func look(p *shell.Proc) int {
	fmt.Fprintf(p.Stdout, "environment %d\n", len(os.Environ()))
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		fmt.Fprintln(p.Stdout, err)
	}
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		kind, _, _ := strings.Cut(to, ":[")
		fmt.Fprintln(p.Stdout, "descriptor", kind)
	}
	fmt.Fprintln(p.Stdout, "execute:", exec.Command("/bin/true").Run()) //nolint:noctx // it fails at once
	var data unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_DATA, &data)
	fmt.Fprintln(p.Stdout, "data:", data.Cur)
	return 0
}

func workerOptions() *virtual.Worker {
	// By this path a plain user can execute it, too, where the directories of the program are root's.
	return &virtual.Worker{Program: []string{"/proc/self/exe", workerArgument}, Key: func(s sandbox.Spec) string { return s.Name }}
}

func Test_Workers_Keep_The_Contract(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // files of other processes do not count as residue
	o := workerOptions()
	o.Key = nil
	driver := virtual.New(virtual.Options{Share: true, Apply: true, Worker: o})
	sandboxtest.Run(t, harness{sandboxtest.Local{Backend: driver}}, os.Getenv("SANDBOX_REQUIRE"))
}

// named creates a sandbox in the worker of a key.
func named(t *testing.T, d *virtual.Driver, key string) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Create(t.Context(), d, sandbox.Spec{Name: key, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// workersOf returns the PIDs of the workers that a process has started.
func workersOf(t *testing.T, parent int) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			list = append(list, pid)
		}
	}
	return list
}

func Test_The_Death_Of_A_Worker_Ends_Its_Own_Sandboxes_Only(t *testing.T) {
	tests := []struct{ name, command, want string }{
		{"a program that takes memory without an account", "hog", "memory limit of 1G"},
		{"an overflow of Go's stack", "overflow", ""},
		{"a panic", "crash", "panic: planned"},
		{"SIGKILL", "", "signal: killed"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			o := workerOptions()
			d := virtual.New(virtual.Options{Worker: o})
			good := named(t, d, "good")
			defer good.Close(context.WithoutCancel(t.Context()))
			before := workersOf(t, os.Getpid())
			first, second := named(t, d, "bad"), named(t, d, "bad")
			bystander, err := second.Start(t.Context(), sandbox.Cmd{Args: []string{"sleep", "1000"}}, sandbox.Stdio{})
			if err != nil {
				t.Fatal(err)
			}
			if c.command == "" {
				bad := slices.DeleteFunc(workersOf(t, os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
				if len(bad) != 1 {
					t.Fatalf("workers of two sandboxes with one key: %v", bad)
				}
				if err := syscall.Kill(bad[0], syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			} else {
				_, err = first.Run(t.Context(), sandbox.Cmd{Args: []string{c.command}})
				expectDeath(t, "the command", err, c.want)
			}
			_, err = bystander.Wait()
			expectDeath(t, "a command of the same worker", err, c.want)
			_, err = second.Run(t.Context(), sandbox.Cmd{Args: []string{"true"}})
			expectDeath(t, "a later command", err, c.want)
			_, err = second.Files().Stat(t.Context(), "/tmp")
			expectDeath(t, "the files", err, c.want)
			expectDeath(t, "the end", first.Close(t.Context()), c.want)

			if res, err := good.Run(t.Context(), sandbox.Cmd{Args: []string{"echo", "on"}}); err != nil || string(res.Stdout) != "on\n" {
				t.Errorf("another worker: %v", err)
			}
			again := named(t, d, "bad")
			if res, err := again.Run(t.Context(), sandbox.Cmd{Args: []string{"echo", "new"}}); err != nil || string(res.Stdout) != "new\n" {
				t.Errorf("a sandbox that is created afterwards: %v", err)
			}
			if err := again.Close(t.Context()); err != nil {
				t.Error(err)
			}
			expectDeath(t, "the end", second.Close(t.Context()), c.want)
			if after := workersOf(t, os.Getpid()); !slices.Equal(before, after) {
				t.Errorf("workers before %v and after %v", before, after)
			}
		})
	}
}

func expectDeath(t *testing.T, what string, err error, want string) {
	t.Helper()
	if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), want) || sandbox.HintOf(err) == "" {
		t.Errorf("%s: %v (hint %q); expected an Unavailable error with %q and a hint", what, err, sandbox.HintOf(err), want)
	}
}

func Test_A_Worker_Has_Nothing_Of_Its_Parent(t *testing.T) {
	secret, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	if _, err := unix.FcntlInt(secret.Fd(), unix.F_SETFD, 0); err != nil { // as one that this process has inherited
		t.Fatal(err)
	}
	t.Setenv("CANARY", "secret")
	s := named(t, virtual.New(virtual.Options{Worker: workerOptions()}), "x")
	defer s.Close(context.WithoutCancel(t.Context()))
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"look"}})
	if err != nil {
		t.Fatal(err)
	}
	got := string(res.Stdout)
	for _, want := range []string{"environment 0\n", "execute: fork/exec /bin/true: operation not permitted\n", fmt.Sprintf("data: %d\n", virtual.DefaultWorkerMemory)} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		switch kind, ok := strings.CutPrefix(strings.TrimSpace(line), "descriptor "); {
		case !ok, slices.Contains([]string{"socket", "pipe", "anon_inode", "/dev/null", "/proc/self/fd"}, kind):
		case strings.HasPrefix(kind, "/sys/fs/cgroup/"): // Go's runtime reads its processor limit
		case strings.HasPrefix(kind, "/proc/"), strings.HasPrefix(kind, "anon_inode:"), kind == "":
		default:
			t.Errorf("the worker has %s", kind)
		}
	}
}

func Test_Denials_Of_A_Worker_Arrive_Before_The_End_Of_The_Command(t *testing.T) {
	var mu sync.Mutex
	var list []sandbox.Denial
	d := virtual.New(virtual.Options{Worker: workerOptions(), Denied: func(one sandbox.Denial) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, one)
	}})
	s, err := sandbox.Create(t.Context(), d, sandbox.Spec{
		Env: []string{"PATH=/usr/bin:/bin"}, Policy: sandbox.Policy{Commands: map[string]sandbox.CommandRule{"wc": "false"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(t.Context()))
	for n := range 20 {
		if _, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"wc"}}); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if len(list) != n+1 || list[n].Target != "wc" {
			t.Errorf("after %d commands: %+v", n+1, list)
		}
		mu.Unlock()
	}
}

func Test_A_Worker_Ends_With_Its_Killed_Parent(t *testing.T) {
	for _, state := range []string{"idle", "stopped"} {
		t.Run(state, func(t *testing.T) {
			temp := t.TempDir()
			parent := exec.CommandContext(t.Context(), "/proc/self/exe", parentArgument)
			parent.Env = append(os.Environ(), "TMPDIR="+temp)
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			workers := workersOf(t, parent.Process.Pid)
			if len(workers) != 1 {
				t.Fatalf("workers: %v", workers)
			}
			fd, err := unix.PidfdOpen(workers[0], 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			if state == "stopped" {
				if err := syscall.Kill(workers[0], syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // killed
			limit := deadline.Scale(10 * time.Second)
			if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(limit.Milliseconds())); n != 1 {
				t.Errorf("the worker runs after %v: %v", limit, err)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
				t.Errorf("left in the temporary directory: %v, %v", left, err)
			}
		})
	}
}

// holdSandbox creates a sandbox with a running command, prints a line, and waits for its end.
func holdSandbox() {
	o := workerOptions()
	s, err := sandbox.Create(context.Background(), virtual.New(virtual.Options{Worker: o}), sandbox.Spec{Env: []string{"PATH=/usr/bin:/bin"}})
	if err == nil {
		_, err = s.Start(context.Background(), sandbox.Cmd{Args: []string{"sleep", "1000"}}, sandbox.Stdio{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print("r")
	select {}
}

func Test_A_Thousand_Machines_Share_A_Worker(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of both processors: run without -short")
	}
	o := workerOptions()
	if raced { // it takes eight times the memory
		o.Memory = 8 << 30
	}
	d := virtual.New(virtual.Options{Worker: o})
	const number = 1000
	all := make([]*sandbox.Sandbox, number)
	errs := make([]error, number)
	var wait sync.WaitGroup
	for n := range number {
		wait.Go(func() {
			var err error
			all[n], err = sandbox.Create(t.Context(), d, sandbox.Spec{Env: []string{"PATH=/usr/bin:/bin"}})
			if err == nil {
				var res *sandbox.Result
				res, err = all[n].Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", fmt.Sprintf("echo %d >f; cat f", n)}})
				if err == nil && string(res.Stdout) != fmt.Sprintln(n) {
					err = fmt.Errorf("it printed %q", res.Stdout)
				}
			}
			errs[n] = err
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%.2000s", err)
	}
	workers := workersOf(t, os.Getpid())
	if len(workers) != 1 {
		t.Errorf("workers: %v", workers)
	}
	for _, pid := range workers {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "VmData") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
	for _, s := range all {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left := workersOf(t, os.Getpid()); len(left) != 0 {
		t.Errorf("workers after the last sandbox: %v", left)
	}
}

func Test_Options_That_A_Worker_Cannot_Hold_Are_Refused(t *testing.T) {
	tests := []struct {
		name string
		o    virtual.Options
		want string
	}{
		{"no program", virtual.Options{Worker: &virtual.Worker{}}, "no program"},
		{"too little memory", virtual.Options{Worker: &virtual.Worker{Program: []string{"x"}, Memory: 1 << 20}}, "memory limit of 1M"},
		{"programs", virtual.Options{Worker: workerOptions(), Commands: hostilePrograms()}, "cannot be sent to a worker"},
		{"a program that does not exist", virtual.Options{Worker: &virtual.Worker{Program: []string{"/nowhere/x"}}}, "no such file"},
		{"a program that is no worker", virtual.Options{Worker: &virtual.Worker{Program: []string{"/bin/false"}}}, "exit status 1"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			_, err := sandbox.Create(t.Context(), virtual.New(c.o), sandbox.Spec{Env: []string{"PATH=/bin"}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; expected %q", err, c.want)
			}
		})
	}
}
