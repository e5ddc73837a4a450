package sed_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Fuzz_Sed_Script runs implausible scripts: they must end soon after their fuel.
func Fuzz_Sed_Script(f *testing.F) {
	for _, s := range []string{
		"s/a/b/g;p", ":a;N;$!ba;s/\\n/,/g", "y/abc/xyz/", "1~2{h;G;D}", "0,/x/{//!d}", "a\\\nfoo", "s/\\(.\\)\\1/\\u&\\L\\1/3gp", "/a/,+2{n;P;x;l 3}", "$!{i\\\n\\tx\n}", "s/[]/]*//;tx;b\n:x;z", "w out\nr out\nR out", ":a;s/x/xx/;ta", "c\\", "s/\\x5b/\\cA\\o12/e",
	} {
		f.Add(s, "one\nxx two\n\nthree", byte(0))
	}
	f.Fuzz(func(t *testing.T, script, input string, mode byte) {
		if strings.Contains(script, "\x00") || len(script) > 1<<12 || len(input) > 1<<12 {
			t.Skip("too long for a command line, or none")
		}
		args := []string{"sed"}
		for i, option := range []string{"-n", "-E", "-s", "-z", "--posix", "-i.bak", "-u"} {
			if mode&(1<<i) != 0 {
				args = append(args, option)
			}
		}
		tree := vfs.New(vfs.Options{})
		if err := tree.Mkdir(vfs.Cred{}, "/w", 0o755); err != nil {
			t.Fatal(err)
		}
		programtest.WriteVirtual(t, tree, "/w/in", []byte(input))
		ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(20*time.Second))
		defer cancel()
		p := shell.NewProc(ctx, shell.ProcOptions{
			FS: tree, Args: append(args, "-e", script, "in"), Env: []string{}, Dir: "/w", Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
			Limits: shell.Limits{Fuel: 100_000},
		})
		status := programtest.RunOf(t, "sed")(p)
		if ctx.Err() != nil {
			t.Fatalf("%q goes on without end", script)
		}
		if status < 0 {
			t.Fatalf("status %d", status)
		}
	})
}
