// Package git reads the parts of git repositories that a policy depends on: where repositories are, which directories
// belong to them, their configuration and their branches. Repositories may be hostile: reads are bounded and never
// wait for a FIFO, and git is not run.
package git

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// maxFile bounds the bytes that are read of a file of a repository.
const maxFile = 1 << 20

// IsDir reports whether git takes dir for a git directory (is_git_directory in setup.c): it has a HEAD, and objects
// and refs either here or in a common directory.
func IsDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// DirOf returns the git directory that a .git file names, resolved; "" when it names none.
func DirOf(file string) string { return pointer(file, "gitdir: ") }

// CommonDir returns the directory that the git directory of a linked worktree shares with the others, resolved; "" when
// dir is not the git directory of a linked worktree.
func CommonDir(dir string) string { return pointer(filepath.Join(dir, "commondir"), "") }

// CheckoutFile returns the .git file of the worktree that dir, the worktree's own git directory, belongs to, resolved.
func CheckoutFile(dir string) string {
	return resolve(dir, strings.TrimRight(string(readFile(filepath.Join(dir, "gitdir"))), "\n"))
}

// SubmoduleRoot returns the checkout that a submodule's git directory belongs to, resolved; "" when dir names none.
func SubmoduleRoot(dir string) string {
	for _, v := range ReadConfig(filepath.Join(dir, "config")) {
		if v.Key == "core.worktree" {
			return resolve(dir, v.Value)
		}
	}
	return ""
}

// pointer reads a file that holds a path after prefix, and resolves it relative to
// the file's directory: .git, commondir. It returns "" for any other file.
func pointer(file, prefix string) string {
	text, ok := strings.CutPrefix(string(readFile(file)), prefix)
	text = strings.TrimRight(text, "\r\n")
	if !ok || text == "" {
		return ""
	}
	return resolve(filepath.Dir(file), text)
}

// resolve resolves a path that may be relative to base; "" when it cannot be.
func resolve(base, path string) string {
	if !filepath.IsAbs(path) {
		path = base + "/" + path
	}
	at, err := hostpath.Locate(path)
	if err != nil {
		return ""
	}
	return at.Path
}

// readFile returns the start of a regular file, or nothing. It opens without
// blocking: a hostile tree may hold a FIFO where git expects a file.
func readFile(path string) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil
	}
	return data
}
