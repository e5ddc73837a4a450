//go:build linux

package stage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

// BenchmarkTrue starts true in a sandbox over a tree of 50,000 files: without a stage,
// with an existing stage, and with a new stage.
func BenchmarkTrue(b *testing.B) {
	root := b.TempDir()
	work := filepath.Join(root, "work")
	for d := range 500 {
		dir := filepath.Join(work, strconv.Itoa(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(f)), []byte("x"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	store := &stage.Store{Dir: filepath.Join(root, "state"), Guest: guestProgram}
	bwrap := []string{
		"/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--bind", work, work, "--chdir", work, "--", "/bin/true",
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if out, err := exec.CommandContext(b.Context(), bwrap[0], bwrap[1:]...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
	kept, err := store.Create(work, "kept")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("staged", func(b *testing.B) {
		for b.Loop() {
			runStaged(b, kept, bwrap)
		}
	})
	b.Run("stage made and discarded", func(b *testing.B) {
		for b.Loop() {
			s, err := store.Create(work, "")
			if err != nil {
				b.Fatal(err)
			}
			runStaged(b, s, bwrap)
			if err := s.Discard(); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := kept.Discard(); err != nil {
		b.Fatal(err)
	}
}

func runStaged(b *testing.B, s *stage.Stage, program []string) {
	b.Helper()
	use, err := s.Use(program)
	if err != nil {
		b.Fatal(err)
	}
	w := use.Command(guestProgram)
	cmd := exec.CommandContext(b.Context(), w.Path)
	cmd.Args, cmd.SysProcAttr = append(w.Args, program...), w.Attr
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	if err := use.Close(); err != nil {
		b.Fatal(err)
	}
}
