package changes

import (
	"bytes"
	"strings"
	"testing"
)

func Test_A_Patch_Cannot_Control_The_Terminal(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-old\x1b]0;title\a\tx\n+new\x1b[2J\r\n+++ no header\n end\n"
	for _, row := range []struct {
		name  string
		w     patchWriter
		want  string
		parts []string
	}{
		{"to a file, byte by byte", patchWriter{}, patch, nil},
		{"to a terminal without colour", patchWriter{terminal: true}, "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-old\\x1b]0;title\\a\tx\n+new\\x1b[2J\\r\n+++ no header\n end\n", nil},
		{"in colour", patchWriter{terminal: true, color: true}, "", []string{
			"\x1b[1m--- a/f\x1b[m\n", "\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n", "\x1b[31m-old\\x1b]0;title\\a\tx\x1b[m\n", "\x1b[32m+++ no header\x1b[m\n", "\n end\n",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := row.w
			w.out = &out
			for i := range len(patch) { // every line in pieces
				if _, err := w.Write([]byte{patch[i]}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.flush(); err != nil {
				t.Fatal(err)
			}
			if row.want != "" && out.String() != row.want {
				t.Errorf("%q\nwant %q", out.String(), row.want)
			}
			for _, part := range row.parts {
				if !strings.Contains(out.String(), part) {
					t.Errorf("no %q in %q", part, out.String())
				}
			}
		})
	}
}
