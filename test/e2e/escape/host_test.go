//go:build linux

package escape_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

	"github.com/seed434b0696/agent-sandbox/test/deadline"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// canary is part of every secret of the host.
const canary = "CANARY-41d3c0"

// host is one user's machine for one attempt: a home with secrets, a repository to work in, and snapshots of both to detect
// changes.
type host struct {
	t       *testing.T
	uid     int
	base    string // contains all files of this host; paths of other hosts do not contain it
	home    string
	work    string // the repository, in home
	tmp     string // TMPDIR
	runtime string // XDG_RUNTIME_DIR, below /run if root can create it there
	before  map[string]string
	vars    map[string]string
	closers []func()
	network *testnet.Network // the network of the host; nil: this machine's
	target  *target          // the kind of sandbox for attempts inside

	services []*listener // sockets to which no client may connect
	found    []process   // noted by During
	launched int         // PID of the last agent-sandbox
	bare     bool        // the last attempt ran without a sandbox
	killed   bool        // agent-sandbox was killed with SIGKILL
}

// secretFiles are files with secrets that users have in their homes.
var secretFiles = []string{
	".ssh/id_ed25519", ".aws/credentials", ".gnupg/private-keys-v1.d/key", ".netrc", ".git-credentials",
	".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".npmrc", ".pypirc", ".cargo/credentials.toml",
	".config/gcloud/credentials.db", ".mozilla/firefox/p/logins.json", ".config/google-chrome/Default/Cookies",
	".bash_history", ".config/op/config", ".vault-token",
	".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".cache/huggingface/token", ".local/share/opencode/auth.json",
	".config/configstore/firebase-tools.json", ".config/github-copilot/apps.json", ".pi/agent/auth.json",
}

var hosts struct {
	sync.Mutex
	n         int
	templates map[template]string // the directories of the templates
}

// template contains the values that the files of hosts depend on. Those for an engine have the description of its image.
type template struct {
	uid    int
	engine string
}

func (c *escape) newHost(t *testing.T, uid int, w *target) *host {
	t.Helper()
	template := hostTemplate(t, uid, w)
	hosts.Lock()
	hosts.n++
	base := filepath.Join(fixture.base, fmt.Sprintf("host-%04d-", hosts.n))
	hosts.Unlock()
	h := &host{
		t: t, uid: uid, base: base, home: filepath.Join(base, "home"), work: filepath.Join(base, "home", "project"),
		tmp: filepath.Join(base, "tmp"), runtime: filepath.Join(base, "runtime"),
		target: w, network: c.network,
	}
	h.must(os.Mkdir(base, 0o755))
	h.mustRun("/", "cp", "-a", template+"/.", base)
	h.write("home/wt/.git", "gitdir: "+h.work+"/.git/worktrees/wt\n")
	h.write("home/project/.git/worktrees/wt/gitdir", h.home+"/wt/.git\n")
	if os.Getuid() == 0 {
		h.runtime = filepath.Join("/run", filepath.Base(fixture.base)+filepath.Base(base))
		h.closers = append(h.closers, func() { h.remove(h.runtime) })
	}
	h.must(os.Mkdir(h.runtime, 0o700))
	h.must(os.Chown(h.runtime, uid, uid))
	h.must(os.Link(fixture.attacker, filepath.Join(h.home, "tools", attacker.Name)))
	h.vars = map[string]string{
		"work": h.work, "home": h.home, "base": h.base, "runtime": h.runtime, "tmp": h.tmp,
		"attacker": filepath.Join(h.home, "tools", attacker.Name),
		"ca":       filepath.Join(fixture.base, testnet.AuthorityFile),
		// Below /tmp: a sandbox has its own, without a sandbox it is the host's.
		"scratch": filepath.Join("/tmp", filepath.Base(fixture.base)+filepath.Base(base)),
	}
	h.closers = append(h.closers, func() { h.remove(h.vars["scratch"]) })
	t.Cleanup(h.clear)
	return h
}

// hostTemplate makes the directory that newHost copies, once for each user and engine.
func hostTemplate(t *testing.T, uid int, w *target) string {
	t.Helper()
	hosts.Lock()
	defer hosts.Unlock()
	of := template{uid, w.engine}
	if dir := hosts.templates[of]; dir != "" {
		return dir
	}
	base := filepath.Join(fixture.base, fmt.Sprintf("template-%d", len(hosts.templates)))
	h := &host{t: t, uid: uid, base: base, home: filepath.Join(base, "home"), work: filepath.Join(base, "home", "project"), target: w}
	h.must(os.Mkdir(base, 0o755))
	h.must(os.Chown(base, uid, uid))
	for _, f := range secretFiles {
		h.write("home/"+f, canary+"\n")
	}
	h.write("home/.gitconfig", "[user]\n name = a\n email = a@example.com\n[protocol \"file\"]\n allow = always\n[init]\n defaultBranch = main\n")
	for _, f := range []string{".bashrc", ".profile", "outside/file", "tools/README"} {
		h.write("home/"+f, "# of the host\n")
	}
	h.write("tmp/.keep", "")
	// Without the sample hooks, which git would copy, to save time. The nested repository and the submodule have no directory
	// for hooks at all.
	h.mustRun(h.home, "/bin/sh", "-euc", `
		mkdir ../none; export GIT_TEMPLATE_DIR="$PWD/../none"
		for r in upstream project project/sub/deep/nested; do git init -q $r; git -C $r commit -q --allow-empty -m first; done
		cd project
		mkdir -p src ignored; echo 'ignored/' >.gitignore; echo '{"scripts":{}}' >package.json
		echo 'package main' >src/main.go; echo x >ignored/file; echo 'sub/' >>.gitignore
		mkdir .vscode; echo '{}' >.vscode/tasks.json
		git submodule --quiet add "$HOME/upstream" module
		git add -A; git commit -qm second; git branch feature; git tag v1
		git worktree add -q ../wt -b wt
		mkdir .git/hooks .git/info; printf '#!/bin/sh\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push
		echo '*.swp' >.git/info/exclude`)
	h.must(os.Remove(filepath.Join(base, "tmp/.keep")))
	// The first run creates files in ~/.local/share, which must exist before each attempt.
	h.tmp, h.runtime = filepath.Join(base, "tmp"), base
	_ = h.command(h.work, fixture.command, "exec", "--", "true").Run()
	if w.engine != "" {
		h.mustRun(h.work, h.exec("--", "true")...)
	}
	if hosts.templates == nil {
		hosts.templates = map[template]string{}
	}
	hosts.templates[of] = base
	return base
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("set-up: %v", err)
	}
}

// write writes a file that the user owns, and creates its directories.
func (h *host) write(name, content string) {
	h.t.Helper()
	path := h.path(name)
	var made []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	h.must(os.MkdirAll(filepath.Dir(path), 0o755))
	h.must(os.WriteFile(path, []byte(content), 0o755))
	for _, p := range append(made, path) {
		h.must(os.Lchown(p, h.uid, h.uid))
	}
}

// path returns a name with its variables replaced as an absolute path; relative names begin in base.
func (h *host) path(name string) string {
	name = h.expand(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.base, name)
}

func (h *host) expand(s string) string {
	for name, value := range h.vars {
		s = strings.ReplaceAll(s, "{"+name+"}", value)
	}
	return s
}

func (h *host) expandAll(list []string) []string { return mapStrings(list, h.expand) }

// expandInside replaces variables by their values inside the sandbox.
func (h *host) expandInside(s string) string {
	for name, value := range h.target.insidePaths {
		s = strings.ReplaceAll(s, "{"+name+"}", value)
	}
	return h.expand(s)
}

func mapStrings(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = f(s)
	}
	return out
}

func (h *host) env() []string {
	return []string{
		"HOME=" + h.home, "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + h.tmp, "XDG_RUNTIME_DIR=" + h.runtime,
		"LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	}
}

// command returns a command of the host's user.
func (h *host) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(h.env(), h.target.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(h.uid), Gid: uint32(h.uid), Groups: h.target.groups}
	}
	return cmd
}

func (h *host) mustRun(dir string, args ...string) {
	h.t.Helper()
	// Only root can copy files of other owners.
	cmd := h.command(dir, args...)
	if args[0] == "cp" {
		cmd.SysProcAttr.Credential = nil
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("set-up: %q: %v\n%s", args, err, out)
	}
}

// runScript runs a script as the host's user to prepare the host.
func (h *host) runScript(script string) {
	h.t.Helper()
	h.mustRun(h.work, "/bin/sh", "-euc", h.expand(script))
}

// listing describes every file below dir: kind, permissions, content.
func listing(dir string) (map[string]string, error) {
	out := make(map[string]string, 400)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it went away while we looked
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular() && info.Size() > 1<<20:
			st := info.Sys().(*syscall.Stat_t)
			text += fmt.Sprintf(" %d bytes of %v, file %d", info.Size(), st.Mtim, st.Ino)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + to
		}
		out[path] = text
		return nil
	})
	return out, err
}

// snapshot records the files before an attempt.
func (h *host) snapshot() {
	h.t.Helper()
	var err error
	h.before, err = listing(h.base)
	h.must(err)
}

// changes lists the files below dir that differ from the snapshot.
func (h *host) changes(dir string) ([]string, error) {
	after, err := listing(h.base)
	if err != nil {
		return nil, err
	}
	var out []string
	names := slices.Sorted(maps.Keys(after))
	for path := range h.before {
		if _, ok := after[path]; !ok {
			names = append(names, path)
		}
	}
	for _, path := range names {
		if (path == dir || strings.HasPrefix(path, dir+"/")) && after[path] != h.before[path] {
			out = append(out, strings.TrimPrefix(path, h.base+"/"))
		}
	}
	return out, nil
}

// checkUntouched returns an error that lists changes outside of the work tree.
func (h *host) checkUntouched() error {
	changed, err := h.changes(h.base)
	if err != nil {
		return err
	}
	changed = slices.DeleteFunc(changed, func(p string) bool {
		return p == "home/project" || strings.HasPrefix(p, "home/project/") ||
			// Here the guard moves files that won a race against it.
			strings.HasPrefix(p, "home/.local/share/agent-sandbox/quarantine") ||
			// The stages and each /tmp that lasts, which have their own cases, and an empty directory.
			strings.HasPrefix(p, stagesDir) || p == "home/.local/share/agent-sandbox/ssh-agents" || strings.HasPrefix(p, "home/.local/share/agent-sandbox/tmp") ||
			// Files of agent-sandbox for the running sandbox, and programs for its backend.
			h.target.isOwnFile(p) ||
			// Git's own objects and refs of a linked worktree, whose hooks have their own cases.
			strings.HasPrefix(p, "home/wt/")
	})
	if len(changed) > 0 {
		return fmt.Errorf("changed outside of the work tree: %q", changed)
	}
	return nil
}

// checkUnchanged returns an error that lists which of some names, relative to the work tree, have changed. A name that did
// not exist must still not exist.
func (h *host) checkUnchanged(names ...string) error {
	var bad []string
	for _, name := range names {
		changed, err := h.changes(filepath.Join(h.work, name))
		if err != nil {
			return err
		}
		bad = append(bad, changed...)
	}
	if len(bad) > 0 {
		return fmt.Errorf("changed: %q", bad)
	}
	return nil
}

func holdUnchanged(names ...string) func(*host, outcome) error {
	return func(h *host, _ outcome) error { return h.checkUnchanged(names...) }
}

// checkClean returns an error that lists the processes, mounts and control groups that are left.
func (h *host) checkClean() error {
	var errs []error
	if h.target.engine != "" || h.target.pod || h.killed { // the engine, the node or the kernel ends these processes shortly after ours
		errs = append(errs, h.waitGone(h.processes()))
	}
	for _, p := range h.processes() {
		errs = append(errs, fmt.Errorf("process left: %s", p.text))
	}
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, h.base) {
			errs = append(errs, fmt.Errorf("a mount is left: %s", strings.TrimSpace(line)))
		}
	}
	return errors.Join(append(errs, h.checkControlGroups())...)
}

// checkControlGroups returns an error if a control group of the last attempt is left. Their names hold
// the PID of the process that made them.
func (h *host) checkControlGroups() error {
	if h.launched == 0 {
		return nil
	}
	mine := fmt.Sprintf(".%d.", h.launched)
	return filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it went away, or may not be read
		case d.IsDir() && strings.HasPrefix(d.Name(), "agent-sandbox.") && strings.Contains(d.Name(), mine):
			return fmt.Errorf("a control group is left: %s", path)
		}
		return nil
	})
}

type process struct {
	pid  int
	text string
}

// processes returns the running processes of this host, by the paths in their
// environment and arguments.
func (h *host) processes() []process {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	h.must(err)
	var out []process
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(dir + "/environ")
		args, _ := os.ReadFile(dir + "/cmdline")
		if strings.Contains(string(env)+string(args), h.base) {
			out = append(out, process{pid, strings.ReplaceAll(string(args), "\x00", " ")})
		}
	}
	return out
}

// commandPIDs returns the processes of agent-sandbox on the host.
func (h *host) commandPIDs() []int {
	var out []int
	for _, p := range h.processes() {
		// The command executes a larger program, agent-sandbox-kube, if a backend requires that.
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid)); err == nil && strings.HasPrefix(exe, fixture.command) {
			out = append(out, p.pid)
		}
	}
	return out
}

// stopCommands sends SIGSTOP to the processes of agent-sandbox and returns them. It repeats the search until two searches
// find no new process, because one may be starting.
func (h *host) stopCommands() (stopped []int) {
	for idle := 0; idle < 2; idle++ {
		for _, pid := range h.commandPIDs() {
			if !slices.Contains(stopped, pid) && syscall.Kill(pid, syscall.SIGSTOP) == nil {
				stopped, idle = append(stopped, pid), 0
			}
		}
	}
	return stopped
}

// killGuards kills the processes that decide about the calls of the attempt's commands: agent-sandbox on the host, or the first
// process of a container or pod. Without a sandbox it ends the attempt.
func (h *host) killGuards(p *attempt) {
	pids := h.commandPIDs()
	if h.target.engine != "" || h.target.pod {
		pids = h.firstProcesses()
	}
	if !p.inside {
		pids = nil
		for _, found := range h.processes() {
			pids = append(pids, found.pid)
		}
	}
	h.killed = true
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// firstProcesses returns the first processes of the PID namespaces in which this host's processes run.
func (h *host) firstProcesses() (first []int) {
	for _, p := range h.processes() {
		for pid := p.pid; pid > 1; {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				break
			}
			parent, ids := 0, []string(nil)
			for line := range strings.Lines(string(status)) {
				if value, ok := strings.CutPrefix(line, "PPid:"); ok {
					parent, _ = strconv.Atoi(strings.TrimSpace(value))
				} else if value, ok := strings.CutPrefix(line, "NSpid:"); ok {
					ids = strings.Fields(value)
				}
			}
			if len(ids) > 1 && ids[len(ids)-1] == "1" && !slices.Contains(first, pid) {
				first = append(first, pid)
			}
			pid = parent
		}
	}
	return first
}

// waitGone waits until processes have ended. Pods get more time, because they wait for their client to reconnect.
func (h *host) waitGone(found []process) error {
	switch {
	case h.bare:
		return waitGone(found, deadline.Scale(bareTime))
	case h.target.pod:
		return waitGone(found, deadline.Scale(time.Minute))
	}
	return waitGone(found, deadline.Scale(endTime))
}

// endTime limits how long processes take to end on an idle machine.
const endTime = 10 * time.Second

// bareTime limits the same without a sandbox, where the attempt left processes that do not end.
const bareTime = 2 * time.Second

// waitGone waits until processes have ended, and returns an error for the first that still runs after within.
func waitGone(found []process, within time.Duration) error {
	for _, p := range found {
		fd, err := unix.PidfdOpen(p.pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return err
		}
		n, err := 0, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(within.Milliseconds()))
		}
		_ = unix.Close(fd)
		if err != nil || n == 0 {
			return fmt.Errorf("process %d still runs (%w): %s", p.pid, err, p.text)
		}
	}
	return nil
}

// clear kills the processes that an attempt without a sandbox has left, and removes the host's files.
func (h *host) clear() {
	if _, err := os.Lstat(h.base); err != nil {
		return // already reported
	}
	for _, p := range h.processes() {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
	for _, f := range slices.Backward(h.closers) {
		f()
	}
	h.closers = nil
	h.remove(h.base)
}

// remove deletes a tree of this test, unless it contains a mount of an attempt, through which it would delete other files of
// this machine.
func (h *host) remove(dir string) {
	if err := removeTree(dir); err != nil {
		h.t.Errorf("clean-up: %v", err)
	}
}

func removeTree(dir string) error {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 4 && (f[4] == dir || strings.HasPrefix(f[4], dir+"/")) {
			return fmt.Errorf("%s is a mount; %s is left as it is", f[4], dir)
		}
	}
	return os.RemoveAll(dir)
}
