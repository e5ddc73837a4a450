//go:build linux

package seccomp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/programs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// testUser is the user that a test runs as.
type testUser struct {
	name string
	cred *syscall.Credential // nil: the user of the test process
	args []string            // more arguments for bubblewrap
}

// testUsers returns the user of the test process, and a plain user as well if that is root.
func testUsers() []testUser {
	self := testUser{fmt.Sprintf("uid %d", os.Geteuid()), nil, nil}
	if os.Geteuid() != 0 {
		return []testUser{self}
	}
	return []testUser{self, {"uid 1000", &syscall.Credential{Uid: 1000, Gid: 1000}, nil}}
}

// openDir returns a temporary directory that other users can access.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// attackBinary builds the program that tries the refused calls.
func attackBinary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(openDir(t), "attack")
	if err := programs.Build(t.Context(), "testdata/attack", bin); err != nil {
		t.Fatal(err)
	}
	return bin
}

// filtered runs argv in its own namespaces, under program unless it is nil, and returns its
// standard output and its error.
func filtered(t *testing.T, u testUser, program []byte, argv ...string) (string, error) {
	t.Helper()
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--dir", "/run/home", "--chdir", "/run/home",
		"--setenv", "HOME", "/run/home", "--setenv", "TMPDIR", "/run/home",
	}
	args = append(args, u.args...)
	cmd := exec.CommandContext(t.Context(), require.Command(t, "bwrap", "bwrap"))
	if program != nil {
		file, err := os.Create(filepath.Join(t.TempDir(), "program"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Write(program); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{file}
		args = append(args, "--seccomp", "3")
	}
	cmd.Args = append(append(append(cmd.Args, args...), "--"), argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.cred}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errs.Len() > 0 {
		t.Logf("stderr: %s", errs.String())
	}
	return out.String(), err
}

func nativeDeny(t *testing.T, o DenyOptions) []byte {
	t.Helper()
	program, err := Deny(runtime.GOARCH, o)
	if err != nil {
		t.Fatal(err)
	}
	return program.Bytes()
}

func Test_Kernel_Refuses_What_The_Program_Denies(t *testing.T) {
	bin := attackBinary(t)
	want := map[string]string{
		"io_uring": "ENOSYS", "openat2": "ENOSYS", "clone3": "ENOSYS", "open_tree": "ENOSYS", "fsopen": "ENOSYS",
		"mount_setattr": "ENOSYS", "unknown call": "ENOSYS",
		"keyctl": "EPERM", "add_key": "EPERM", "ptrace": "EPERM", "process_vm_readv": "EPERM", "bpf": "EPERM",
		"perf_event_open": "EPERM", "userfaultfd": "EPERM", "pidfd_getfd": "EPERM", "open_by_handle_at": "EPERM",
		"unshare user": "EPERM", "clone user": "EPERM", "setns": "EPERM", "mount": "EPERM", "umount": "EPERM",
		"kexec_load": "EPERM", "personality": "EPERM", "TIOCSTI": "EPERM", "TIOCSTI high bits": "EPERM", "set-user-ID": "EPERM",
		"vsock": "EAFNOSUPPORT", "alg": "EAFNOSUPPORT", "packet": "EAFNOSUPPORT", "netlink netfilter": "EPROTONOSUPPORT",
		"unix datagram": "EACCES", "unix datagram pair": "EACCES", "core limit": "EALREADY",
		"unix stream": "ok", "unix stream pair": "ok", "netlink route": "ok", "tcp": "ok", "chmod": "ok", "unshare files": "ok",
	}
	if runtime.GOARCH == "amd64" {
		want["x32 getpid"], want["x32 ptrace"], want["x32 ptrace without its bit"] = "ENOSYS", "ENOSYS", "ENOSYS"
	}
	for _, u := range testUsers() {
		bare, got := attackResults(t, u, nil, bin), attackResults(t, u, nativeDeny(t, DenyOptions{}), bin)
		if len(got) != len(want) {
			t.Errorf("%d attempts, %d expectations", len(got), len(want))
		}
		for name, expect := range want {
			t.Run(u.name+" "+name, func(t *testing.T) {
				if got[name] != expect {
					t.Errorf("got %q, want %q (without the program: %q)", got[name], expect, bare[name])
				}
			})
		}
		// Control: without the program these calls work here.
		for _, name := range []string{"keyctl", "unix datagram", "unix datagram pair", "personality", "netlink netfilter", "set-user-ID", "core limit"} {
			t.Run(u.name+" without the program: "+name, func(t *testing.T) {
				if bare[name] != "ok" {
					t.Errorf("got %q, want ok", bare[name])
				}
			})
		}
	}
}

func attackResults(t *testing.T, u testUser, program []byte, bin string) map[string]string {
	t.Helper()
	out, err := filtered(t, u, program, bin)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return got
}

// i386Program is an ELF file that exits with status 42 through i386's system call 1.
func i386Program(t *testing.T) string {
	t.Helper()
	const base = 0x08048000
	code := []byte{0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80}
	le := func(width int, values ...uint32) (b []byte) {
		for _, v := range values {
			for i := range width {
				b = append(b, byte(v>>(8*i)))
			}
		}
		return b
	}
	elf := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	elf = append(elf, le(2, 2, 3)...)                 // executable, 80386
	elf = append(elf, le(4, 1, base+84, 52, 0, 0)...) // version, entry, program headers, sections, flags
	elf = append(elf, le(2, 52, 32, 1, 0, 0, 0)...)   // sizes and counts
	size := uint32(84 + len(code))
	elf = append(elf, le(4, 1, 0, base, base, size, size, 5, 0x1000)...) // one segment, readable and executable
	path := filepath.Join(openDir(t), "i386")
	if err := os.WriteFile(path, append(elf, code...), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func Test_Kernel_Kills_Foreign_Calls(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("i386 is not supported on " + runtime.GOARCH)
	}
	tests := []struct {
		name string
		argv []string
		bare int
	}{
		{"an i386 program", []string{i386Program(t)}, 42},
		{"int 0x80 in a 64-bit program", []string{attackBinary(t), "foreign"}, 0},
	}
	for _, u := range testUsers() {
		for _, tt := range tests {
			t.Run(u.name+" "+tt.name, func(t *testing.T) {
				if _, err := filtered(t, u, nil, tt.argv...); exitStatus(err) != tt.bare {
					t.Skipf("this kernel runs no i386 calls even without the program: %v", err)
				}
				_, err := filtered(t, u, nativeDeny(t, DenyOptions{Userns: true, Debuggers: true}), tt.argv...)
				if want := 128 + int(unix.SIGSYS); exitStatus(err) != want {
					t.Errorf("got %v, want status %d", err, want)
				}
			})
		}
	}
}

func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}

func Test_Ordinary_Programs_Work_Under_The_Deny_Program(t *testing.T) {
	tests := []struct {
		name, program, script, want string
	}{
		{"git commits", "git", `git init -q r && cd r && git config user.email a@b && git config user.name n && echo x > f &&
			git add f && git commit -qm one && git gc -q && git log --format=%s`, "one"},
		{"python has threads, processes and sockets", "/usr/bin/python3", `/usr/bin/python3 -c '
import socket, subprocess, tempfile, threading, multiprocessing, os
t = threading.Thread(target=lambda: None); t.start(); t.join()
a, b = socket.socketpair(); a.send(b"x"); b.recv(1)
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); c = socket.create_connection(s.getsockname())
socket.getaddrinfo("localhost", 80)
with multiprocessing.get_context("fork").Pool(2) as p: assert p.map(abs, [-1]) == [1]
tempfile.TemporaryFile().write(b"x")
os.memfd_create("m")
print(subprocess.check_output(["echo", "done"]).decode())'`, "done"},
		{"node spawns and listens", "node", `node -e '
const http = require("http"), cp = require("child_process");
cp.execFileSync("true");
const s = http.createServer((q, r) => r.end("done")).listen(0, "127.0.0.1", () =>
  http.get({port: s.address().port}, r => r.on("data", d => { console.log(String(d)); s.close(); })));'`, "done"},
		{"go starts threads and processes", "go", `printf 'package p\nfunc F() int { return 1 }\n' > p.go &&
			go tool compile -o p.o p.go && GOCACHE=/run/home/cache go list fmt`, "fmt"},
		{"bash controls jobs", "bash", `bash -mc 'sleep 60 & kill -STOP %1; kill -CONT %1; kill %1; wait %1; echo $?'`, "143"},
		{"a shell sets the core limit", "bash", `ulimit -c 0 && echo done`, "done"},
		{"cp keeps modes", "cp", `mkdir d && chmod 1775 d && touch d/f && cp -a d e && stat -c %a e`, "1775"},
	}
	for _, u := range testUsers() {
		for _, tt := range tests {
			t.Run(u.name+" "+tt.name, func(t *testing.T) {
				shell := []string{"bash", "-c", tt.script}
				if _, err := exec.LookPath(tt.program); err != nil {
					t.Skip(err)
				}
				out, err := filtered(t, u, nativeDeny(t, DenyOptions{}), shell...)
				if err == nil && strings.TrimSpace(out) == tt.want {
					return
				}
				if _, bare := filtered(t, u, nil, shell...); bare != nil {
					t.Skipf("does not run here without the program either: %v", bare)
				}
				t.Errorf("got %q, %v, want %q", out, err, tt.want)
			})
		}
	}
}

func Test_Nested_Bubblewrap_Works_Only_When_Allowed(t *testing.T) {
	nested := []string{"bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--", "echo", "done"}
	for _, u := range testUsers() {
		// Root inside would need CAP_SETFCAP to map its own ID again (user_namespaces(7)).
		u.args = []string{"--uid", "1000", "--gid", "1000"}
		t.Run(u.name+" refused by default", func(t *testing.T) {
			if out, err := filtered(t, u, nativeDeny(t, DenyOptions{}), nested...); err == nil {
				t.Errorf("it ran and said %q", out)
			}
		})
		t.Run(u.name+" allowed with Userns", func(t *testing.T) {
			out, err := filtered(t, u, nativeDeny(t, DenyOptions{Userns: true}), nested...)
			if err != nil || strings.TrimSpace(out) != "done" {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}

func Test_Debuggers_Option_Lets_Strace_Work(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip(err)
	}
	for _, u := range testUsers() {
		t.Run(u.name, func(t *testing.T) {
			trace := []string{"strace", "-f", "-o", "/run/home/trace", "echo", "done"}
			if out, err := filtered(t, u, nativeDeny(t, DenyOptions{}), trace...); err == nil {
				t.Errorf("it ran without the option and said %q", out)
			}
			out, err := filtered(t, u, nativeDeny(t, DenyOptions{Debuggers: true}), trace...)
			if err != nil || strings.TrimSpace(out) != "done" {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}
