package coreutils

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/vfs"
)

// Test_Tree_Draws has no program to compare with everywhere: the expected text is that of tree 2.1.
func Test_Tree_Draws(t *testing.T) {
	t.Parallel()
	f := vfs.New(vfs.Options{})
	for _, dir := range []string{"/w", "/w/a", "/w/a/b", "/w/.h", "/w/empty"} {
		if err := f.Mkdir(vfs.Cred{}, dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeVirtual(t, f, "/w/a/b/deep.c", []byte("12345"))
	writeVirtual(t, f, "/w/a/x.txt", []byte("1"))
	writeVirtual(t, f, "/w/z.c", nil)
	writeVirtual(t, f, "/w/.h/hidden", nil)
	if err := f.Symlink(vfs.Cred{}, "a", "/w/link"); err != nil {
		t.Fatal(err)
	}
	nb := "\u00a0"
	for _, c := range []struct{ line, want string }{
		{"tree", ".\n├── a\n│" + nb + nb + " ├── b\n│" + nb + nb + " │" + nb + nb + " └── deep.c\n│" + nb + nb + " └── x.txt\n├── empty\n├── link -> a\n└── z.c\n\n5 directories, 3 files\n"},
		{"tree -L 1 --noreport", ".\n├── a\n├── empty\n├── link -> a\n└── z.c\n"},
		{"tree -d -i --noreport", ".\na\nb\nempty\nlink -> a\n"},
		{"tree -f -i --noreport a", "a\na/b\na/b/deep.c\na/x.txt\n"},
		{"tree -a --noreport -P hidden --prune", ".\n└── .h\n    └── hidden\n"},
		{"tree -P *.c --noreport --charset ascii", ".\n|-- a\n|   `-- b\n|       `-- deep.c\n|-- empty\n`-- z.c\n"},
		{"tree -I a|link -F", "./\n├── empty/\n└── z.c\n\n2 directories, 1 file\n"},
		{"tree --dirsfirst -r -L 1 --noreport", ".\n├── empty\n├── a\n├── z.c\n└── link -> a\n"},
		{"tree -s --noreport a/b", "a/b\n└── [          5]  deep.c\n"},
		{"tree -p --noreport a/b", "[drwxr-xr-x]  a/b\n└── [-rw-r--r--]  deep.c\n"},
		{"tree -J a/b", "[\n  {\"type\":\"directory\",\"name\":\"a/b\",\"contents\":[\n    {\"type\":\"file\",\"name\":\"deep.c\"}\n  ]},\n  {\"type\":\"report\",\"directories\":1,\"files\":1}\n]\n"},
		{"tree nosuch", "nosuch  [error opening dir]\n\n0 directories, 0 files\n"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			got := runVirtualOutput(t, f.Fork(), "/w", c.line)
			if strings.HasPrefix(c.line, "tree -s") {
				got = "a/b\n" + got[strings.IndexByte(got, '\n')+1:] // The size of the directory is the tree's own.
			}
			if got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func runVirtualOutput(t *testing.T, f *vfs.FS, dir, line string) string {
	t.Helper()
	return runVirtual(t, f, dir, splitWords(t, line), row{}).stdout
}
