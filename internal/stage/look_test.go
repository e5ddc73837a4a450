//go:build linux

package stage_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Look_Sees_The_View(t *testing.T) {
	t.Parallel()
	const setup = `echo 1 >f; mkdir -p d/e gone opaque; echo x >d/e/x; echo y >d/y; echo z >gone/z; echo o >opaque/o; ln -s d link`
	const script = `echo 2 >f; rm d/y; rm -r gone; rm -r opaque; mkdir opaque; echo n >opaque/n; echo w >d/w; ln -sfn / link; mkfifo p`
	for _, kind := range []string{"overlay", "copy"} {
		b := newBench(t, setup)
		if kind == "copy" {
			b = newCopyBench(t, setup)
		}
		s := b.create("")
		b.inside(s, script)
		for path, want := range map[string]patch.Type{
			"": patch.Directory, "f": patch.File, "d": patch.Directory, "d/e": patch.Directory, "d/e/x": patch.File, "d/w": patch.File,
			"d/y": "", "gone": "", "gone/z": "", "opaque": patch.Directory, "opaque/n": patch.File, "opaque/o": "",
			"link": patch.Symlink, "link/etc": "", "p": patch.FIFO, "none": "", "f/x": "",
		} {
			t.Run(kind+" "+path, func(t *testing.T) {
				seen, err := s.Look(path)
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					if seen != nil {
						t.Errorf("there is %+v", seen)
					}
					return
				}
				if seen == nil || seen.Type != want {
					t.Fatalf("there is %+v, want a %s", seen, want)
				}
				if _, err := os.Lstat(seen.Host); err != nil {
					t.Error(err)
				}
				if path == "f" && !strings.Contains(seen.Host, "stages") || kind == "overlay" && path == "d/e/x" && seen.Host != filepath.Join(b.work, path) {
					t.Errorf("the host has it at %s", seen.Host)
				}
			})
		}
	}
}

func Test_A_Pristine_Overlay_Starts_Anew(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f; echo 1 >g`)
	s := b.create("")
	b.host(`echo 2 >f; chmod 750 .`)
	b.inside(s, `[ "$(stat -c %a .)" = 750 ]; echo 3 >f`)
	b.wantDiff(s, "modified f")
	b.host(`echo 4 >g`)
	b.inside(s, `echo 5 >g`) // not pristine: the first run may not have seen the host's change
	b.wantDiff(s, "modified f", "modified g !conflict")
	b.apply(s, stage.ApplyOptions{Force: true})
	b.host(`echo 6 >f; echo 6 >g`)
	b.inside(s, `echo 7 >f`)
	b.wantDiff(s, "modified f")
	b.host(`echo 8 >f`)
	b.wantDiff(s, "modified f !conflict")
}

func Test_A_Lost_Renewal_Only_Finds_More_Conflicts(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	s := b.create("")
	b.host(`echo 2 >f`)
	b.inside(s, `echo 3 >f`)
	found, err := filepath.Glob(filepath.Join(b.store.Dir, "*", "renewed.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.WriteFile(found[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.wantDiff(s, "modified f !conflict")
}

func Test_Ensure_Makes_A_Stage_Once(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `echo 1 >f`)
			if kind == "copy" {
				b = newCopyBench(t, `echo 1 >f`)
			}
			ensure := func() *stage.Stage {
				s, err := b.store.Ensure(b.work, "")
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := ensure()
			b.host(`echo 2 >f`)
			if got := b.inside(ensure(), `cat f`); got != "2\n" {
				t.Errorf("a stage without changes shows %q", got)
			}
			b.inside(ensure(), `echo 3 >f`)
			again := ensure()
			b.wantDiff(again, "modified f")
			use, err := again.Use(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ensure().Use(nil); sandbox.CodeOf(err) != sandbox.Denied {
				t.Errorf("a second use: %v", err)
			}
			if err := use.Close(); err != nil {
				t.Error(err)
			}
			_ = s
		})
	}
}

func Test_A_Dry_Run_Decides_And_Changes_Nothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f; echo 1 >g`)
	s := b.create("")
	b.inside(s, `echo 2 >f; echo 2 >g; mkdir d; echo n >d/n`)
	b.host(`echo 3 >g`)
	before := b.host(listing)
	r := b.apply(s, stage.ApplyOptions{DryRun: true})
	if len(r.Applied) != 3 || len(r.Skipped) != 1 || r.Skipped[0].Path != "g" {
		t.Errorf("%+v", r)
	}
	if got := b.host(listing); got != before {
		t.Errorf("the workspace is\n%s", got)
	}
	b.wantDiff(s, "created d", "created d/n", "modified f", "modified g !conflict")
}

func Test_Changes_Of_A_Repository_Stay_Together(t *testing.T) {
	t.Parallel()
	b := newBench(t, `git init -q; echo 1 >f; git add f; git commit -qm one`)
	s := b.create("")
	b.inside(s, `echo 2 >f; git commit -qam two`)
	b.host(`echo x >new; git add new`) // writes the index
	r := b.apply(s, stage.ApplyOptions{})
	if len(r.Applied) != 1 || r.Applied[0].Path != "f" {
		t.Errorf("applied %+v", r.Applied)
	}
	for _, k := range r.Skipped {
		if want := stage.Depends; k.Reason != want && (k.Path != ".git/index" || k.Reason != stage.Conflicting) {
			t.Errorf("%+v", k)
		}
	}
	if got := b.host(`git log --format=%s; git status --short`); got != "one\n M f\nA  new\n" {
		t.Errorf("the repository says %q", got)
	}
	b.apply(s, stage.ApplyOptions{Paths: []string{".git"}, Force: true})
	if got := b.host(`git fsck --strict >/dev/null 2>&1; git log --format=%s; git status --short`); got != "two\none\n?? new\n" {
		t.Errorf("forced, the repository says %q", got)
	}
}

func Test_Lines_Are_Counted_As_A_Patch_Has_Them(t *testing.T) {
	t.Parallel()
	b := newBench(t, `printf 'a\nb\nc\n' >f; echo x >gone; printf 'a\0' >bin; echo s >same; ln -s a l`)
	s := b.create("")
	b.inside(s, `printf -- '-- a\n++ b\n@@ c\ndiff --git\n' >f; rm gone; printf 'b\0' >bin; chmod 755 same; ln -sfn b l; mkdir d`)
	changes := b.diff(s)
	got, err := s.CountLines(changes)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]stage.Lines{"f": {Added: 4, Removed: 3}, "gone": {Removed: 1}, "l": {Added: 1, Removed: 1}}
	for i, c := range changes {
		if got[i] != want[c.Path] {
			t.Errorf("%s: %+v, want %+v", c.Path, got[i], want[c.Path])
		}
		if patchable := c.Path != "d"; c.IsPatchable() != patchable {
			t.Errorf("%s: patchable %t", c.Path, c.IsPatchable())
		}
	}
}

func Test_The_Lock_Gives_A_Sandbox_No_File_Of_The_Host(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 1 >f`)
	s := b.create("")
	use, err := s.Use([]string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	info, err := use.File().Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("%v, %v", info, err)
	}
	name := "/proc/self/fd/" // as inside: /proc/1/fd
	f, err := os.OpenFile(name+strconv.Itoa(int(use.File().Fd())), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("planted"); err != nil {
		t.Fatal(err)
	}
	if err := f.Chmod(0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Use(nil); sandbox.CodeOf(err) != sandbox.Denied {
		t.Errorf("while it is in use: %v", err)
	}
	if err := use.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := s.Use(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func Test_A_Sweep_Spares_A_Stage_That_Is_Being_Created(t *testing.T) {
	t.Parallel()
	b := newBench(t, ``)
	b.create("")
	alive := filepath.Join(b.store.Dir, ".new-alive")
	for _, name := range []string{".new-alive", ".new-dead", ".gone-dead"} {
		if err := os.MkdirAll(filepath.Join(b.store.Dir, name, "upper"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held, err := os.Create(filepath.Join(alive, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := unix.FcntlFlock(held.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	b.store.Sweep()
	left, err := filepath.Glob(filepath.Join(b.store.Dir, ".*"))
	if err != nil || !slices.Equal(left, []string{alive}) {
		t.Errorf("left %q, %v", left, err)
	}
}
