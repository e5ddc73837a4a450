package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func trusted(t *testing.T, s *Store, file, content string) bool {
	t.Helper()
	ok, err := s.Trusted(file, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func newStore(t *testing.T) (s *Store, file string) {
	t.Helper()
	root := treetest.Dir(t)
	return &Store{Dir: filepath.Join(root, "trust")}, treetest.Write(t, filepath.Join(root, "project/.agent-sandbox.json"), "{}")
}

func add(t *testing.T, s *Store, file, content string) {
	t.Helper()
	if err := s.Add(file, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func Test_Trust_Is_For_Exact_Content_And_Place(t *testing.T) {
	s, file := newStore(t)
	if trusted(t, s, file, "{}") {
		t.Error("trusted before anybody said so")
	}
	add(t, s, file, "{}")
	other := treetest.Write(t, filepath.Join(filepath.Dir(file), "other/.agent-sandbox.json"), "{}")
	link := filepath.Join(filepath.Dir(file), "link")
	if err := os.Symlink(".", link); err != nil {
		t.Fatal(err)
	}
	borrowing := filepath.Join(filepath.Dir(file), "borrowing", filepath.Base(file))
	if err := errors.Join(os.Mkdir(filepath.Dir(borrowing), 0o700), os.Symlink("../"+filepath.Base(file), borrowing)); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(borrowing, []byte("{}")); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a link was trusted: %v", err)
	}
	for _, c := range []struct {
		name, file, content string
		want                bool
	}{
		{"the same", file, "{}", true},
		{"the same through a link", filepath.Join(link, filepath.Base(file)), "{}", true},
		{"another content", file, "{} ", false},
		{"no content", file, "", false},
		{"another file with the same content", other, "{}", false},
		{"a link of another directory to the trusted file", borrowing, "{}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := trusted(t, s, c.file, c.content); got != c.want {
				t.Errorf("trusted is %v", got)
			}
		})
	}
}

func Test_The_Store_Lists_And_Removes(t *testing.T) {
	s, file := newStore(t)
	if entries, err := s.List(); err != nil || entries != nil {
		t.Errorf("a store that does not exist lists %v, %v", entries, err)
	}
	if err := s.Remove(file); !errors.Is(err, sandbox.ErrNotFound) {
		t.Errorf("removing what was not there: %v", err)
	}
	odd := treetest.Write(t, filepath.Join(filepath.Dir(file), "a\nb\xff"), "x")
	add(t, s, file, "1")
	add(t, s, file, "2")
	add(t, s, odd, "x")
	treetest.Write(t, filepath.Join(s.Dir, ".new-123"), "a crashed writer's")
	entries, err := s.List()
	if err != nil || len(entries) != 3 || entries[2].File != odd || entries[0].File != file {
		t.Fatalf("list is %q, %v", entries, err)
	}
	if !trusted(t, s, odd, "x") {
		t.Error("a name with a newline and a broken character is not trusted")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(file); err != nil {
		t.Fatal(err)
	}
	if entries, err = s.List(); err != nil || len(entries) != 1 || entries[0].File != odd {
		t.Errorf("list is %q, %v", entries, err)
	}
}

func Test_Entries_That_Others_Could_Have_Written_Do_Not_Count(t *testing.T) {
	entry := func(t *testing.T, s *Store) string {
		t.Helper()
		entries, err := s.List()
		if err != nil || len(entries) != 1 {
			t.Fatalf("list is %v, %v", entries, err)
		}
		return filepath.Join(s.Dir, entries[0].Sum)
	}
	chmod := func(mode os.FileMode, name func(*testing.T, *Store) string) func(*testing.T, *Store) {
		return func(t *testing.T, s *Store) {
			t.Helper()
			if err := os.Chmod(name(t, s), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := func(_ *testing.T, s *Store) string { return s.Dir }
	for _, c := range []struct {
		name   string
		change func(*testing.T, *Store)
		unseen bool // only the content that is asked about shows it
	}{
		{"an entry that the group may write", chmod(0o620, entry), false},
		{"an entry that all may write", chmod(0o602, entry), false},
		{"a store that the group may write", chmod(0o770, dir), false},
		{"a store that all may write", chmod(0o1777, dir), false},
		{"an entry that is a link", func(t *testing.T, s *Store) {
			t.Helper()
			name := entry(t, s)
			if err := os.Rename(name, name+".x"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(name+".x", name); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"an entry that is empty", func(t *testing.T, s *Store) { t.Helper(); treetest.Write(t, entry(t, s), "") }, false},
		{"an entry that another was copied to", func(t *testing.T, s *Store) {
			t.Helper()
			name := entry(t, s)
			treetest.Write(t, name, filepath.Base(name)+"\x00/elsewhere")
		}, true},
		{"an entry of another user", func(t *testing.T, s *Store) {
			t.Helper()
			name := entry(t, s)
			if os.Geteuid() != 0 {
				// Only root can change the owner of files; as a plain user the test checks that root's files do not count.
				info, err := os.Stat("/etc/passwd")
				if err != nil || isOursAlone(info) {
					t.Fatalf("root's file counts as ours (%v)", err)
				}
				name += ".gone"
				if err := os.Rename(entry(t, s), name); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err := os.Chown(name, 1000, 1000); err != nil {
				t.Fatal(err)
			}
		}, os.Geteuid() != 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, file := newStore(t)
			add(t, s, file, "{}")
			if !trusted(t, s, file, "{}") {
				t.Fatal("not trusted to begin with")
			}
			c.change(t, s)
			if trusted(t, s, file, "{}") {
				t.Error("still trusted")
			}
			if ignored, err := s.Ignored(); err != nil || len(ignored) != 1 && !c.unseen {
				t.Errorf("ignored are %+v, %v", ignored, err)
			}
		})
	}
}

func Test_A_Sound_Store_Has_Nothing_That_Is_Ignored(t *testing.T) {
	s, file := newStore(t)
	if ignored, err := s.Ignored(); err != nil || len(ignored) > 0 {
		t.Errorf("without a store: %+v, %v", ignored, err)
	}
	add(t, s, file, "{}")
	if ignored, err := s.Ignored(); err != nil || len(ignored) > 0 {
		t.Errorf("%+v, %v", ignored, err)
	}
}

func Test_Add_Refuses_A_Store_That_Others_May_Write_To(t *testing.T) {
	s, file := newStore(t)
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(file, nil); !errors.Is(err, sandbox.ErrDenied) {
		t.Errorf("got %v", err)
	}
}

func Test_The_Files_Of_The_Store_Are_Private(t *testing.T) {
	s, file := newStore(t)
	add(t, s, file, "{}")
	info, err := os.Stat(s.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("store has mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("store has %v, %v", entries, err)
	}
	if info, err = entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("entry has mode %v, %v", info.Mode(), err)
	}
}

func Test_Many_Processes_May_Use_The_Store_At_Once(t *testing.T) {
	s, file := newStore(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			own := &Store{Dir: s.Dir}
			for j := range 20 {
				content := fmt.Sprint(j) // all writers write the same entries
				if err := own.Add(file, []byte(content)); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
				if ok, err := own.Trusted(file, []byte(content)); !ok || err != nil {
					t.Errorf("writer %d: %v, %v", i, ok, err)
				}
				if _, err := own.List(); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	entries, err := s.List()
	if err != nil || len(entries) != 20 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	dir, err := os.ReadDir(s.Dir)
	if err != nil || len(dir) != 20 {
		t.Errorf("%d files, %v", len(dir), err)
	}
}

func Test_Paths_Must_Be_Absolute(t *testing.T) {
	s, _ := newStore(t)
	if _, err := s.Trusted("x.json", nil); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a relative file: %v", err)
	}
	if _, err := (&Store{Dir: "trust"}).Trusted("/x.json", nil); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a relative store: %v", err)
	}
}
