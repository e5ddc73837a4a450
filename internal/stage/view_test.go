//go:build linux

package stage_test

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

// works are the changes that commands make to a tree.
var works = []struct{ name, setup, script string }{
	{"a file is created", ``, `echo new >f`},
	{"a file is rewritten in place", `echo old >f`, `echo new >f`},
	{"a file is appended to", `echo old >f`, `echo new >>f`},
	{"a file is deleted", `echo old >f; echo keep >g`, `rm f`},
	{"a file is renamed", `echo old >f`, `mv f g`},
	{"a file is renamed over another", `echo 1 >f; echo 2 >g`, `mv f g`},
	{"a directory is made with files", ``, `mkdir -p a/b/c; echo x >a/b/c/f; echo y >a/g`},
	{"an empty directory is made", ``, `mkdir -p a/b`},
	{"a directory is deleted", `mkdir -p a/b; echo x >a/b/f; echo y >a/g`, `rm -rf a`},
	{"a directory is renamed", `mkdir -p a/b; echo x >a/b/f`, `mv a z`},
	{"a new directory is renamed", ``, `mkdir a; echo x >a/f; mv a z`},
	{"a directory is deleted and made again", `mkdir -p a/b; echo x >a/b/f; echo y >a/g; echo z >a/h`, `rm -rf a; mkdir a; echo new >a/n; echo z >a/h`},
	{"a directory is deleted and made again deeper", `mkdir -p a/b/c/d; echo x >a/b/c/d/f`, `rm -rf a/b; mkdir -p a/b/c; echo y >a/b/c/d`},
	{"a file becomes a directory", `echo old >f`, `rm f; mkdir f; echo x >f/g`},
	{"a directory becomes a file", `mkdir -p d/e; echo x >d/e/f; echo y >d/g`, `rm -rf d; echo now >d`},
	{"a directory becomes a symbolic link", `mkdir -p d; echo x >d/f; mkdir o`, `rm -rf d; ln -s o d`},
	{"a symbolic link becomes a directory", `ln -s /etc d`, `rm d; mkdir d; echo x >d/passwd`},
	{"a file becomes a symbolic link", `echo x >f`, `ln -sf /etc/passwd f`},
	{"a symbolic link becomes a file", `ln -s ../canary f`, `rm f; echo x >f`},
	{"symbolic links are made and changed", `ln -s a l; ln -s b m`, `ln -sfn c l; ln -s ../canary n; ln -s nowhere o; rm m`},
	{"hard links are made", `echo x >f`, `echo y >a; ln a b; ln a c`},
	{"a file with two names is changed", `echo x >f; ln f g`, `rm f; echo y >f`},
	{"modes are changed", `echo x >f; echo y >g; mkdir d; echo z >h`, `chmod 755 f; chmod 600 g; chmod 700 d; chmod 444 h`},
	{"a mode and the content are changed", `echo x >f`, `echo y >f; chmod 750 f`},
	{"a read-only file is replaced", `echo x >f; chmod 444 f`, `rm -f f; echo y >f; chmod 444 f`},
	{"read-only directories are made", ``, `mkdir -p m/v; echo x >m/v/f; chmod 444 m/v/f; chmod 555 m/v m`},
	{"a fifo is made", `mkfifo p`, `mkfifo q; chmod 640 q; rm p`},
	{"files are empty", `: >f; echo x >g`, `: >g; : >h`},
	{"names are odd", `echo 1 >$'new\nline'; echo 2 >'-x'`, `echo 3 >$'new\nline'; echo 4 >$'\xff\xfe'; mkdir $'a\tb"c\\'; echo 5 >$'a\tb"c\\/ '; rm ./-x; echo 6 >'...'; echo 7 >:,=`},
	{"a file is large and sparse", `echo x >f`, `truncate -s 200M big; echo end >>big; rm f`},
	{"times alone change", `echo x >f; mkdir d`, `touch -d 2001-01-01 f d`},
	{"everything is deleted", `mkdir -p a/b; echo x >a/b/c; echo y >d; ln -s x e`, `rm -rf ./*`},
	{"a deep tree is made", ``, `d=$(printf 'd/%.0s' {1..60}); mkdir -p "$d"; echo x >"$d/f"`},
	{"many files change", `for i in {1..300}; do echo $i >f$i; done`, `for i in {1..300..2}; do echo new >f$i; done; rm f2*; mkdir m; for i in {1..100}; do echo $i >m/$i; done`},
}

func Test_A_Stage_Shows_And_Applies_What_A_Command_Does(t *testing.T) {
	t.Parallel()
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, w.setup)
			b.compare(w.setup, w.script)
		})
	}
}

func Test_A_Copy_Shows_And_Applies_The_Same(t *testing.T) {
	t.Parallel()
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			newCopyBench(t, w.setup).compare(w.setup, w.script)
		})
	}
}

// newCopyBench is like newBench, with a guest for which the kernel refuses overlays.
func newCopyBench(t *testing.T, setup string) *bench {
	t.Helper()
	b := newBench(t, setup)
	b.mechanism = stage.Copy
	b.store.Guest = b.root + "/no-overlay"
	script := "#!/bin/sh\n[ \"$2\" = --bind ] || { echo 'agent-sandbox: stage: mount overlay: no' >&2; exit 125; }\nexec '" + guestProgram + "' \"$@\"\n"
	if err := os.WriteFile(b.store.Guest, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

func Test_A_Copy_Names_The_Error_Of_The_Overlay(t *testing.T) {
	t.Parallel()
	b := newCopyBench(t, `echo x >f`)
	s := b.create("")
	if s.Kind == stage.Overlay || s.Reason != "mount overlay: no" {
		t.Errorf("kind %s, reason %q", s.Kind, s.Reason)
	}
}

func Test_A_Second_Command_Continues_On_The_Stage(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f; mkdir d; echo x >d/f`)
	s := b.create("")
	b.inside(s, `echo 2 >f; rm -r d`)
	again, err := b.store.Open(b.work, "")
	if err != nil {
		t.Fatal(err)
	}
	b.inside(again, `[ "$(cat f)" = 2 ]; [ ! -e d ]; mkdir d; echo y >d/g`)
	b.wantDiff(s, "deleted d/f", "created d/g", "modified f")
}

func Test_Two_Stages_Of_A_Workspace_Are_Independent(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	one, two := b.create("one"), b.create("two")
	b.inside(one, `echo one >f`)
	b.inside(two, `[ "$(cat f)" = 1 ]; echo two >g`)
	b.wantDiff(one, "modified f")
	b.wantDiff(two, "created g")
	b.applyClean(one)
	b.applyClean(two)
	if f, g := b.read("f"), b.read("g"); f != "one\n" || g != "two\n" {
		t.Errorf("f %q, g %q", f, g)
	}
}

func Test_A_Commit_In_A_Stage_Is_A_Commit_After_Apply(t *testing.T) {
	t.Parallel()
	b := newBench(t, `git init -q; echo 1 >f; git add f; git commit -qm one; git gc -q`)
	s := b.create("")
	b.inside(s, `echo 2 >f; mkdir d; echo x >d/g; git add .; git commit -qm two; git branch other`)
	if got := b.host(`git log --format=%s`); got != "one\n" {
		t.Errorf("before apply the log is %q", got)
	}
	b.applyClean(s)
	if got := b.host(`git fsck --strict 2>&1; git log --format=%s; git status --short; git branch --list other`); got != "two\none\n  other\n" {
		t.Errorf("after apply: %q", got)
	}
}
