//go:build linux

package confine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// attempts tries every way to make an entry, and operations that make none.
const attempts = `
use Socket; use Fcntl; use POSIX ();
sub report { my ($what, $ok) = @_; print "$what ", ($ok ? "ok" : $!{EACCES} || $!{EXDEV} ? "denied" : "$!"), "\n" }
report("create", sysopen(my $f, "new", O_CREAT | O_WRONLY));
report("directory", mkdir("dir"));
report("symbolic link", symlink("x", "link"));
report("hard link", link("old", "hard"));
report("hard link elsewhere", link("old", "sub/hard"));
report("rename", rename("old", "renamed")) ; rename("renamed", "old");
report("rename elsewhere", rename("old", "sub/renamed")); rename("sub/renamed", "old");
report("fifo", POSIX::mkfifo("fifo", 0600));
socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die;
report("socket", bind($s, sockaddr_un("sock")));
report("write", open(my $w, ">", "old"));
report("remove", unlink("gone"));
my $tmp = 020200000;
report("file without a name", sysopen(my $t, ".", $tmp | O_RDWR));
my ($linkat, $cwd, $follow) = ((POSIX::uname())[4] eq "x86_64" ? 265 : 37, -100, 0x400);
my ($from, $to) = ("/proc/self/fd/" . fileno($t), "named");
report("a name for it", syscall($linkat, $cwd, $from, $cwd, $to, $follow) == 0);
`

const (
	denied = "create denied\ndirectory denied\nsymbolic link denied\nhard link denied\nhard link elsewhere denied\nrename denied\nrename elsewhere denied\n" +
		"fifo denied\nsocket denied\nwrite ok\nremove ok\nfile without a name ok\na name for it denied\n"
	allowed = "create ok\ndirectory ok\nsymbolic link ok\nhard link ok\nhard link elsewhere ok\nrename ok\nrename elsewhere ok\n" +
		"fifo ok\nsocket ok\nwrite ok\nremove ok\nfile without a name ok\na name for it ok\n"
)

// guests are the released guest, and a program that does the same in Go.
func guests(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := programs.Install(t.Context(), dir, programs.CommandAlone); err != nil {
		t.Fatal(err)
	}
	makeReachable(t, dir)
	return map[string]string{"before the runtime": guesttest.Program(t), "in Go": filepath.Join(dir, programs.CommandAlone)}
}

// makeReachable lets every user reach a directory.
func makeReachable(t *testing.T, dir string) {
	t.Helper()
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// users returns the user of the tests, and a plain user as well if that is root.
func users() map[string]int {
	if os.Geteuid() != 0 {
		return map[string]int{"a plain user": os.Geteuid()}
	}
	return map[string]int{"root": 0, "a plain user": 1000}
}

// box is a directory of the host for bubblewrap with a guest.
type box struct {
	guest, work string
	uid         int
}

func newBox(t *testing.T, guest string, uid int) box {
	t.Helper()
	b := box{guest: guest, work: t.TempDir(), uid: uid}
	makeReachable(t, b.work)
	guesttest.WriteFile(t, b.work, "old", "")
	guesttest.WriteFile(t, b.work, "gone", "")
	if err := os.Mkdir(filepath.Join(b.work, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".", "old", "gone", "sub"} {
		if err := os.Chown(filepath.Join(b.work, name), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// run runs a command line of bubblewrap. Descriptor 3 is file.
func (b box) run(t *testing.T, file *os.File, line ...string) (string, error) {
	t.Helper()
	args := append([]string{
		"--unshare-all", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run",
		"--dir", layout.Root, "--ro-bind", b.guest, layout.Program, "--bind", b.work, b.work, "--chdir", b.work, "--",
	}, line...)
	cmd := exec.CommandContext(t.Context(), "bwrap", args...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	if b.uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(b.uid), Gid: uint32(b.uid)}}
	}
	if file != nil {
		cmd.ExtraFiles = []*os.File{file}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// confine runs a command in a domain. Its seccomp program reports nothing: no guard answers.
func (b box) confine(t *testing.T, command ...string) (out string, host int, err error) {
	t.Helper()
	host, guest, err := Socket(seccomp.Allow())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(host) })
	file := os.NewFile(uintptr(guest), "guest")
	defer file.Close()
	out, err = b.run(t, file, Line(3, "/nowhere:/usr/bin:/bin", command)...)
	return out, host, err
}

// eachBox runs test with both guests as each user.
func eachBox(t *testing.T, test func(t *testing.T, b box)) {
	t.Helper()
	if landlock.Version() == 0 {
		t.Skip("this kernel has no Landlock")
	}
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap cannot be used: %v: %s", err, out)
	}
	for guest, path := range guests(t) {
		for user, uid := range users() {
			t.Run(guest+" as "+user, func(t *testing.T) { test(t, newBox(t, path, uid)) })
		}
	}
}

func Test_The_Kernel_Denies_Entries_That_No_Guard_Answers_For(t *testing.T) {
	eachBox(t, func(t *testing.T, b box) {
		t.Helper()
		out, host, err := b.confine(t, "perl", "-e", attempts)
		if err != nil || out != denied {
			t.Errorf("%v: %s", err, out)
		}
		if fd, err := ReceiveListener(host); err != nil {
			t.Error(err)
		} else {
			_ = unix.Close(fd)
		}
		if got := guesttest.Entries(t, b.work); got != "old sub" {
			t.Errorf("the host has %s", got)
		}
		// Control: without the domain all attempts succeed.
		b = newBox(t, b.guest, b.uid)
		if out, err := b.run(t, nil, "perl", "-e", attempts); err != nil || out != allowed {
			t.Errorf("without a domain: %v: %s", err, out)
		}
	})
}

func Test_A_Confined_Command_Inherits_Nothing_Of_The_Guest(t *testing.T) {
	eachBox(t, func(t *testing.T, b box) {
		t.Helper()
		const script = `ls /proc/self/fd | sort -n | tr '\n' ' '; ulimit -Sn; grep -E 'Sig(Ign|Blk)' /proc/self/status`
		out, _, err := b.confine(t, "sh", "-c", script)
		if plain, _ := b.run(t, nil, "sh", "-c", script); err != nil || out != plain {
			t.Errorf("%v: %q, and without the guest %q", err, out, plain)
		}
	})
}

func Test_A_Confined_Command_Is_Found_As_Execvp_Does(t *testing.T) {
	eachBox(t, func(t *testing.T, b box) {
		t.Helper()
		guesttest.WriteProgram(t, b.work, "text", "echo $0 $1\n")
		if out, _, err := b.confine(t, "./text", "a"); err != nil || out != "./text a\n" {
			t.Errorf("a text without an interpreter: %v, %q", err, out)
		}
		for name, want := range map[string]error{"nothing": unix.ENOENT, "./sub": unix.EACCES, "./old/x": unix.ENOENT} {
			out, host, err := b.confine(t, name)
			fd, lerr := ReceiveListener(host)
			if err == nil || lerr != nil {
				t.Errorf("%s: %v, %v, %s", name, err, lerr, out)
				continue
			}
			_ = unix.Close(fd)
			if got := ExecuteError(host); got != want { //nolint:errorlint // an error number
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	})
}

func Test_A_Command_Without_Its_Guard_Is_Not_Executed(t *testing.T) {
	eachBox(t, func(t *testing.T, b box) {
		t.Helper()
		rights := []byte{0xc0, 0x1f, 0, 0, 0, 0, 0, 0}
		for name, message := range map[string][]byte{
			"no message": nil, "no program": rights, "no instruction": append(slices.Clone(rights), 6, 0, 0),
			"a bad program":  append(slices.Clone(rights), 0xff, 0xff, 0, 0, 0, 0, 0, 0),
			"unknown rights": append(bytes.Repeat([]byte{0xff}, 8), seccomp.Allow().Bytes()...),
		} {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			if message == nil {
				_ = unix.Close(pair[0])
			} else if _, err := unix.Write(pair[0], message); err != nil {
				t.Fatal(err)
			}
			file := os.NewFile(uintptr(pair[1]), "guest")
			out, err := b.run(t, file, Line(3, "/usr/bin:/bin", []string{"echo", "it runs"})...)
			_ = file.Close()
			if err == nil || strings.Contains(out, "it runs") {
				t.Errorf("%s: %v, %s", name, err, out)
			}
			if message == nil {
				continue
			}
			if fd, err := ReceiveListener(pair[0]); err == nil {
				t.Errorf("%s: listener %d", name, fd)
			}
			_ = unix.Close(pair[0])
		}
	})
}
