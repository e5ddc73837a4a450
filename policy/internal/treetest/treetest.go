// Package treetest makes trees of files for tests.
package treetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns an empty directory that the test removes, without symbolic links in its path.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Make makes entries below dir: "a/b" a file, "a/" a directory, "a -> b" a link, with the directories above them.
func Make(tb testing.TB, dir string, entries ...string) {
	tb.Helper()
	for _, e := range entries {
		name, target, link := strings.Cut(e, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, path)
		case strings.HasSuffix(e, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Write makes a file with a text, and the directories above it. It returns name.
func Write(tb testing.TB, name, text string) string {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return name
}
