package virtual

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// canary is a set of resources of the host that a script of the machine must not see, change, call or end.
type canary struct {
	dir     string // contains the files "secret" and "note"
	secret  string
	project string // mounted at /proj, with links that lead out
	process *exec.Cmd
	ended   atomic.Bool
	port    int
	called  atomic.Int64
}

const canaryVariable = "AGENT_SANDBOX_CANARY"

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{dir: t.TempDir(), project: t.TempDir(), secret: fmt.Sprintf("tweet-%d", time.Now().UnixNano())}
	t.Setenv(canaryVariable, c.secret)
	c.write(t, filepath.Join(c.dir, "secret"), c.secret)
	c.write(t, filepath.Join(c.dir, "note"), "as it was")
	c.link(t)
	c.start(t)
	c.listen(t)
	return c
}

func (c *canary) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// link fills the project with links and files that may lead out of it.
func (c *canary) link(t *testing.T) {
	t.Helper()
	c.write(t, filepath.Join(c.project, "readme"), "inside\n")
	deep := filepath.Join(c.project, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(c.project, c.dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"absolute": c.dir, "file": filepath.Join(c.dir, "secret"), "relative": up, "up": "../../../../../../../../..", "note": filepath.Join(up, "note"),
		"proc": "/proc/self/root" + c.dir, "environ": "/proc/self/environ", "fd": "/proc/self/fd", "root": "/", "a/b/out": "../../" + up,
		"chain": "chain2", "chain2": "absolute/secret", "loop": "loop", "dev": "/dev/fd/0",
	} {
		if err := os.Symlink(to, filepath.Join(c.project, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(c.project, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(c.project, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go c.count(l)
}

// start starts a process that runs until it gets a signal.
func (c *canary) start(t *testing.T) {
	t.Helper()
	c.process = exec.CommandContext(context.WithoutCancel(t.Context()), "sleep", "1000")
	if err := c.process.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.process.Wait() // The test kills it at the end.
		c.ended.Store(true)
	}()
	t.Cleanup(func() {
		_ = c.process.Process.Kill()
		<-done
	})
}

func (c *canary) listen(t *testing.T) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c.port = l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It is a listener of TCP.
	go c.count(l)
}

func (c *canary) count(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		c.called.Add(1)
		_ = conn.Close()
	}
}

// unharmed checks that nothing on the host has changed.
func (c *canary) unharmed(t *testing.T) {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(c.dir, "note")); err != nil || string(b) != "as it was" {
		t.Errorf("the note outside is %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(c.project, "readme")); err != nil || string(b) != "inside\n" {
		t.Errorf("the file below the mount is %q, %v", b, err)
	}
	list, err := os.ReadDir(c.dir)
	if err != nil || len(list) != 2 {
		t.Errorf("outside there are %v, %v", list, err)
	}
	if c.ended.Load() {
		t.Error("the process of the host has ended")
	}
	if n := c.called.Load(); n > 0 {
		t.Errorf("a server of the host was called %d times", n)
	}
}

// Test_A_Script_Does_Not_See_The_Host runs scripts that try to reach a file, a variable, a process and servers of
// the host, without a mount and with one that contains many links out.
func Test_A_Script_Does_Not_See_The_Host(t *testing.T) {
	c := newCanary(t)
	for _, mounted := range []bool{false, true} {
		for _, e := range escapes {
			name := e.name
			if mounted {
				name += " over a mount"
			}
			t.Run(name, func(t *testing.T) { c.attempt(t, e.script, mounted) })
		}
	}
}

func (c *canary) attempt(t *testing.T, script string, mounted bool) {
	t.Helper()
	sh := c.shell(t, mounted)
	defer sh.Close()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	script = strings.NewReplacer("@DIR@", c.dir, "@PID@", fmt.Sprint(c.process.Process.Pid), "@SELF@", fmt.Sprint(os.Getpid()),
		"@PORT@", fmt.Sprint(c.port), "@VAR@", canaryVariable).Replace(script)
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	res, err := sh.Run(ctx, script, shell.Stdio{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error: %v", err)
	}
	t.Logf("status %d, %v: %.600s", res.Status, err, out.String())
	seen := out.String()
	for what, text := range map[string]string{
		"the secret": c.secret, "the place of the project": c.project, "the name of the host": host,
	} {
		if strings.Contains(seen, text) && text != "sandbox" {
			t.Errorf("the script has seen %s: %.400s", what, seen)
		}
	}
	if strings.Contains(seen, "internal error") || strings.Contains(seen, "goroutine") {
		t.Errorf("the script has seen a fault of ours: %.400s", seen)
	}
	if !strings.Contains(script, c.dir) && strings.Contains(seen, filepath.Base(filepath.Dir(c.dir))+"/") {
		t.Errorf("the script has seen the place of the secret: %.400s", seen)
	}
	c.unharmed(t)
}

// shell returns a machine, with the project at /proj when mounted.
func (c *canary) shell(t *testing.T, mounted bool) *shell.Shell {
	t.Helper()
	tree := vfs.New(vfs.Options{})
	for _, dir := range []string{"/tmp", "/proj", "/dev", "/etc"} {
		if err := tree.Mkdir(vfs.Cred{}, dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Mknod(vfs.Cred{}, "/dev/null", fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, 3)); err != nil {
		t.Fatal(err)
	}
	if mounted {
		m, err := hostdir.Attach(tree, "/proj", c.project, hostdir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
	}
	return shell.New(shell.Options{FS: tree, Dir: "/proj", Commands: coreutils.Commands()})
}

// escapes are attempts to reach the host: @DIR@ has the files "secret" and "note", @PID@ and @SELF@ are processes,
// @PORT@ is a server, @VAR@ a variable in the environment.
var escapes = []struct{ name, script string }{
	{"a path", `cat @DIR@/secret; ls -la @DIR@; echo x > @DIR@/note; echo @DIR@/*; stat @DIR@/note`},
	{"paths upward", `cat ../../../../../../../..@DIR@/secret; cd ../../../../..; cd @DIR@ && pwd`},
	{"files of the system", `cat /etc/passwd /etc/hostname /etc/shadow /proc/version /proc/cpuinfo /proc/1/cmdline /sys/class/net/*/address`},
	{"/proc/self", `cat /proc/self/environ /proc/self/cmdline /proc/self/maps /proc/self/mounts; ls -l /proc/self/fd /proc/self/root/ /proc/self/cwd/ /proc/self/exe; cat /proc/self/root@DIR@/secret`},
	{"processes of /proc", `cat /proc/@PID@/environ /proc/@SELF@/environ /proc/@SELF@/root@DIR@/secret; ls /proc/@PID@/cwd/ /proc/@SELF@/task`},
	{"all of /proc", `grep -r tweet /proc /dev /sys /etc 2>/dev/null; cat /proc/*/environ /proc/*/cmdline | tr '\0' '\n'`},
	{"descriptors", `for i in {0..200}; do cat /dev/fd/$i <&- ; cat <&$i; echo x >&$i; ls -l /proc/self/fd/$i; done 2>&1 < /dev/null`},
	{"descriptors by redirection", `for i in {3..100}; do exec 3<&$i && cat <&3; exec 3<> /dev/fd/$i && cat <&3; done`},
	{"the environment", `env; printenv; export -p; declare -p; set; echo "$@VAR@ ${!AGENT*} ${!PATH*}"; compgen -v; awk 'BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }'; jq -n 'env, $ENV'; envsubst '$@VAR@' <<< '$@VAR@'; bash -c env; env -i bash -c env`},
	{"names of the machine and its users", `hostname; hostname -f; uname -a; whoami; id; groups; logname; users; who; echo ~ ~root ~nobody ~$USER $HOSTNAME $HOSTTYPE; getent passwd; cat /etc/hosts /etc/resolv.conf /etc/machine-id`},
	{"prompts", `x='\h \H \u \w \s \v \l'; echo "${x@P}"`},
	{"time zones", `TZ=:@DIR@/secret date; TZ=@DIR@/secret date; TZ=../../../..@DIR@/secret date; TZ=/etc/localtime date; date -r @DIR@/note; date -f @DIR@/secret`},
	{"execution", `@DIR@/secret; /bin/ls @DIR@; /usr/bin/env cat @DIR@/secret; exec @DIR@/secret`},
	{"programs of the host", `/bin/sh -c 'cat @DIR@/secret'; /usr/bin/python3 -c 'print(open("@DIR@/secret").read())'; perl -e 'print 1'; busybox; PATH=/usr/local/bin:/opt/bin:/home; go version; python3 -V; git --version`},
	{"interpreters", `printf '#!/usr/bin/python3\nprint(1)\n' > /tmp/s; chmod +x /tmp/s; /tmp/s; printf '#!@DIR@/secret\n' > /tmp/t; chmod +x /tmp/t; /tmp/t; /lib64/ld-linux-x86-64.so.2 /bin/cat @DIR@/secret`},
	{"libraries", `enable -f @DIR@/secret x; LD_PRELOAD=@DIR@/secret cat /dev/null; BASH_ENV=@DIR@/secret bash -c :; ENV=@DIR@/secret sh -i -c :`},
	{"source", `. @DIR@/secret; source @DIR@/secret; bash @DIR@/secret; bash < @DIR@/secret; history -r @DIR@/secret; history; history -w @DIR@/note`},
	{"redirections", `cat < @DIR@/secret; echo x >> @DIR@/note; echo x >| @DIR@/note; echo x &> @DIR@/note; : <> @DIR@/note; x=$(< @DIR@/secret); echo "$x"; read y < @DIR@/secret; mapfile z < @DIR@/secret; echo "$y ${z[*]}"`},
	{"the network of bash", `exec 3<> /dev/tcp/127.0.0.1/@PORT@ && cat <&3; echo x > /dev/tcp/localhost/@PORT@; echo x > /dev/udp/127.0.0.1/@PORT@; cat < /dev/tcp/127.0.0.1/@PORT@`},
	{"the network of commands", `curl http://127.0.0.1:@PORT@; wget http://127.0.0.1:@PORT@; nc 127.0.0.1 @PORT@; ping -c1 127.0.0.1; getent hosts localhost; nslookup localhost; ssh localhost`},
	{"sockets", `cat sock; echo x > sock; exec 3<> sock; cp sock /tmp/sock2; cat /tmp/sock2; tar cf - sock | cat > /dev/null; grep x sock; wc sock; cat /var/run/docker.sock /run/systemd/private`},
	{"FIFOs", `timeout 1 cat fifo; timeout 1 bash -c 'echo x > fifo'; cp -r fifo /tmp/f; timeout 1 wc fifo; exec 3<>fifo`},
	{"signals", `kill -9 @PID@; kill -TERM @PID@; kill -0 @PID@; kill -9 -@PID@; kill -STOP @SELF@; kill -0 @SELF@; kill -9 1; kill -0 0; kill -9 -1; pkill sleep; killall sleep; timeout -s 9 1 kill @PID@`},
	{"processes", `ps; ps -ef; ps aux; pgrep sleep; jobs -l; echo $$ $PPID $BASHPID; ls /proc; top -n1 -b; lsof`},
	{"waiting for processes", `wait @PID@; fg @PID@; disown @PID@; tail --pid=@PID@ -f /dev/null & sleep 0.1; kill %1`},
	{"limits and devices", `ulimit -a; cat /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/tty /dev/pts/0 /dev/console; ls /dev`},
	{"making devices", `mknod /tmp/m c 1 1; cat /tmp/m; mknod /tmp/d b 8 0; head -c1 /tmp/d; mknod /tmp/t c 5 0; cat /tmp/t; tar cf /tmp/x.tar /tmp/m`},
	{"mounts", `mount; mount --bind / /tmp; df -a; df @DIR@; chroot @DIR@ cat secret; chroot / cat @DIR@/secret; unshare; nsenter -t 1 -a cat @DIR@/secret`},
	{"links made inside", `ln -s @DIR@ /tmp/l; cat /tmp/l/secret; ls /tmp/l/; echo x > /tmp/l/note; ln -s @DIR@/note /tmp/n; echo x > /tmp/n; ln @DIR@/secret /tmp/h; readlink -f /tmp/l/secret; realpath /tmp/l; cp /tmp/l/secret /tmp/c; mv /tmp/c /tmp/l/`},
	{"links of /proc made inside", `ln -s /proc/self/root /tmp/r; cat /tmp/r@DIR@/secret; ln -s /proc/@SELF@/root /tmp/q; cat /tmp/q@DIR@/secret; ln -s /proc/self/fd/0 /tmp/0; cat /tmp/0 < /dev/null`},
	{"links of the mount", `cat absolute/secret file relative/secret chain note proc/secret environ root@DIR@/secret up@DIR@/secret a/b/out/secret dev < /dev/null; ls -laR . absolute/ relative/ up/ root/ fd/ loop 2>&1; echo */ */* */*/*`},
	{"writes through links of the mount", `echo x > note; echo x > absolute/note; echo x >> relative/note; cp readme absolute/; cp readme note; mv readme relative/new; touch absolute/t; mkdir absolute/d; rm -rf absolute/secret relative/note; truncate -s 0 note; tee note < readme; sed -i s/a/b/ note; chmod 777 absolute/note; chown 0 note; ln -f readme absolute/x; rm -rf */ *`},
	{"walks over links of the mount", `find -L . -type f 2>&1; find . -follow -name secret -exec cat {} +; grep -R tweet .; grep -rS tweet .; cp -rL . /tmp/copy; cat /tmp/copy/absolute/secret; ls -LR; du -L .; tar chf /tmp/t.tar .; tar tf /tmp/t.tar; tar xOf /tmp/t.tar; rg -L tweet; fd -L secret; zip -r /tmp/z.zip .; chmod -R 777 .; diff -r . absolute; shopt -s globstar; cat **/secret`},
	{"changes of directory over links", `cd absolute && pwd -P && cat secret; cd -P relative && cat secret; cd up && ls; cd root && ls; pushd a/b/out && cat secret; cd a/b && cat ../../absolute/secret; CDPATH=absolute:up cd tmp; cd fd; pwd -P`},
	{"races of links", `for i in {1..200}; do ln -sfn @DIR@ /tmp/x; cat /tmp/x/secret; rm -f /tmp/x; mkdir -p /tmp/x; rm -rf /tmp/x; done 2>/dev/null & for i in {1..200}; do cat /tmp/x/secret; ls /tmp/x; done 2>/dev/null; wait`},
	{"archives", `mkdir /tmp/a; ln -s @DIR@ /tmp/a/l; tar cf /tmp/a.tar -C /tmp/a l; rm -r /tmp/a; mkdir /tmp/a; tar xf /tmp/a.tar -C /tmp/a; echo x > /tmp/a/l/note; cat /tmp/a/l/secret; tar cPf /tmp/b.tar @DIR@/secret; tar xPf /tmp/b.tar; tar cf /tmp/c.tar --transform 's,.*,../../../..@DIR@/note,' readme; tar xPf /tmp/c.tar; tar cf - --use-compress-program='cat @DIR@/secret' readme; tar xf /tmp/a.tar --to-command='cat @DIR@/secret'`},
	{"options of commands that read files", `grep -f @DIR@/secret /dev/null; wc --files0-from=@DIR@/secret; sort --files0-from=@DIR@/secret; xargs -a @DIR@/secret echo; sed -f @DIR@/secret; awk -f @DIR@/secret; jq -f @DIR@/secret; jq -n --rawfile x @DIR@/secret '$x'; cut -f1 @DIR@/secret; date -r @DIR@/secret; touch -r @DIR@/secret /tmp/x; chmod --reference=@DIR@/secret /tmp/x; diff @DIR@/secret /dev/null; patch @DIR@/note < /dev/null; find @DIR@; find . -newer @DIR@/secret; ls -d @DIR@; du @DIR@; md5sum @DIR@/secret; base64 @DIR@/secret; file @DIR@/secret; test -e @DIR@/secret && echo there; shuf @DIR@/secret; split @DIR@/secret; dd if=@DIR@/secret; dd if=/dev/null of=@DIR@/note; install readme @DIR@/new; sed 'r @DIR@/secret' readme; sed 'w @DIR@/note' readme; awk 'BEGIN { while ((getline l < "@DIR@/secret") > 0) print l; print "x" > "@DIR@/note"; "cat @DIR@/secret" | getline l; print l; system("cat @DIR@/secret") }'; sed '1e cat @DIR@/secret' readme; sort -o @DIR@/note readme; sort -T @DIR@ readme; mktemp -p @DIR@; csplit -f @DIR@/x readme 1; tee @DIR@/note < readme; gzip -c @DIR@/secret; xxd @DIR@/secret; od -c @DIR@/secret`},
	{"messages", `cat nothing; ls nothing; cd nothing; ./nothing; . nothing; > a/b/c/d/e; rm nothing; cp nothing x; mv readme/x y; mkdir readme; rmdir a; ln readme readme; tar xf readme; gzip -d readme; patch < readme; exec 9<nothing; read -u 77; printf -v 1 x; bash nothing; kill 99999999; chmod 999 readme; truncate -s -x readme; dd if=nothing; mkfifo readme; realpath -e nothing; mktemp nothing/XXX; cat fifo/x sock/x absolute/x; timeout 1 cat absolute fifo < /dev/null; ls -l sock fifo; rm -r .`},
	{"a wrong use of builtins", `complete -C @DIR@/secret x; compgen -f @DIR@/; compgen -A user; compgen -A hostname; compgen -A file /; bind -f @DIR@/secret; hash -p @DIR@/secret x; x; command -p cat @DIR@/secret; type -a cat; PATH=@DIR@ secret; trap 'cat @DIR@/secret' EXIT; coproc cat @DIR@/secret; cat <(cat @DIR@/secret); select x in @DIR@/*; do echo $x; break; done; HISTFILE=@DIR@/note; fc -l; MAILPATH=@DIR@/secret; caller; times; suspend; logout`},
	{"editors and pagers", `less @DIR@/secret; more @DIR@/secret; vi @DIR@/secret; ed @DIR@/secret; man @DIR@/secret; help; LESSOPEN='|cat @DIR@/secret' less readme; PAGER='cat @DIR@/secret' help`},
}
