// Package pathname takes paths apart and joins them as the programs of GNU coreutils do, which package path
// does not: it keeps ".", ".." and the form in which the user wrote a path.
package pathname

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// StripSuffix takes suffix away unless it is all of the name.
func StripSuffix(name, suffix string) string {
	if name == suffix || strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(name, suffix)
}

// Base returns the last element of a path; of slashes alone one of them.
func Base(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" {
		if path != "" {
			return "/"
		}
		return ""
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

// Dir returns a path without its last element: "." if that was all.
func Dir(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" && path != "" {
		return "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	if i < 0 {
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		return dir
	}
	return "/"
}

// Join puts a name behind a directory.
func Join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// Beside is Join, but without a dot for the current directory.
func Beside(dir, name string) string {
	if dir == "." {
		return name
	}
	return Join(dir, name)
}

// WorkingDir returns the working directory without links.
func WorkingDir(p *shell.Proc) (string, error) { return p.FS().Realpath(p.Cred(), p.Dir()) }

// Resolve returns where name is as seen from dir.
func Resolve(dir, name string) string {
	if dir == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}
