package coreutils_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Test_Commands_See_Mounted_Trees runs commands that cross from one tree to another one that is mounted in it.
func Test_Commands_See_Mounted_Trees(t *testing.T) {
	f, g := vfs.New(vfs.Options{}), vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 1 << 20, Nodes: 100}})
	c := vfs.Cred{}
	for _, err := range []error{
		f.MkdirAll(c, "/proj/mnt", 0o755), g.Mkdir(c, "/d", 0o755), f.Mount("/proj/mnt", g, vfs.MountOptions{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	programtest.WriteVirtual(t, f, "/proj/a", []byte("outer\n"))
	programtest.WriteVirtual(t, f, "/proj/mnt/a", []byte("inner\n"))
	for _, line := range []struct {
		line, out, err string
		status         int
	}{
		{"cmp -s a mnt/a", "", "", 1}, // may have the same number
		{"cat mnt/a", "inner\n", "", 0},
		{"mv a mnt/b", "", "", 0},
		{"cat mnt/b", "outer\n", "", 0},
		{"ls mnt", "a\nb\nd\n", "", 0},
		{"ln mnt/a x", "", "ln: failed to create hard link 'x' => 'mnt/a': Invalid cross-device link\n", 1},
		{"rmdir mnt", "", "rmdir: failed to remove 'mnt': Device or resource busy\n", 1},
		{"cp -r mnt copy", "", "", 0},
		{"find copy -type f", "copy/a\ncopy/b\n", "", 0},
		{"realpath mnt/../copy mnt/d/..", "/proj/copy\n/proj/mnt\n", "", 0},
		{"df --output=target,itotal mnt/d .", "Mounted on Inodes\n/proj/mnt     100\n/           10000\n", "", 0},
		{"df --output=target", "Mounted on\n/\n/proj/mnt\n", "", 0},
		{"stat -f -c %c mnt copy", "100\n10000\n", "", 0},
	} {
		o := programtest.RunVirtual(t, f, "/proj", strings.Fields(line.line), programtest.Row{})
		if o.Stdout != line.out || o.Stderr != line.err || o.Status != line.status {
			t.Errorf("%s: %d %q %q", line.line, o.Status, o.Stdout, o.Stderr)
		}
	}
}
