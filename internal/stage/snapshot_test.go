//go:build linux

package stage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

// wholeTree describes all properties of a tree that a difference contains, and times.
const wholeTree = `find . -mindepth 1 \( -type f -printf '%P %m %n %s %T@\n' -o -type d -printf '%P %m\n' -o -printf '%P %y %l %m %T@\n' \) | sort; find . -type f -size -1M -print0 | sort -z | xargs -0r cat | sha256sum`

func (b *bench) snapshots() stage.Snapshots {
	return stage.Snapshots{Dir: filepath.Join(b.root, "kept")}
}

// use calls f with the stage in use.
func (b *bench) use(s *stage.Stage, f func(u *stage.Use) error) error {
	b.Helper()
	u, err := s.Use([]string{"test"})
	if err != nil {
		return err
	}
	return errors.Join(f(u), u.Close())
}

func (b *bench) snapshot(s *stage.Stage, name string) {
	b.Helper()
	if err := b.use(s, func(u *stage.Use) error { return b.snapshots().Snapshot(b.Context(), u, name) }); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) restore(s *stage.Stage, name string) {
	b.Helper()
	dir, err := b.snapshots().Find(name)
	if err == nil {
		err = b.store.Restore(b.Context(), b.work, s.Name, dir, func() error { return nil })
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) shows(s *stage.Stage) string {
	b.Helper()
	changes := b.diff(s)
	var out bytes.Buffer
	if err := s.WritePatch(&out, changes); err != nil {
		b.Fatal(err)
	}
	return strings.Join(summary(changes), "\n") + "\n" + out.String()
}

func Test_A_Snapshot_Restores_Changes_Of_A_Command(t *testing.T) {
	t.Parallel()
	for i, w := range works {
		for _, copied := range []bool{false, true} {
			if copied && i%4 > 0 {
				continue // a few are enough
			}
			t.Run(fmt.Sprintf("%s, as a copy %t", w.name, copied), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, w.setup)
				if copied {
					b = newCopyBench(t, w.setup)
				}
				b.snapshotAndFork(w.script)
			})
		}
	}
}

func (b *bench) snapshotAndFork(script string) {
	b.Helper()
	s := b.create("")
	b.inside(s, script)
	patch, tree := b.shows(s), b.inside(s, wholeTree)
	b.snapshot(s, "one")
	b.inside(s, `chmod -R u+rwx . ; rm -rf ./*; echo other >other; mkdir -p a/b; echo x >a/b/f; echo y >f`)
	b.restore(s, "one")
	b.unchanged(s, "restored", patch, tree)

	fork := filepath.Join(b.root, "fork")
	if err := b.snapshots().Copy(b.Context(), "one", fork); err != nil {
		b.Fatal(err)
	}
	if err := b.store.Adopt(b.Context(), b.work, "forked", fork); err != nil {
		b.Fatal(err)
	}
	forked, err := b.store.Open(b.work, "forked")
	if err != nil {
		b.Fatal(err)
	}
	b.unchanged(forked, "forked", patch, tree)
	b.inside(forked, `echo fork >fork`)
	if got := b.shows(s); got != patch {
		b.Fatalf("after the fork was changed the difference is\n%s\nwant\n%s", got, patch)
	}
	b.applyClean(s)
	if err := b.snapshots().Remove("one"); err != nil {
		b.Error(err)
	}
	if list, err := b.snapshots().List(); err != nil || len(list) > 0 {
		b.Errorf("%+v, %v", list, err)
	}
}

func (b *bench) unchanged(s *stage.Stage, when, patch, tree string) {
	b.Helper()
	if got := b.shows(s); got != patch {
		b.Fatalf("%s the difference is\n%s\nwant\n%s", when, got, patch)
	}
	if got := b.inside(s, wholeTree); got != tree {
		b.Fatalf("%s the tree is\n%s\nwant\n%s", when, got, tree)
	}
}

// Changes that were applied before they were restored are no differences, and do not affect
// later writes.
func Test_Restored_Changes_That_Were_Applied_Do_Not_Conflict(t *testing.T) {
	t.Parallel()
	b := newBench(t, `echo 0 >f; mkdir d; echo 0 >d/f`)
	s := b.create("")
	b.inside(s, `echo 1 >f; echo 1 >d/f; echo 1 >d/new`)
	b.snapshot(s, "one")
	b.applyClean(s)
	b.restore(s, "one")
	b.wantDiff(s)
	b.applyClean(s)
	b.inside(s, `echo 2 >f; rm d/f; echo 2 >d/new`)
	b.applyClean(s)
	if got := b.host(`cat f d/*`); got != "2\n2\n" {
		t.Errorf("%q", got)
	}
}

func Test_A_Snapshot_Of_Locked_Files_Needs_No_Root(t *testing.T) {
	t.Parallel()
	b := newBench(t, `mkdir d; echo x >d/f`)
	s := b.create("")
	b.inside(s, `mkdir -p locked/in; echo 1 >locked/in/f; chmod 0 locked/in/f; chmod 0 locked/in; chmod 100 locked; echo 2 >d/f; chmod 0 d/f; chmod 444 d`)
	b.snapshot(s, "one")
	b.inside(s, `chmod -R u+rwx .; rm -rf locked; echo 3 >d/f`)
	b.restore(s, "one")
	if got := b.inside(s, `stat -c %a locked d; chmod 700 locked d; chmod 700 locked/in; stat -c %a locked/in/f d/f; chmod 600 locked/in/f d/f; cat locked/in/f d/f`); got != "100\n444\n0\n0\n1\n2\n" {
		t.Errorf("%q", got)
	}
}

func Test_Names_And_Times_Of_Snapshots(t *testing.T) {
	t.Parallel()
	b := newBench(t, ``)
	s := b.create("")
	for _, name := range []string{"", "a\nb", "a/b", "..", ".new-x", "a b", "\xff", strings.Repeat("x", 64)} {
		err := b.use(s, func(u *stage.Use) error { return b.snapshots().Snapshot(t.Context(), u, name) })
		wantCode(t, err, sandbox.Invalid, "cannot be a snapshot's name")
	}
	b.snapshot(s, "z")
	b.snapshot(s, "a")
	err := b.use(s, func(u *stage.Use) error { return b.snapshots().Snapshot(t.Context(), u, "a") })
	wantCode(t, err, sandbox.Exists, "a snapshot a")
	_, err = b.snapshots().Find("b")
	wantCode(t, err, sandbox.NotFound, "no snapshot b")
	wantCode(t, b.snapshots().Remove("b"), sandbox.NotFound, "no snapshot b")
	list, err := b.snapshots().List()
	if err != nil || len(list) != 2 || list[0].Name != "z" || list[1].Name != "a" || time.Since(list[0].Created) > time.Hour {
		t.Errorf("%+v, %v", list, err)
	}
	dir, err := b.snapshots().Find("a")
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.use(s, func(*stage.Use) error {
		return b.store.Restore(t.Context(), b.work, "", dir, func() error { return nil })
	}), sandbox.Denied, "in use")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.inside(s, `echo x >f`)
	if err := b.use(s, func(u *stage.Use) error { return b.snapshots().Snapshot(ctx, u, "late") }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func Test_One_Of_Many_Snapshots_Gets_The_Name(t *testing.T) {
	t.Parallel()
	b := newBench(t, ``)
	s := b.create("")
	b.inside(s, `for i in {1..200}; do echo $i >$i; done`)
	u, err := s.Use(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch err := b.snapshots().Snapshot(t.Context(), u, "same"); sandbox.CodeOf(err) {
			case "":
				made.Add(1)
			case sandbox.Exists:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were made, %d refused", made.Load(), refused.Load())
	}
}

// snapshotHelper makes the test binary a process that takes and restores snapshots until it is
// killed.
const snapshotHelper = "STAGE_TEST_SNAPSHOT"

func snapshotAll(at string) int {
	parts := strings.Split(at, "::")
	fmt.Println("begun")
	store, snapshots := &stage.Store{Dir: parts[0]}, stage.Snapshots{Dir: parts[2]}
	for n := 0; ; n++ {
		err := snapshotOnce(store, snapshots, parts[1], fmt.Sprintf("s%d-%d", os.Getpid(), n))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

func snapshotOnce(store *stage.Store, snapshots stage.Snapshots, work, name string) error {
	s, err := store.Open(work, "")
	if err != nil {
		return err
	}
	u, err := s.Use(nil)
	if err != nil {
		return err
	}
	if err = errors.Join(snapshots.Snapshot(context.Background(), u, name), u.Close()); err != nil {
		return err
	}
	dir, err := snapshots.Find(name)
	if err == nil {
		err = store.Restore(context.Background(), work, "", dir, func() error { return nil })
	}
	return errors.Join(err, snapshots.Remove(name))
}

func Test_Snapshots_Survive_Being_Killed_At_Any_Moment(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} {
		t.Run(fmt.Sprintf("as a copy %t", copied), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, killSetup)
			if copied {
				b = newCopyBench(t, killSetup)
			}
			s := b.create("")
			b.inside(s, killWork)
			patch, tree := b.shows(s), b.inside(s, wholeTree)
			swept := 0
			// On a slow machine it takes more rounds until a kill hits the middle of an
			// operation.
			for n := 0; n < rounds.Of(4) || swept == 0 && n < 50; n++ {
				b.killSnapshots()
				left, _ := filepath.Glob(b.root + "/*/*/.[ng]*") // the pattern is valid
				more, _ := filepath.Glob(b.root + "/kept/.[ng]*")
				swept += len(left) + len(more)
				b.unchanged(s, "after a kill", patch, tree)
				b.wholeOrNot(patch, tree)
			}
			b.store.Sweep()
			if left := b.host(`find .. -name '.new-*' -o -name '.gone-*'`); left != "" {
				t.Errorf("left: %s", left)
			}
			t.Logf("%d half ones were swept", swept)
			if swept == 0 {
				t.Error("no kill came in the middle")
			}
		})
	}
}

func (b *bench) killSnapshots() {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), snapshotHelper+"="+b.store.Dir+"::"+b.work+"::"+b.snapshots().Dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1))                              // the helper prints that it has begun
	after := time.Duration(rand.IntN(120_000)) * time.Microsecond //nolint:gosec // a moment, not a secret
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() >= 0 {
		b.Fatalf("it ended with %v: %s", err, stderr.String())
	}
}

// wholeOrNot restores every snapshot that a killed process left, and removes it.
func (b *bench) wholeOrNot(patch, tree string) {
	b.Helper()
	list, err := b.snapshots().List()
	if err != nil {
		b.Fatal(err)
	}
	for _, info := range list {
		s, err := b.store.Open(b.work, "")
		if err != nil {
			b.Fatal(err)
		}
		b.restore(s, info.Name)
		b.unchanged(s, "restored after a kill", patch, tree)
		if err := b.snapshots().Remove(info.Name); err != nil {
			b.Fatal(err)
		}
	}
}

func Test_A_Sparse_Gigabyte_And_Many_Files_Are_Cloned(t *testing.T) {
	b := newBench(t, ``)
	s := b.create("")
	// The directory 1 has more entries than one call of getdents64(2) returns.
	b.inside(s, `truncate -s 1G sparse; echo end >>sparse; for d in {1..100}; do mkdir $d; for f in {1..20}; do echo $f >$d/$f; done; done; for f in {1..3000}; do echo $f >1/many-$f; done`)
	begin := time.Now()
	b.snapshot(s, "big")
	taken := time.Since(begin)
	list, err := b.snapshots().List()
	if err != nil || len(list) != 1 || list[0].Size > 64<<20 {
		t.Errorf("%+v, %v", list, err)
	}
	begin = time.Now()
	b.restore(s, "big")
	t.Logf("a snapshot of 5,000 files and a sparse GiB took %v, to restore it %v", taken, time.Since(begin))
	if got := b.inside(s, `stat -c %s sparse; tail -c 4 sparse; find . -type f | wc -l`); got != "1073741828\nend\n5001\n" {
		t.Errorf("%q", got)
	}
}

func Test_Snapshots_Preserve_Odd_Attributes(t *testing.T) {
	t.Parallel()
	b := newBench(t, `mkdir d; echo x >d/f`)
	s := b.create("")
	b.inside(s, `rm -rf d; mkdir d; echo y >d/g; echo z >h`)
	stages, err := filepath.Glob(b.store.Dir + "/*-default/upper")
	if err != nil || len(stages) != 1 {
		t.Fatal(stages, err)
	}
	if err := unix.Setxattr(stages[0]+"/h", "user.mine", bytes.Repeat([]byte("v"), 1000), 0); errors.Is(err, unix.ENOTSUP) {
		t.Skip("no attributes on this file system")
	} else if err != nil {
		t.Fatal(err)
	}
	b.snapshot(s, "one")
	b.restore(s, "one")
	value := make([]byte, 2000)
	if n, err := unix.Getxattr(stages[0]+"/h", "user.mine", value); err != nil || n != 1000 {
		t.Errorf("%d, %v", n, err)
	}
	if got := b.inside(s, `ls d`); got != "g\n" || !slices.Contains(summary(b.diff(s)), "deleted d/f") {
		t.Errorf("%q %q", got, summary(b.diff(s)))
	}
}

func Test_A_Damaged_Snapshot_Is_Listed_And_Can_Only_Be_Removed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(file string) error{
		"cut":             func(file string) error { return os.WriteFile(file, []byte(`{"na`), 0o600) },
		"empty":           func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"of another name": func(file string) error { return os.WriteFile(file, []byte(`{"name": "two"}`), 0o600) },
		"missing":         os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, killSetup)
			s := b.create("")
			b.snapshot(s, "one")
			dir, err := b.snapshots().FindUsable("one")
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(dir, "snapshot.json")); err != nil {
				t.Fatal(err)
			}
			list, err := b.snapshots().List()
			if err != nil || len(list) != 1 || list[0].Name != "one" || !strings.HasPrefix(list[0].Problem, "snapshot.json: ") || list[0].Created.IsZero() {
				t.Errorf("%+v, %v", list, err)
			}
			if _, err := b.snapshots().FindUsable("one"); sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), "snapshot one is damaged") {
				t.Errorf("FindUsable: %v", err)
			}
			if err := b.snapshots().Copy(t.Context(), "one", filepath.Join(b.root, "fork")); sandbox.CodeOf(err) != sandbox.Invalid {
				t.Errorf("Copy: %v", err)
			}
			if err := b.snapshots().Remove("one"); err != nil {
				t.Errorf("Remove: %v", err)
			}
		})
	}
}
