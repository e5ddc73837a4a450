//go:build linux

package stage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

// applyAll is the main function of the helper process. at contains the store and the
// workspace, separated by "::".
func applyAll(at string) int {
	dir, work, _ := strings.Cut(at, "::")
	s, err := (&stage.Store{Dir: dir}).Open(work, "")
	if err == nil {
		var r stage.Result
		if r, err = s.Apply(stage.ApplyOptions{}); err == nil && len(r.Skipped) > 0 {
			err = fmt.Errorf("skipped %+v", r.Skipped)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const (
	killSetup = `mkdir -p mod del/a/b swap re; for i in {1..40}; do echo old$i >mod/$i; echo gone >del/a/b/$i; echo in >re/$i; done; ` +
		`echo f >tofile; mkdir todir; echo x >todir/x; head -c 3000000 /dev/zero | tr '\0' o >big; ln -s old link`
	killWork = `for i in {1..40}; do echo new$i >mod/$i; done; rm -rf del re; mkdir re new new/deep; for i in {1..40}; do echo n >new/deep/$i; done; ` +
		`echo r >re/r; rm tofile; mkdir tofile; echo in >tofile/g; rm -rf todir; echo file >todir; head -c 3000000 /dev/zero | tr '\0' n >big; ln -sfn new link; chmod 750 mod; chmod 711 new`
)

// Test_Apply_Survives_Being_Killed_At_Any_Moment kills Apply at random moments and
// looks at every file each time; then a last Apply has to finish.
func Test_Apply_Survives_Being_Killed_At_Any_Moment(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} {
		t.Run(fmt.Sprintf("as a copy %t", copied), func(t *testing.T) {
			t.Parallel()
			kills, pending := 0, 0
			for round := 0; round < rounds.Of(3) || kills < rounds.Of(6) || pending < rounds.Of(2); round++ {
				if round > rounds.Of(60) {
					t.Fatalf("only %d kills, %d between the first change and the last, in %d rounds", kills, pending, round)
				}
				k, p := killRound(t, copied)
				kills, pending = kills+k, pending+p
			}
			t.Logf("%d kills, %d of them in the middle", kills, pending)
		})
	}
}

func killRound(t *testing.T, copied bool) (kills, pending int) {
	t.Helper()
	b := newBench(t, killSetup)
	if copied {
		b = newCopyBench(t, killSetup)
	}
	twin := b.twin(killSetup)
	twin.host(killWork)
	s := b.create("")
	b.inside(s, killWork)
	for range 3 {
		after := time.Duration(rand.IntN(40_000)) * time.Microsecond //nolint:gosec // a moment, not a secret
		if !b.killedApply(after) {
			break
		}
		kills++
		b.beforeOrAfter(twin)
		if len(b.journals()) > 0 {
			pending++
		} else if len(b.diff(s)) == 0 {
			break // Apply was complete except for its end
		}
	}
	if out, err := b.applyProcess().CombinedOutput(); err != nil {
		t.Fatalf("the last apply: %v %s", err, out)
	}
	if got, want := b.host(listing), twin.host(listing); got != want {
		t.Fatalf("after %d kills and an apply\n%s\nwant\n%s", kills, got, want)
	}
	b.wantDiff(s)
	return kills, pending
}

func (b *bench) applyProcess() *exec.Cmd {
	cmd := exec.CommandContext(b.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), applyHelper+"="+b.store.Dir+"::"+b.work)
	return cmd
}

// killedApply reports whether it killed Apply before its end.
func (b *bench) killedApply(after time.Duration) bool {
	b.Helper()
	cmd := b.applyProcess()
	wait := b.journalWritten()
	defer wait.Close()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if len(b.journals()) == 0 {
		// Most of an Apply's time is before and after the changes: start at the begin of
		// the changes.
		if _, err := wait.Read(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		b.Fatalf("an apply ended with %v", err)
	}
	return err != nil
}

func (b *bench) journals() []string {
	found, _ := filepath.Glob(b.store.Dir + "/*/journal.json") // the pattern is valid
	return found
}

// journalWritten returns a file that becomes readable when Apply has written a journal.
func (b *bench) journalWritten() *os.File {
	b.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	stages, err := filepath.Glob(b.store.Dir + "/*-default")
	if err != nil || len(stages) != 1 {
		b.Fatal(stages, err)
	}
	if _, err := unix.InotifyAddWatch(fd, stages[0], unix.IN_MOVED_TO); err != nil {
		b.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "inotify")
	if err := f.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		b.Fatal(err)
	}
	return f
}

// beforeOrAfter checks that each file has either its complete old content or its complete
// new content.
func (b *bench) beforeOrAfter(after *bench) {
	b.Helper()
	for i := 1; i <= 40; i++ {
		n := fmt.Sprint(i)
		b.oneOf("mod/"+n, "old"+n+"\n", "new"+n+"\n")
		b.oneOf("del/a/b/"+n, "gone\n", "(none)")
		b.oneOf("re/"+n, "in\n", "(none)")
		b.oneOf("new/deep/"+n, "n\n", "(none)")
	}
	b.oneOf("big", strings.Repeat("o", 3000000), after.read("big"))
	if target, err := os.Readlink(filepath.Join(b.work, "link")); err != nil || target != "old" && target != "new" {
		b.Errorf("link to %q, %v", target, err)
	}
	for _, name := range []string{"tofile", "todir"} {
		if _, err := os.Lstat(filepath.Join(b.work, name)); err != nil {
			b.Errorf("there is neither the file nor the directory: %v", err)
		}
	}
}

func (b *bench) oneOf(path string, want ...string) {
	b.Helper()
	got := b.read(path)
	if !slices.Contains(want, got) {
		b.Errorf("%s is %.40q (%d bytes)", path, got, len(got))
	}
}
