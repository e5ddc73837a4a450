package store_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/store"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

var root = vfs.Cred{}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, vfs.Limits{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// stamp writes generation n into several files, so that a mixture is seen.
func stamp(f *vfs.FS, n int) error {
	for i := range 5 {
		text := fmt.Sprint(n, " ", strings.Repeat(strconv.Itoa(i), 3000))
		file, err := f.OpenFile(nil, root, fmt.Sprint("/f", i), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644) //nolint:staticcheck // No pipe.
		if err != nil {
			return err
		}
		if _, err := file.Write([]byte(text)); err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// generation returns the one generation that all files are of.
func generation(t *testing.T, s *vfs.Snapshot) int {
	t.Helper()
	f, found := s.FS(vfs.Options{}), -1
	for i := range 5 {
		data, err := f.ReadFile(t.Context(), root, fmt.Sprint("/f", i))
		must(t, err)
		word, rest, _ := strings.Cut(string(data), " ")
		n, err := strconv.Atoi(word)
		must(t, err)
		if found >= 0 && n != found || rest != strings.Repeat(strconv.Itoa(i), 3000) {
			t.Fatalf("files of generations %d and %d", found, n)
		}
		found = n
	}
	return found
}

func Test_A_Tree_Is_There_Again(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.Load(); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	f := vfs.New(vfs.Options{})
	for n := range 20 {
		must(t, stamp(f, n))
		if _, err := s.Commit(f.Snapshot()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(dir, vfs.Limits{}); !errors.Is(err, store.ErrInUse) {
		t.Fatal(err)
	}
	before := s.Size()
	must(t, s.Compact())
	if s.Size() > before/5 {
		t.Errorf("compacted from %d to %d", before, s.Size())
	}
	must(t, s.Close())
	s = open(t, dir)
	tree, err := s.Load()
	must(t, err)
	if n := generation(t, tree); n != 19 {
		t.Fatal(n)
	}
	if d := vfs.Diff(f.Snapshot(), tree); len(d) > 0 {
		t.Fatal(d)
	}
}

func Test_A_File_That_Was_Cut_Anywhere_Has_The_Last_Commit_Before(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	f := vfs.New(vfs.Options{})
	var ends []int64
	for n := range 3 {
		must(t, stamp(f, n))
		_, err := s.Commit(f.Snapshot())
		must(t, err)
		ends = append(ends, s.Size())
	}
	must(t, s.Close())
	log, err := os.ReadFile(filepath.Join(dir, "tree.log"))
	must(t, err)
	for cut := int64(0); cut <= int64(len(log)); cut += 97 {
		for name, tail := range map[string][]byte{"nothing": nil, "zeros": make([]byte, 500), "garbage": bytes.Repeat([]byte("o\x01"), 300)} {
			at := t.TempDir()
			must(t, os.WriteFile(filepath.Join(at, "tree.log"), append(bytes.Clone(log[:cut]), tail...), 0o600))
			s := open(t, at)
			want := -1
			for n, end := range ends {
				if cut >= end {
					want = n
				}
			}
			tree, err := s.Load()
			if want < 0 {
				if !errors.Is(err, os.ErrNotExist) {
					t.Fatal(cut, name, err)
				}
			} else {
				must(t, err)
				if n := generation(t, tree); n != want {
					t.Fatalf("cut at %d, then %s: generation %d, want %d", cut, name, n, want)
				}
			}
			must(t, s.Close())
		}
	}
}

func Test_A_Confirmed_Commit_That_Is_Missing_Is_Reported(t *testing.T) {
	dir := t.TempDir()
	log, f := filepath.Join(dir, "tree.log"), vfs.New(vfs.Options{})
	s := open(t, dir)
	var first int64
	for n := range 3 {
		must(t, stamp(f, n))
		_, err := s.Commit(f.Snapshot())
		must(t, err)
		if n == 0 {
			first = s.Size()
		}
	}
	whole, err := os.ReadFile(log)
	must(t, err, s.Close())
	for _, size := range []int64{0, 1, first, int64(len(whole)) - 1} {
		must(t, os.WriteFile(log, whole[:size], 0o600))
		_, err := store.Open(dir, vfs.Limits{})
		if !errors.Is(err, vfs.ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("up to byte %d", len(whole))) {
			t.Errorf("with %d of %d bytes: %v", size, len(whole), err)
		}
	}
	must(t, os.WriteFile(log, append(whole, "the begin of a commit that was never confirmed"...), 0o600))
	s = open(t, dir)
	must(t, s.Compact(), s.Close())
	if s = open(t, dir); s.Size() >= int64(len(whole)) {
		t.Errorf("after Compact it has %d bytes", s.Size())
	}
	must(t, s.Close(), os.WriteFile(log, whole[:first], 0o600), os.Remove(filepath.Join(dir, "tree.end")))
	tree, err := open(t, dir).Load()
	must(t, err)
	if n := generation(t, tree); n != 0 {
		t.Errorf("without the file it has generation %d", n)
	}
}

func Test_Damage_Before_The_Last_Commit_Is_Not_A_Torn_End(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	f := vfs.New(vfs.Options{})
	for n := range 3 {
		must(t, stamp(f, n))
		_, err := s.Commit(f.Snapshot())
		must(t, err)
	}
	end := s.Size()
	must(t, s.Close())
	log, err := os.ReadFile(filepath.Join(dir, "tree.log"))
	must(t, err)
	for at := int64(0); at < end-150; at += 61 {
		bad := bytes.Clone(log)
		bad[at] ^= 0x10
		other := t.TempDir()
		must(t, os.WriteFile(filepath.Join(other, "tree.log"), bad, 0o600))
		s, err := store.Open(other, vfs.Limits{})
		if err == nil {
			_ = s.Close()
		}
		if !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}

// Test_Main_Committer is not a test: it is the process that the tests kill.
func Test_Main_Committer(t *testing.T) {
	dir := os.Getenv("COMMIT_INTO")
	if dir == "" {
		t.Skip("only started by Test_A_Killed_Writer_Leaves_The_Last_Commit")
	}
	s, err := store.Open(dir, vfs.Limits{})
	must(t, err)
	f, n := vfs.New(vfs.Options{}), 0
	if tree, err := s.Load(); err == nil {
		f, n = tree.FS(vfs.Options{}), generation(t, tree)
	}
	for {
		n++
		must(t, stamp(f, n))
		if _, err := s.Commit(f.Snapshot()); err != nil {
			t.Fatal(err)
		}
		fmt.Println("committed", n)
		if n%7 == 0 {
			must(t, s.Compact())
		}
	}
}

func Test_A_Killed_Writer_Leaves_The_Last_Commit(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 5)) //nolint:gosec // The same pauses each time.
	said := 0
	for round := range rounds.Of(10) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^Test_Main_Committer$")
		cmd.Env = append(os.Environ(), "COMMIT_INTO="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		// Counted from the first commit: a program takes longer to start on a busy machine.
		moment := time.Duration(1+r.IntN(40)) * time.Millisecond
		var pause *time.Timer
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, word, ok := strings.Cut(lines.Text(), "committed "); ok {
				if pause == nil {
					pause = time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
				}
				if n, err := strconv.Atoi(word); err == nil {
					said = n
				}
			}
		}
		_ = cmd.Wait()
		if pause != nil {
			pause.Stop()
		}
		s, err := store.Open(dir, vfs.Limits{})
		must(t, err)
		tree, err := s.Load()
		if errors.Is(err, os.ErrNotExist) && said == 0 {
			must(t, s.Close())
			continue
		}
		must(t, err)
		// The last commit may be on the disk although the process was killed before it could report it.
		if n := generation(t, tree); n != said && n != said+1 {
			t.Fatalf("round %d: %d was committed, there is %d", round, said, n)
		} else {
			said = n
		}
		must(t, s.Close())
	}
	if said == 0 {
		t.Fatal("nothing was ever committed")
	}
	t.Log(said, "commits")
}
