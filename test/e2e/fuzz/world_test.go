//go:build linux

package fuzz_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// shapes are the kinds of projects that a world can have.
var shapes = []string{"whole", "lean", "worktree", "submodule", "none"} //nolint:gochecknoglobals // a table

// world is a home with a project, a cache, and files outside both that no program may change.
type world struct {
	t           *testing.T
	shape       string
	uid         int
	base        string
	home        string
	work        string
	git, common string   // the git directories of the project; without a repository, the places where they would be
	writable    []string // the trees that commands may write
	saved       []saved
	outside     map[string]string // the description of each file outside before the first program
	existing    map[string]bool   // the files in the trees for commands at the start
	root        map[string]bool   // directories that were worktrees of repositories or git directories at the start
}

// saved is a file of the trees that commands may write.
type saved struct {
	path string
	mode uint32
	data []byte // of a file; the text of a link
}

func newWorld(t *testing.T, base, shape string, uid int) *world {
	t.Helper()
	w := &world{t: t, shape: shape, uid: uid, base: base, home: filepath.Join(base, "home")}
	w.must(os.MkdirAll(filepath.Join(w.home, "outside"), 0o755))
	w.must(os.Mkdir(filepath.Join(base, "tools"), 0o755))
	w.must(os.WriteFile(w.canary(), []byte("#!/bin/sh\n: >"+base+"/ran\n"), 0o755))
	w.must(filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error { return errors.Join(err, os.Chown(path, uid, uid)) }))
	w.work = filepath.Join(w.home, "project")
	if shape == "submodule" {
		w.work = filepath.Join(w.home, "super", "project")
	}
	w.git = filepath.Join(w.work, ".git")
	w.script(`
		mkdir ../none; export GIT_TEMPLATE_DIR="$PWD/../none"
		printf '[user]\n name = a\n email = a@example.com\n[protocol "file"]\n allow = always\n[init]\n defaultBranch = main\n' >.gitconfig
		mkdir -p .cache .local/share .config; echo host >.bashrc
		cd outside; echo host >file; ln file second; ln -s file link; mkfifo pipe; mkdir directory; echo '#!/bin/sh' >program; chmod 700 program; chmod 600 file
		cd ..; new() { git init -q "$1"; git -C "$1" commit -q --allow-empty -m first; }
		case ` + shape + ` in
		whole)
			new project; mkdir -p project/.git/hooks project/.git/info project/.git/branches project/.vscode project/.claude project/.github/workflows
			cd project; echo '*.swp' >.git/info/exclude; echo '#!/bin/sh' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push
			echo '{}' >.vscode/tasks.json; echo '{}' >.mcp.json; echo '{}' >.claude/settings.json; echo x >.github/workflows/x.yml; echo x >.envrc;;
		lean) new project;;
		worktree) new main; git -C main worktree add -q ../project -b wt;;
		submodule) new upstream; new super; git -C super submodule --quiet add file://$PWD/upstream project; git -C super commit -qm second;;
		none) mkdir project;;
		esac
		cd ` + w.work + `; mkdir -p src/bare/refs sub/x d; echo 'ref: refs/heads/main' >src/bare/HEAD
		case ` + shape + ` in whole|lean) new sub/nested;; esac`)
	switch shape {
	case "worktree":
		w.common = filepath.Join(w.home, "main", ".git")
		w.git = filepath.Join(w.common, "worktrees", "project")
	case "submodule":
		w.git = filepath.Join(w.home, "super", ".git", "modules", "project")
	}
	if w.common == "" {
		w.common = w.git
	}
	for _, dir := range []string{w.work, w.common, filepath.Join(w.home, ".cache")} {
		if _, err := os.Stat(dir); err == nil && !slices.ContainsFunc(w.writable, func(root string) bool { return within(dir, root) }) {
			w.writable = append(w.writable, dir)
		}
	}
	// The first run creates files in ~/.local/share.
	_ = w.commandLine(t.Context(), w.home, fixture.command, "exec", "--", "true").Run()
	w.save()
	w.outside = w.scanOutside()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("set-up of a world: %v", err)
	}
}

// canary returns a program that creates a file when the host runs it.
func (w *world) canary() string { return filepath.Join(w.base, "tools", "canary") }

// commandLine returns a command of the world's user.
func (w *world) commandLine(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + w.home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}}
	}
	return cmd
}

func (w *world) script(text string) {
	w.t.Helper()
	if out, err := w.commandLine(w.t.Context(), w.home, "/bin/sh", "-euc", text).CombinedOutput(); err != nil {
		w.t.Fatalf("set-up of a world %s: %v\n%s", w.shape, err, out)
	}
}

// variables returns the values of the variables in package calls.
func (w *world) variables() []string {
	return []string{
		"work=" + w.work, "home=" + w.home, "git=" + w.git, "common=" + w.common, "tmp=/tmp", "canary=" + w.canary(), "tools=" + filepath.Dir(w.canary()),
	}
}

// save stores the trees that commands may write.
func (w *world) save() {
	w.t.Helper()
	w.root, w.existing = map[string]bool{}, map[string]bool{}
	for _, root := range w.writable {
		w.must(filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil {
				return err
			}
			s := saved{path: path, mode: st.Mode}
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				s.data, err = os.ReadFile(path)
			case unix.S_IFLNK:
				var to string
				to, err = os.Readlink(path)
				s.data = []byte(to)
			}
			if isPart(filepath.Base(path)) {
				w.root[filepath.Dir(path)] = true
			}
			w.saved, w.existing[path] = append(w.saved, s), true
			return err
		}))
	}
}

// restore restores the trees.
func (w *world) restore() {
	w.t.Helper()
	for _, root := range w.writable {
		w.must(os.Chmod(root, 0o755))
		entries, err := os.ReadDir(root)
		w.must(err)
		for _, e := range entries {
			w.must(removeTree(filepath.Join(root, e.Name())))
		}
	}
	for _, s := range w.saved {
		if slices.Contains(w.writable, s.path) {
			continue
		}
		switch s.mode & unix.S_IFMT {
		case unix.S_IFDIR:
			w.must(os.Mkdir(s.path, 0o755))
		case unix.S_IFREG:
			w.must(os.WriteFile(s.path, s.data, 0o600))
		case unix.S_IFLNK:
			w.must(os.Symlink(string(s.data), s.path))
		default:
			w.t.Fatalf("set-up of a world: %s has mode %o", s.path, s.mode)
		}
		w.must(os.Lchown(s.path, w.uid, w.uid))
		if s.mode&unix.S_IFMT != unix.S_IFLNK {
			w.must(unix.Chmod(s.path, s.mode&0o7777))
		}
	}
}

// removeTree removes a tree whose directories may have lost their permissions.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
			if err != nil {
				_ = removeTree(path)
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// describe returns a text that differs after any change of the file; for a directory also after
// a change of its entries.
func describe(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return "", err
	}
	to := ""
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		to, _ = os.Readlink(path)
	}
	return fmt.Sprintf("mode %o inode %d of %d:%d, %d links, %d bytes, modified %v, changed %v %s", st.Mode, st.Ino, st.Uid, st.Gid, st.Nlink, st.Size, st.Mtim, st.Ctim, to), nil
}

// scan describes the files below a directory, except those for which skip returns true.
func scan(out map[string]string, dir string, skip func(path string) bool) error {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case skip != nil && skip(path):
			if d != nil && d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case err != nil && path == dir && !errors.Is(err, os.ErrNotExist):
			return err
		}
		text, err := describe(path)
		if err == nil {
			out[path] = text
		}
		if d != nil && d.IsDir() && os.Getuid() != 0 && err == nil {
			if _, err := os.ReadDir(path); errors.Is(err, os.ErrPermission) {
				_ = os.Chmod(path, 0o700) // a program has hidden it from the judge
			}
		}
		return nil
	})
	return err
}

// scanOutside describes the files that no program may change.
func (w *world) scanOutside() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	w.must(scan(out, w.base, func(path string) bool {
		return slices.Contains(w.writable, path) || path == filepath.Join(w.home, ".local", "share", "agent-sandbox") || path == filepath.Join(w.base, "ran")
	}))
	return out
}

// scanWritable describes the files that programs may change in part.
func (w *world) scanWritable() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, root := range w.writable {
		w.must(scan(out, root, nil))
	}
	for path, text := range out { // the entries are compared individually
		if strings.HasPrefix(text, "mode 4") {
			out[path], _, _ = strings.Cut(text, ",")
		}
	}
	return out
}

// runGit runs git on the host as the user would.
func (w *world) runGit(dir string, args ...string) string {
	ctx, cancel := context.WithTimeout(w.t.Context(), gitPatience)
	defer cancel() // a FIFO in place of a file makes git wait
	out, _ := w.commandLine(ctx, dir, append([]string{"git"}, args...)...).Output()
	return string(bytes.TrimSpace(out))
}
