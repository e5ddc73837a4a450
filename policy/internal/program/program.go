// Package program finds the programs on the host that a command's name resolves to.
package program

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Find returns the resolved programs called name, in the order of dirs, each once.
func Find(name string, dirs []string) []string {
	var programs []string
	for _, d := range dirs {
		if p := Resolve(filepath.Join(d, name)); p != "" && !slices.Contains(programs, p) {
			programs = append(programs, p)
		}
	}
	return programs
}

// Resolve follows path to an executable regular file, or returns "".
func Resolve(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return ""
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return resolved
}

// OfGit returns the programs in git's exec-paths that are git: its own name,
// and every hard link to a known target (git-checkout and the like).
func OfGit(targets []string) []string {
	dirs := []string{"/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core"}
	var known []os.FileInfo
	for _, t := range targets {
		prefix := filepath.Dir(filepath.Dir(t))
		dirs = append(dirs, filepath.Join(prefix, "lib/git-core"), filepath.Join(prefix, "libexec/git-core"))
		if info, err := os.Stat(t); err == nil {
			known = append(known, info)
		}
	}
	slices.Sort(dirs)
	var programs []string
	for _, d := range slices.Compact(dirs) {
		own := Resolve(filepath.Join(d, "git"))
		if own == "" {
			continue
		}
		programs = append(programs, own)
		if info, err := os.Stat(own); err == nil {
			known = append(known, info)
		}
		programs = append(programs, hardLinks(d, known)...)
	}
	return programs
}

// hardLinks returns the entries of dir that are one of the known files.
func hardLinks(dir string, known []os.FileInfo) []string {
	// A file with one link has no other name; most installations link symbolically.
	if !slices.ContainsFunc(known, func(i os.FileInfo) bool { return linkCount(i) > 1 }) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var links []string
	for _, e := range entries {
		if !e.Type().IsRegular() { // most of git's are symbolic links: no look at each of them
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if slices.ContainsFunc(known, func(k os.FileInfo) bool { return os.SameFile(k, info) }) {
			if p := Resolve(filepath.Join(dir, e.Name())); p != "" {
				links = append(links, p)
			}
		}
	}
	return links
}

// Real chooses the program behind a wrapper from targets, of which there is at least one: the first, as PATH would. With
// skipScripts Real chooses the first that is not a script: a script called git runs another git, which is wrapped too and would
// run the script again.
func Real(targets []string, skipScripts bool) string {
	if skipScripts {
		for _, t := range targets {
			if !isScript(t) {
				return t
			}
		}
	}
	return targets[0]
}

// Tree returns the directory that must come along when program runs from
// another place, or "". A script of a Node package loads files beside itself and
// from packages beside its own; its node_modules directory holds both. Nothing wider
// is taken along for other scripts: two levels above ~/bin/tool is the home directory.
func Tree(program string) string {
	if !isScript(program) {
		return ""
	}
	before, _, ok := strings.Cut(program, "/node_modules/")
	if !ok {
		return ""
	}
	return before + "/node_modules"
}

func isScript(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// linkCount returns the number of a file's hard links.
func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // 32 or 16 bits wide on other systems
	}
	return 1
}
