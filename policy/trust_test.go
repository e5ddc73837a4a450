package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func trusted(t *testing.T, s *Trust, file, content string) bool {
	t.Helper()
	ok, err := s.Trusted(file, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func newTrust(t *testing.T) (s *Trust, file string) {
	t.Helper()
	src := testSources(t)
	return src.Trust, put(t, src.project(), "{}")
}

func add(t *testing.T, s *Trust, file, content string) {
	t.Helper()
	if err := s.Add(file, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestTrustIsForExactContentAndPlace(t *testing.T) {
	s, file := newTrust(t)
	if trusted(t, s, file, "{}") {
		t.Error("trusted before anybody said so")
	}
	add(t, s, file, "{}")
	other := put(t, filepath.Join(filepath.Dir(file), "other/.agent-sandbox.json"), "{}")
	link := filepath.Join(filepath.Dir(file), "link")
	if err := os.Symlink(".", link); err != nil {
		t.Fatal(err)
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
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := trusted(t, s, c.file, c.content); got != c.want {
				t.Errorf("trusted is %v", got)
			}
		})
	}
}

func TestTrustListsAndRemoves(t *testing.T) {
	s, file := newTrust(t)
	if entries, err := s.List(); err != nil || entries != nil {
		t.Errorf("a store that does not exist lists %v, %v", entries, err)
	}
	if err := s.Remove(file); !errors.Is(err, sandbox.ErrNotFound) {
		t.Errorf("removing what was not there: %v", err)
	}
	odd := put(t, filepath.Join(filepath.Dir(file), "a\nb\xff"), "x")
	add(t, s, file, "1")
	add(t, s, file, "2")
	add(t, s, odd, "x")
	put(t, filepath.Join(s.Dir, ".new-123"), "a crashed writer's")
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

func TestTrustIgnoresWhatOthersCouldHaveWritten(t *testing.T) {
	entry := func(t *testing.T, s *Trust) string {
		t.Helper()
		entries, err := s.List()
		if err != nil || len(entries) != 1 {
			t.Fatalf("list is %v, %v", entries, err)
		}
		return filepath.Join(s.Dir, entries[0].Sum)
	}
	chmod := func(mode os.FileMode, name func(*testing.T, *Trust) string) func(*testing.T, *Trust) {
		return func(t *testing.T, s *Trust) {
			t.Helper()
			if err := os.Chmod(name(t, s), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := func(_ *testing.T, s *Trust) string { return s.Dir }
	for _, c := range []struct {
		name   string
		change func(*testing.T, *Trust)
	}{
		{"an entry that the group may write", chmod(0o620, entry)},
		{"an entry that all may write", chmod(0o602, entry)},
		{"a store that the group may write", chmod(0o770, dir)},
		{"a store that all may write", chmod(0o1777, dir)},
		{"an entry that is a link", func(t *testing.T, s *Trust) {
			t.Helper()
			name := entry(t, s)
			if err := os.Rename(name, name+".x"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(name+".x", name); err != nil {
				t.Fatal(err)
			}
		}},
		{"an entry that is empty", func(t *testing.T, s *Trust) { t.Helper(); put(t, entry(t, s), "") }},
		{"an entry that another was copied to", func(t *testing.T, s *Trust) {
			t.Helper()
			name := entry(t, s)
			put(t, name, filepath.Base(name)+"\x00/elsewhere")
		}},
		{"an entry of another user", func(t *testing.T, s *Trust) {
			t.Helper()
			name := entry(t, s)
			if os.Geteuid() != 0 {
				// Only root can give files away; what a plain user can see is that root's do not count.
				info, err := os.Stat("/etc/passwd")
				if err != nil || oursAlone(info) {
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
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, file := newTrust(t)
			add(t, s, file, "{}")
			if !trusted(t, s, file, "{}") {
				t.Fatal("not trusted to begin with")
			}
			c.change(t, s)
			if trusted(t, s, file, "{}") {
				t.Error("still trusted")
			}
		})
	}
}

func TestTrustAddRefusesAnOpenStore(t *testing.T) {
	s, file := newTrust(t)
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

func TestTrustKeepsItsFilesPrivate(t *testing.T) {
	s, file := newTrust(t)
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

func TestTrustSurvivesConcurrentUse(t *testing.T) {
	s, file := newTrust(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			own := &Trust{Dir: s.Dir}
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

func TestTrustWantsAbsolutePaths(t *testing.T) {
	s, _ := newTrust(t)
	if _, err := s.Trusted("x.json", nil); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a relative file: %v", err)
	}
	if _, err := (&Trust{Dir: "trust"}).Trusted("/x.json", nil); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a relative store: %v", err)
	}
}
