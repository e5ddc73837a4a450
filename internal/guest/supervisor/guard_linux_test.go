package supervisor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/programs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// cage is a container with the guest as its first process, without capabilities and with a workspace of the host.
type cage struct {
	*session.Connection

	ws string

	mu      sync.Mutex
	refused []guard.Refusal
	told    chan struct{} // gets a value when refused has grown
}

// walls start a program as the first process of a container, with a workspace and the guest's program.
type walls struct {
	name    string
	uid     int
	command func(t *testing.T, uid int, ws string) *exec.Cmd
}

func allWalls() []walls {
	return []walls{
		{"bwrap", os.Geteuid(), bwrapCage},
		{"docker as root", 0, dockerCage},
		{"docker as a user", 1000, dockerCage},
	}
}

func bwrapCage(t *testing.T, _ int, ws string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), require.Command(t, "bwrap", "bwrap"), "--unshare-all", "--unshare-user", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run",
		"--dir", layout.Root, "--ro-bind", guesttest.Program(t), layout.Program, "--bind", ws, ws, "--ro-bind", attackProgram(t), "/run/attack", layout.Program, "serve", "-")
}

func dockerCage(t *testing.T, uid int, ws string) *exec.Cmd {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "docker", "version").CombinedOutput(); err != nil {
		if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "docker") {
			t.Fatalf("docker: %v: %s", err, out)
		}
		t.Skipf("no Docker engine: %v: %s", err, out)
	}
	name := "agent-sandbox-guard-test-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	t.Cleanup(func() {
		_ = exec.Command("docker", "rm", "-f", name).Run() //nolint:noctx // the test's context has ended
	})
	// Without the engine's own seccomp profile, so that only the guest's program applies.
	return exec.CommandContext(t.Context(), "docker", "run", "-i", "--rm", "--name", name, "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--security-opt", "seccomp=unconfined", "--network", "none", "--pids-limit", "200",
		"--user", strconv.Itoa(uid)+":"+strconv.Itoa(uid), "-v", guesttest.Program(t)+":"+layout.Program+":ro", "-v", attackProgram(t)+":/run/attack:ro", "-v", ws+":"+ws,
		"--entrypoint", layout.Program, "debian:bookworm-slim", "serve", "-")
}

var attackBuilt sync.Once

// attackProgram builds the program that tries to bypass the guard.
func attackProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(filepath.Dir(guesttest.Program(t)), "attack")
	attackBuilt.Do(func() {
		if err := programs.Build(t.Context(), "testdata/attack", program); err != nil {
			t.Error(err)
		}
	})
	return program
}

// newCage starts a container whose guest guards a workspace that holds a repository.
func newCage(t *testing.T, w walls) *cage {
	t.Helper()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", "sub", ".git", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(ws, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(ws, dir), w.uid, w.uid); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(ws), 0o755); err != nil {
		t.Fatal(err)
	}
	c := &cage{ws: ws, told: make(chan struct{}, 1)}
	c.Connection = connectCage(t, w, ws)
	if err := c.Setup(t.Context(), session.Setup{Guard: c.rules(), Refused: c.note}); err != nil {
		t.Fatal(err)
	}
	return c
}

func connectCage(t *testing.T, w walls, ws string) *session.Connection {
	t.Helper()
	cmd := w.command(t, w.uid, ws)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := session.Connect(t.Context(), pipes{out, in})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = cmd.Wait()
	})
	return c
}

// rules returns the rules of a workspace, as a backend would set them.
func (c *cage) rules() *guard.Rules {
	ws := guard.Path(c.ws)
	return &guard.Rules{
		Names:   []guard.Name{{Dir: ws, Name: ".husky"}, {Dir: ws + "/.git/hooks", Name: "*", Except: []guard.Path{"*.sample"}}, {Dir: ws + "/.git", Name: "config"}},
		NoRepos: []guard.Path{ws},
		Mounts:  []guard.Mount{{Path: ws, Access: guard.ReadWrite}, {Path: ws + "/.git", Access: guard.ReadWrite, Pin: true}, {Path: ws + "/.git/hooks", Access: guard.ReadWrite, Pin: true}},
		Rest:    guard.Private,
	}
}

func (c *cage) note(r guard.Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = append(c.refused, r)
	select {
	case c.told <- struct{}{}:
	default:
	}
}

// has waits for a refusal. Refusals arrive independently of the output of commands.
func (c *cage) has(r guard.Refusal) bool {
	end := time.After(deadline.Scale(10 * time.Second))
	for {
		c.mu.Lock()
		found := slices.Contains(c.refused, r)
		c.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-c.told:
		case <-end:
			return false
		}
	}
}

// run runs a command in the workspace and returns its output.
func (c *cage) run(t *testing.T, args ...string) (sandbox.Exit, string) {
	t.Helper()
	var out bytes.Buffer
	p, err := c.Start(t.Context(), session.Command{Args: args, Env: []string{"PATH=/usr/bin:/bin", "HOME=/tmp"}, Dir: c.ws}, sandbox.Stdio{Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if err != nil {
		t.Fatalf("%v, %s", err, out.String())
	}
	return exit, out.String()
}

// tree returns the host's files in the workspace.
func (c *cage) tree(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(c.ws, func(path string, _ os.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(path, c.ws), "/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func eachCage(t *testing.T, test func(t *testing.T, c *cage)) {
	t.Helper()
	for _, w := range allWalls() {
		t.Run(w.name, func(t *testing.T) { test(t, newCage(t, w)) })
	}
}

func Test_The_Guard_Inside_Holds_Against_Commands(t *testing.T) {
	eachCage(t, func(t *testing.T, c *cage) {
		t.Helper()
		// The host makes this socket after the start.
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(c.ws, "late.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := os.Chmod(filepath.Join(c.ws, "late.sock"), 0o777); err != nil {
			t.Fatal(err)
		}
		called := make(chan struct{}, 10)
		go func() {
			for {
				if _, err := l.Accept(); err != nil {
					return
				}
				called <- struct{}{}
			}
		}()
		_, out := c.run(t, "/run/attack", c.ws)
		got := map[string]string{}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := map[string]string{
			"openat2": "ENOSYS", "hook by openat2": "ENOSYS", "host socket": "EACCES", "host socket by link": "EACCES", "datagrams": "EACCES",
			"own socket": "ok", "kill 1": "ok", "stop 1": "ok", // without an effect
			"trace 1": "EPERM", "descriptor of 1": "EPERM", "read 1": "EPERM",
			"memory of 1": "EACCES", "descriptors of 1": "EACCES", "the runner": "EACCES", "the hooks away": "EBUSY",
			"limits of 1": "EPERM", "limits of its thread": "EPERM", "reading limits of 1": "ok", "policy of 1": "EPERM", "policy of its thread": "EPERM",
			"attributes of 1": "EPERM", "processors of 1": "EPERM", "priority of 1": "EPERM", "priority of its group": "EPERM",
			"priority of the user": "EPERM", "I/O of 1": "EPERM", "I/O of the user": "EPERM",
			"own limits": "ok", "own policy": "ok", "own priority": "ok", "own processors": "ok", "own I/O": "ok",
			"set-user-ID": "EPERM", "an ordinary file": "ok", "a directory": "ok", "an ordinary rename": "ok",
		}
		for name, is := range got {
			expected, ok := want[name]
			if !ok {
				expected = "EROFS"
			}
			if is != expected {
				t.Errorf("%s: %s, want %s", name, is, expected)
			}
		}
		if len(got) < len(want) {
			t.Errorf("only %d attempts", len(got))
		}
		for _, name := range c.tree(t) {
			base := strings.ToLower(filepath.Base(name))
			if strings.HasPrefix(base, ".husky") || strings.HasPrefix(name, ".git/hooks/") || base == ".git" && name != ".git" || name == "bare/HEAD" {
				t.Errorf("the host has %s", name)
			}
		}
		select {
		case <-called:
			t.Error("the host's socket was called")
		default:
		}
		if exit, out := c.run(t, "sh", "-c", "echo alive"); exit.Code != 0 || out != "alive\n" {
			t.Errorf("afterwards: %+v %q", exit, out)
		}
		c.checkRefusals(t)
	})
}

func (c *cage) checkRefusals(t *testing.T) {
	t.Helper()
	for _, want := range []guard.Refusal{
		{Kind: guard.RefusedPath, Op: "create", Target: c.ws + "/.husky"},
		{Kind: guard.RefusedPath, Op: "rename", Target: c.ws + "/.git/hooks/pre-commit"},
		{Kind: guard.RefusedPath, Op: "create", Target: c.ws + "/sub/.git"},
		{Kind: guard.RefusedSocket, Op: "connect", Target: c.ws + "/late.sock"},
	} {
		if !c.has(want) {
			t.Errorf("not told: %+v", want)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.refused {
		if slices.Contains(c.refused[:i], r) {
			t.Errorf("told twice: %+v", r)
		}
	}
}

func Test_Ordinary_Commands_Work_Under_The_Guard_Inside(t *testing.T) {
	eachCage(t, func(t *testing.T, c *cage) {
		t.Helper()
		for _, row := range []struct{ name, script, want string }{
			{"redirections", `echo a >f && echo b >>f && cat f && rm f && echo x >/dev/null && echo out >/dev/stdout`, "a\nb\nout\n"},
			{"temporary files", `f=$(mktemp) && echo t >$f && cat $f && d=$(mktemp -d ./dXXXXXX) && rmdir $d && echo done`, "t\ndone\n"},
			{"links and moves", `echo 1 >a && ln a b && ln -s a c && mv b d && cat c d && cp -a a e && rm a c d e`, "1\n1\n"},
			{"a name that is guarded elsewhere", `mkdir sub/.husky && echo x >sub/.husky/f && cat sub/.husky/f && rm -r sub/.husky`, "x\n"},
			{"a sample of a hook", `echo s >.git/hooks/pre-commit.sample && cat .git/hooks/pre-commit.sample`, "s\n"},
			{"a commit's files", `echo c >.git/index.lock && mv .git/index.lock .git/index && cat .git/index`, "c\n"},
			{"a process that hides its memory", `perl -e 'syscall(157, 4, 0, 0, 0, 0) == 0 or die; open(my $f, ">", "hidden") or die $!; print "made\n"'`, "made\n"},
			{
				"an umask", `umask 0 && mkdir open && : >open/f && mkfifo open/p && stat -c %a open open/f open/p; umask 77; mkdir shut; stat -c %a shut; rm -r open shut`,
				"777\n666\n666\n700\n",
			},
			{"a FIFO that waits", `mkfifo p && { (cat p) & } && echo through >p && wait && rm p`, "through\n"},
			{"a FIFO whose writer is killed", `mkfifo p && { timeout 0.2 sh -c 'echo never >p'; echo $?; } && { (cat p) & } && echo then >p && wait && rm p`, "124\nthen\n"},
			{"files of the process itself", `echo 0 >/proc/self/oom_score_adj && cat /proc/self/oom_score_adj`, "0\n"},
			{"a heredoc", "cat <<E\nhere\nE", "here\n"},
			{"jobs", `for i in 1 2 3 4 5 6 7 8; do (echo $i >job$i) & done; wait; cat job?; rm job?`, "1\n2\n3\n4\n5\n6\n7\n8\n"},
		} {
			t.Run(row.name, func(t *testing.T) {
				if exit, out := c.run(t, "bash", "-c", row.script); exit.Code != 0 || out != row.want {
					t.Errorf("%+v %q, want %q", exit, out, row.want)
				}
			})
		}
	})
}

func Test_Files_Pass_The_Guard_Inside_Too(t *testing.T) {
	eachCage(t, func(t *testing.T, c *cage) {
		t.Helper()
		files := files.New(func(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
			return c.Start(ctx, session.Command{Args: cmd.Args, Env: cmd.Env, Dir: c.ws}, stdio)
		})
		if err := files.Create(t.Context(), c.ws+"/.git/hooks/pre-push", 0o755, strings.NewReader("x")); err == nil {
			t.Error("a hook was made")
		}
		if err := files.Create(t.Context(), c.ws+"/fine", 0o644, strings.NewReader("x")); err != nil {
			t.Error(err)
		}
		if tree := c.tree(t); slices.Contains(tree, ".git/hooks/pre-push") || !slices.Contains(tree, "fine") {
			t.Errorf("the host has %q", tree)
		}
	})
}

func Test_A_Race_Against_The_Guard_Inside_Is_Lost(t *testing.T) {
	eachCage(t, func(t *testing.T, c *cage) {
		t.Helper()
		p, err := c.Start(t.Context(), session.Command{Args: []string{"/run/attack", "race", c.ws}, Dir: c.ws}, sandbox.Stdio{Stderr: os.Stderr})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := p.Wait()
		if err != nil || exit.Signal != 0 { // it bypassed the guard's answer, and a check found it
			<-c.Done()
			if why := c.Fallen(); sandbox.CodeOf(why) != sandbox.Closed || !strings.Contains(why.Error(), c.ws+"/.husky") {
				t.Errorf("the sandbox ended, and not for the race: %v", why)
			}
		}
		_ = c.Close()
		if slices.Contains(c.tree(t), ".husky") {
			t.Error("the host has .husky")
		}
	})
}

func Test_Commands_In_A_Container_Are_In_A_Landlock_Domain(t *testing.T) {
	if landlock.Version() == 0 {
		t.Skip("this kernel has no Landlock")
	}
	for _, w := range allWalls()[1:] {
		t.Run(w.name, func(t *testing.T) {
			var name string
			start := w.command
			w.command = func(t *testing.T, uid int, ws string) *exec.Cmd {
				t.Helper()
				cmd := start(t, uid, ws)
				name = cmd.Args[slices.Index(cmd.Args, "--name")+1]
				return cmd
			}
			c := newCage(t, w)
			if exit, out := c.run(t, "true"); exit.Code != 0 {
				t.Fatalf("%+v %s", exit, out)
			}
			// The engine starts a process outside of all domains. A process in a domain must not access it
			// (landlock(7)).
			user := strconv.Itoa(w.uid)
			other := exec.CommandContext(t.Context(), "docker", "exec", "-i", "--user", user, name, "sh", "-c", "echo $$; exec cat")
			in, err := other.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := other.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close(); _ = other.Wait() }()
			pid, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			look := "head -c 1 /proc/" + strings.TrimSpace(pid) + "/environ >/dev/null && echo seen"
			if exit, out := c.run(t, "sh", "-c", look); exit.Code == 0 || !strings.Contains(out, "Permission denied") {
				t.Errorf("a command: %+v %s", exit, out)
			}
			if out, err := exec.CommandContext(t.Context(), "docker", "exec", "--user", user, name, "sh", "-c", look).CombinedOutput(); err != nil || string(out) != "seen\n" {
				t.Errorf("a process outside of the domain: %v %s", err, out)
			}
		})
	}
}

func Test_A_Guard_That_Cannot_Be_Installed_Lets_Nothing_Start(t *testing.T) {
	w := allWalls()[0]
	ws := t.TempDir()
	c := connectCage(t, walls{w.name, w.uid, func(t *testing.T, uid int, ws string) *exec.Cmd {
		t.Helper()
		cmd := w.command(t, uid, ws)
		cmd.Args = slices.Insert(cmd.Args, len(cmd.Args)-3, "--seccomp", "3")
		program, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		// The profile refuses pidfd_getfd with EPERM and allows all other calls.
		code := []unix.SockFilter{{Code: 0x20}, {Code: 0x15, K: unix.SYS_PIDFD_GETFD, Jf: 1}, {Code: 0x06, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}, {Code: 0x06, K: unix.SECCOMP_RET_ALLOW}}
		for _, f := range code {
			_, _ = program.Write([]byte{byte(f.Code), byte(f.Code >> 8), f.Jt, f.Jf, byte(f.K), byte(f.K >> 8), byte(f.K >> 16), byte(f.K >> 24)})
		}
		if _, err := program.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{program}
		return cmd
	}}, ws)
	err := c.Setup(t.Context(), session.Setup{Guard: &guard.Rules{}})
	if sandbox.CodeOf(err) != sandbox.Unavailable || !strings.Contains(err.Error(), "pidfd_getfd") {
		t.Errorf("Setup: %v", err)
	}
	if _, err := c.Start(t.Context(), session.Command{Args: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/"}, sandbox.Stdio{}); err == nil {
		t.Error("a command was started")
	}
}
