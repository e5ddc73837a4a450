package diff_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/scripttest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// inTree runs one of the commands in a directory of a tree.
func inTree(t *testing.T, tree *vfs.FS, in string, args ...string) int {
	t.Helper()
	p := shell.NewProc(t.Context(), shell.ProcOptions{
		FS: tree, Dir: "/", Umask: 0o022, Stdin: strings.NewReader(in), Args: args, Env: []string{"TZ=UTC"},
	})
	return scripttest.Run(t, p)
}

// FuzzDiffPatch checks that the output of diff makes the second file of the first, and the first of
// the second.
func FuzzDiffPatch(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd\n", uint8(0))
	f.Add("a\nb\nc", "a\nb\nc\n", uint8(1))
	f.Add("", "x", uint8(2))
	f.Add("--- a\n+++ b\n@@ -1 +1 @@\n", "*** 1,2 ****\n***************\n", uint8(3))
	f.Add("\\ No newline\n", "> x\n< y\n---\n", uint8(4))
	f.Fuzz(func(t *testing.T, a, b string, style uint8) {
		if len(a)+len(b) > 4096 {
			return
		}
		options := []string{"-u", "-c", "--normal", "-U0", "-U1", "-C1"}[style%6]
		tree := vfs.New(vfs.Options{})
		for name, text := range map[string]string{"/a": a, "/b": b} {
			scripttest.WriteTree(t, tree, name, text)
		}
		var out bytes.Buffer
		p := shell.NewProc(t.Context(), shell.ProcOptions{FS: tree, Args: []string{"diff", "-a", options, "--label", "f", "--label", "f", "/a", "/b"}, Stdout: &out})
		status := scripttest.Run(t, p)
		if status > 1 {
			t.Fatalf("diff ended with %d", status)
		}
		if status == 0 {
			if a != b {
				t.Fatalf("%q and %q do not differ", a, b)
			}
			return
		}
		scripttest.WriteTree(t, tree, "/p", out.String())
		if status := inTree(t, tree, "", "patch", "--binary", "-F0", "-f", "/a", "/p"); status != 0 {
			t.Fatalf("patch ended with %d for %q", status, out.String())
		}
		if got := scripttest.ReadTree(t, tree, "/a"); got != b {
			t.Fatalf("%q became %q, want %q; by %q", a, got, b, out.String())
		}
		if status := inTree(t, tree, "", "patch", "--binary", "-R", "-F0", "-f", "/a", "/p"); status != 0 {
			t.Fatalf("patch -R ended with %d for %q", status, out.String())
		}
		if got := scripttest.ReadTree(t, tree, "/a"); got != a {
			t.Fatalf("%q came back as %q; by %q", a, got, out.String())
		}
	})
}

// FuzzPatch checks that no patch makes patch panic, and that no file beside is touched.
func FuzzPatch(f *testing.F) {
	for _, s := range []string{patchU, patchC, patchN, gitNew, gitDel, gitMov, gitPur, gitCpy, gitMod, gitBin, gitLnk, gitEmp} {
		f.Add(s, "1\n2\n3\n", uint8(1))
	}
	f.Fuzz(func(t *testing.T, text, file string, strip uint8) {
		tree := vfs.New(vfs.Options{})
		if err := tree.Mkdir(vfs.Cred{}, "/w", 0o755); err != nil {
			t.Fatal(err)
		}
		scripttest.WriteTree(t, tree, "/w/f", file)
		scripttest.WriteTree(t, tree, "/secret", "secret")
		status := inTree(t, tree, text, "patch", "-d", "/w", "-p", string(rune('0'+strip%4)))
		if status < 0 || status > 2 {
			t.Fatalf("status %d", status)
		}
		if got := scripttest.ReadTree(t, tree, "/secret"); got != "secret" {
			t.Fatalf("a patch wrote outside of its directory: %q", got)
		}
		entries, err := tree.ReadDir(vfs.Cred{}, "/")
		if err != nil || len(entries) != 2 {
			t.Fatalf("the root holds %v (%v)", entries, err)
		}
	})
}
