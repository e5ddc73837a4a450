//go:build linux

package stage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

var conflicts = []struct {
	name, setup, inside, host string
	want                      []string // the diff
	left                      string   // the output of a script after an apply without force
	check                     string
}{
	{"a file changed on both sides", `echo 1 >f`, `echo 2 >f`, `echo 3 >f`, []string{"modified f !conflict"}, "3\n", `cat f`},
	{"a file of the same size and time", `echo 1 >f; touch -d 2001-01-01 f`, `echo 2 >f`, `echo 3 >f; touch -d 2001-01-01 f`, []string{"modified f !conflict"}, "3\n", `cat f`},
	{"a file created on both sides", ``, `echo 2 >f`, `echo 3 >f`, []string{"modified f !conflict"}, "3\n", `cat f`},
	{"a deleted file that changed", `echo 1 >f`, `rm f`, `echo 3 >f`, []string{"deleted f !conflict"}, "3\n", `cat f`},
	{"a changed file that was deleted", `mkdir d; echo 1 >d/f`, `echo 2 >d/f`, `rm d/f`, []string{"created d/f !conflict"}, "gone\n", `[ -e d/f ] || echo gone`},
	{"a file in a directory that was deleted", `mkdir d; echo 1 >d/f`, `echo 2 >d/f`, `rm -r d`, []string{"created d !conflict", "created d/f !conflict"}, "gone\n", `[ -e d ] || echo gone`},
	{"a deleted directory in which a file appeared", `mkdir d; echo 1 >d/f`, `rm -r d`, `echo 3 >d/new`, []string{"deleted d !conflict", "deleted d/f", "deleted d/new !conflict"}, "3\n", `cat d/new`},
	{"a directory made again in which a file appeared", `mkdir d; echo 1 >d/f`, `rm -r d; mkdir d; echo 2 >d/g`, `echo 3 >d/new`, []string{"deleted d/f", "created d/g", "deleted d/new !conflict"}, "2\n3\n", `cat d/*`},
	{"a directory that became a file and got one", `mkdir d; echo 1 >d/f`, `rm -r d; echo 2 >d`, `echo 3 >d/new`, []string{"retyped d !conflict", "deleted d/f", "deleted d/new !conflict"}, "1\n3\n", `cat d/*`},
	{"a file that became a link outside", `echo 1 >f`, `echo 2 >f`, `ln -sf ../canary f`, []string{"retyped f !conflict"}, "untouched", `cat f`},
	{"a directory that became a link outside", `mkdir d; echo 1 >d/f`, `echo 2 >d/f; echo 3 >d/g`, `rm -r d; ln -s .. d`, []string{"retyped d !conflict", "created d/f !conflict", "created d/g"}, "canary\n", `ls d | grep -v -e state -e work -e no-overlay`},
	{"a mode changed on both sides", `echo 1 >f`, `chmod 755 f`, `chmod 600 f`, []string{"modified f !conflict"}, "600\n", `stat -c %a f`},
}

func Test_Apply_Skips_Paths_That_Changed_In_The_Workspace(t *testing.T) {
	t.Parallel()
	for _, row := range conflicts {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, row.setup)
			s := b.create("")
			b.inside(s, row.inside+"; mkdir -p ok; echo fine >ok/file")
			b.host(row.host)
			b.wantDiff(s, append(slices.Clone(row.want), "created ok", "created ok/file")...)
			r := b.apply(s, stage.ApplyOptions{})
			if !slices.ContainsFunc(r.Skipped, func(s stage.Skipped) bool { return s.Reason == stage.Conflicting }) {
				t.Errorf("no conflict: %+v", r.Skipped)
			}
			if got := b.host(row.check); got != row.left {
				t.Errorf("after apply %q, want %q", got, row.left)
			}
			if b.read("ok/file") != "fine\n" {
				t.Error("what is in no conflict was not applied")
			}
			want := b.inside(s, listing)
			if r := b.apply(s, stage.ApplyOptions{Force: true}); len(r.Skipped) > 0 {
				t.Errorf("forced: %+v", r.Skipped)
			}
			b.wantDiff(s)
			if got := b.host(listing); got != want {
				t.Errorf("forced\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func Test_A_Change_Of_Another_Path_In_The_Workspace_Does_Not_Conflict(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			setup := `echo 1 >f; echo 1 >g; mkdir d; echo 1 >d/f; echo 1 >gone`
			b := newBench(t, setup)
			if kind == "copy" {
				b = newCopyBench(t, setup)
			}
			s := b.create("")
			b.inside(s, `echo 2 >f; echo 2 >d/n`)
			b.host(`echo 3 >g; echo 3 >d/f; echo 3 >d/m; rm gone`)
			b.wantDiff(s, "created d/n", "modified f")
			b.applyClean(s)
			if got := b.host(`cat f g d/f d/m d/n`); got != "2\n3\n3\n3\n2\n" {
				t.Errorf("%q", got)
			}
		})
	}
}

func Test_A_Copy_Skips_Paths_That_Changed_In_The_Workspace(t *testing.T) {
	t.Parallel()
	b := newCopyBench(t, `echo 1 >f; echo 1 >g; echo 1 >h; mkdir d; echo 1 >d/f`)
	s := b.create("")
	b.inside(s, `echo 2 >f; rm g; echo 2 >h; echo 2 >n; rm -r d`)
	b.host(`echo 3 >f; echo 3 >g; rm h; echo 3 >n; echo 3 >d/new`)
	b.wantDiff(s, "deleted d", "deleted d/f", "deleted d/new !conflict", "modified f !conflict", "deleted g !conflict", "created h !conflict", "modified n !conflict")
	b.apply(s, stage.ApplyOptions{})
	if got := b.host(`cat f g n d/new; ls`); got != "3\n3\n3\n3\nd\nf\ng\nn\n" {
		t.Errorf("%q", got)
	}
}

func Test_Apply_Applies_Only_The_Named_Paths_With_Their_Dependencies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		paths []string
		left  []string
	}{
		{"a file", []string{"f"}, []string{"created a", "created a/b", "created a/b/c", "created a/d", "deleted o", "deleted o/x", "deleted o/y"}},
		{"a file in new directories", []string{"a/b/c"}, []string{"created a/d", "deleted o", "deleted o/x", "deleted o/y", "modified f"}},
		{"a directory", []string{"o"}, []string{"created a", "created a/b", "created a/b/c", "created a/d", "modified f"}},
		{"a file of a deleted directory", []string{"o/x"}, []string{"created a", "created a/b", "created a/b/c", "created a/d", "deleted o", "deleted o/y", "modified f"}},
		{"several", []string{"./o/", "a/d", "f"}, []string{"created a/b", "created a/b/c"}},
		{"the whole workspace", []string{"."}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `echo 1 >f; mkdir o; echo x >o/x; echo y >o/y`)
			s := b.create("")
			b.inside(s, `echo 2 >f; mkdir -p a/b; echo c >a/b/c; echo d >a/d; rm -r o`)
			want := b.inside(s, listing)
			if r := b.apply(s, stage.ApplyOptions{Paths: row.paths}); len(r.Skipped) > 0 {
				t.Errorf("skipped %+v", r.Skipped)
			}
			slices.SortFunc(row.left, func(a, b string) int { return strings.Compare(a[strings.Index(a, " "):], b[strings.Index(b, " "):]) })
			b.wantDiff(s, append([]string{}, row.left...)...)
			if got := b.inside(s, listing); got != want {
				t.Errorf("the view changed to\n%s\nfrom\n%s", got, want)
			}
			b.applyClean(s)
			if got := b.host(listing); got != want {
				t.Errorf("after the rest\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func Test_Part_Of_A_Directory_Made_Again_Can_Be_Applied(t *testing.T) {
	t.Parallel()
	b := newBench(t, `mkdir d; for i in 1 2 3; do echo $i >d/$i; done`)
	s := b.create("")
	b.inside(s, `rm -r d; mkdir d; echo n >d/n; echo new >d/1`)
	want := b.inside(s, listing)
	b.apply(s, stage.ApplyOptions{Paths: []string{"d/n", "d/2"}})
	b.wantDiff(s, "modified d/1", "deleted d/3")
	if got := b.inside(s, listing); got != want {
		t.Errorf("the view changed to\n%s\nfrom\n%s", got, want)
	}
	b.applyClean(s)
	if got := b.host(listing); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func Test_Apply_Rejects_Invalid_Paths(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	s := b.create("")
	b.inside(s, `echo 2 >f`)
	for path, code := range map[string]sandbox.Code{"g": sandbox.NotFound, "..": sandbox.Invalid, "../canary": sandbox.Invalid, "": sandbox.Invalid, "/etc": sandbox.Invalid} {
		if _, err := s.Apply(stage.ApplyOptions{Paths: []string{path}}); sandbox.CodeOf(err) != code {
			t.Errorf("%q: %v", path, err)
		}
	}
	b.apply(s, stage.ApplyOptions{Paths: []string{filepath.Join(b.work, "f")}})
	if b.read("f") != "2\n" {
		t.Error("an absolute path was not applied")
	}
}

func Test_Apply_Skips_Changes_That_The_Caller_Refuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, `git init -q; mkdir -p keep; echo 1 >keep/f`)
	s := b.create("")
	b.inside(s, `mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit; echo 2 >f; rm -r keep; mkdir new; echo x >new/f`)
	refuse := func(path string, _ stage.Change) string {
		for _, p := range []string{".git/hooks", "keep/f", "new"} {
			if path == filepath.Join(b.work, p) || strings.HasPrefix(path, filepath.Join(b.work, p)+"/") {
				return "protected"
			}
		}
		return ""
	}
	r := b.apply(s, stage.ApplyOptions{Refuse: refuse, Force: true})
	reasons := map[string]stage.Reason{}
	for _, k := range r.Skipped {
		reasons[k.Path] = k.Reason
	}
	if reasons[".git/hooks/pre-commit"] != stage.Refused || reasons["keep/f"] != stage.Refused || reasons["keep"] != stage.Depends || reasons["new/f"] != stage.Refused {
		t.Errorf("%+v", r.Skipped)
	}
	if b.read(".git/hooks/pre-commit") != "(none)" || b.read("keep/f") != "1\n" || b.read("new/f") != "(none)" || b.read("f") != "2\n" {
		t.Error(b.host(listing))
	}
}

func Test_Applied_Changes_Do_Not_Conflict_Later(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f; mkdir d; echo 1 >d/f`)
	s := b.create("")
	for i := range 3 {
		n := string(rune('2' + i))
		b.inside(s, `echo `+n+` >f; rm -rf d; mkdir d; echo `+n+` >d/f; chmod 75`+n+` d; echo `+n+` >n`+n)
		b.applyClean(s)
	}
	b.inside(s, `rm -r d f`)
	b.applyClean(s)
	if got := b.host(`ls; cat n*`); got != "n2\nn3\nn4\n2\n3\n4\n" {
		t.Errorf("%q", got)
	}
}

// Test_A_Hostile_Stage_Harms_Nothing writes entries into the upper tree that the kernel
// would not create.
func Test_A_Hostile_Stage_Harms_Nothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, `mkdir d real; echo 1 >d/f; echo 1 >real/f; ln -s .. out; echo x >plain; chmod 4755 plain`)
	s := b.create("")
	b.inside(s, `echo 1 >placeholder`)
	uppers, err := filepath.Glob(b.store.Dir + "/*/upper")
	if err != nil || len(uppers) != 1 {
		t.Fatal(uppers, err)
	}
	up := &bench{T: t, root: b.root, work: uppers[0]}
	up.host(`rm placeholder; ln -s /etc d; mkdir out; echo evil >out/canary; echo s >suid; chmod 6755 suid; cp -a suid plain; chmod 6777 plain
		mkdir real; ln -s ../../../../canary real/f; echo t >.agent-sandbox-stage-X; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
		mkdir locked; echo x >locked/f; chmod 000 locked; echo l >closed; chmod 000 closed`)
	if os.Geteuid() == 0 {
		up.host(`mknod disk b 8 0; mknod null c 1 3`)
	}
	depth := deepen(t, uppers[0])
	for _, c := range b.diff(s) {
		if strings.Count(c.Path, "/") > 3000 {
			t.Errorf("a change at depth %d of %d", strings.Count(c.Path, "/"), depth)
		}
	}
	b.apply(s, stage.ApplyOptions{})
	for _, path := range []string{"sock", "disk", "null", ".agent-sandbox-stage-X"} {
		if _, err := os.Lstat(filepath.Join(b.work, path)); err == nil {
			t.Errorf("%s was applied", path)
		}
	}
	if got := b.host(`stat -c '%a %F' suid plain real/f; find . -perm /6000`); got != "755 regular file\n777 regular file\n777 symbolic link\n" {
		t.Errorf("modes:\n%s", got)
	}
	if got := b.host(`cat out/canary; readlink d`); got != "evil\n/etc\n" { // a directory now, not the link
		t.Errorf("%q", got)
	}
}

// deepen creates a chain of directories whose path is longer than PATH_MAX.
func deepen(t *testing.T, dir string) int {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const depth = 6000
	for range depth {
		if err := unix.Mkdirat(fd, "deep", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, "deep", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(fd)
		fd = next
	}
	_ = unix.Close(fd)
	return depth
}

func Test_A_Patch_Does_With_Git_What_Apply_Does(t *testing.T) {
	t.Parallel()
	const setup = `seq 1 40 >f; echo -n 'no newline' >g; echo x >'a b'; echo y >$'q"\t\\\xff'; ln -s one l; echo m >mode; echo gone >gone; mkdir d; echo z >d/z; seq 5 >t; : >empty; printf 'a\r\nb\r\n' >crlf`
	const script = `sed -i -e 3d -e 's/^20$/twenty/' -e '$a end' f; echo >>g; echo z >>'a b'; echo z >>$'q"\t\\\xff'; ln -sfn two l; chmod 755 mode; rm gone; rm -r d; echo now >d;
		rm t; ln -s d t; rm empty; : >empty2; echo -n new >n; mkdir 'x y'; seq 9 >'x y/z z'; chmod 755 n; printf 'a\r\nc\r\n' >crlf; echo é >ünï; ln -s 'sp ace' m`
	for _, tool := range []string{"git apply", "patch -p1"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			setup, script := setup, script
			if tool != "git apply" {
				// patch(1) supports neither links by default nor a directory that replaces a
				// file.
				script = `seq 2 50 >f; echo >>g; echo z >>'a b'; echo z >>$'q"\t\\\xff'; rm gone; echo -n new >n; mkdir 'x y'; seq 9 >'x y/z z'; printf 'a\r\nc\r\n' >crlf`
			}
			b := newBench(t, setup)
			s := b.create("")
			b.inside(s, script)
			twin := b.twin(setup)
			args := append(strings.Fields(tool), map[string][]string{"patch -p1": {"--binary"}}[tool]...)
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Dir, cmd.Env = twin.work, scriptEnv(b.root)
			patch := b.patch(s)
			cmd.Stdin = strings.NewReader(string(patch))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, patch)
			}
			b.applyClean(s)
			if got, want := twin.host(listing), b.host(listing); got != want {
				t.Errorf("%s gives\n%s\nwant\n%s\nfrom\n%s", tool, got, want, patch)
			}
		})
	}
}
