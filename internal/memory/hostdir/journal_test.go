package hostdir_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// interrupted is a directory in which an Apply was killed that was to put "new" into a, b, c and d/e and to
// remove f. It returns the note's name without its ending.
func interrupted(t *testing.T) (dir, journal, name string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "proj")
	journal = filepath.Join(dir, "..", "journal")
	temp := filepath.Join(dir, ".agent-sandbox-apply-X")
	must(t, os.MkdirAll(temp, 0o755), os.MkdirAll(filepath.Join(dir, "d"), 0o755), os.Mkdir(journal, 0o700))
	steps := ""
	for i, p := range []string{"a", "b", "c", "d/e"} {
		must(t, os.WriteFile(filepath.Join(dir, p), []byte("old"), 0o644), os.WriteFile(filepath.Join(temp, fmt.Sprint(i)), []byte("new"), 0o644))
		steps += fmt.Sprintf(`{"do":"put","path":%q,"file":"%d","sum":"%x","was":%s},`, base64.StdEncoding.EncodeToString([]byte(p)), i, sha256.Sum256([]byte("new")), stateOf(t, dir, p))
	}
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	steps += fmt.Sprintf(`{"do":"remove","path":%q,"was":%s}`, base64.StdEncoding.EncodeToString([]byte("f")), stateOf(t, dir, "f"))
	info, err := os.Stat(dir)
	must(t, err)
	name = filepath.Join(journal, "note")
	must(t, os.WriteFile(name+".json", fmt.Appendf(nil, `{"dir":%q,"ino":%d,"temp":".agent-sandbox-apply-X","steps":[%s]}`,
		dir, info.Sys().(*syscall.Stat_t).Ino, steps), 0o600)) //nolint:forcetypeassert // It is one here.
	return dir, journal, name
}

func stateOf(t *testing.T, dir, p string) string {
	t.Helper()
	info, err := os.Lstat(filepath.Join(dir, p))
	must(t, err)
	return fmt.Sprintf(`{"kind":%d,"size":%d,"mtime":%d}`, os.ModeTemporary, info.Size(), info.ModTime().UnixNano())
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	for _, p := range []string{"a", "b", "c", "d/e", "f"} {
		data, err := os.ReadFile(filepath.Join(dir, p))
		if err != nil {
			data = []byte("-")
		}
		all += string(data) + " "
	}
	return all
}

func Test_A_Killed_Apply_Is_Finished_Where_Nothing_Changed(t *testing.T) {
	for name, row := range map[string]struct {
		meanwhile func(t *testing.T, dir, note string)
		want      string
		finished  []string
	}{
		"nothing":               {func(*testing.T, string, string) {}, "new new new new - ", []string{"a", "b", "c", "d/e", "f"}},
		"some of it was done":   {done, "new new new new - ", []string{"a", "b", "c", "d/e", "f"}},
		"files changed":         {edited, "mine new new new mine ", []string{"b", "c", "d/e"}},
		"what was made did":     {tampered, "old new new new - ", []string{"b", "c", "d/e", "f"}},
		"a directory is a link": {linked, "new new new old - ", []string{"a", "b", "c", "f"}},
		"its process lives":     {locked, "old old old old old ", nil},
		"another directory":     {elsewhere, "old old old old old ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir, journal, note := interrupted(t)
			row.meanwhile(t, dir, note)
			if got := applyNothing(t, dir, journal); !slices.Equal(got, row.finished) {
				t.Errorf("finished %q", got)
			}
			if got := contents(t, dir); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			_, err := os.Stat(note + ".json")
			if left := err == nil; left != (row.finished == nil) {
				t.Errorf("the note: %v", err)
			}
		})
	}
}

func done(t *testing.T, dir, _ string) {
	t.Helper()
	must(t, os.Rename(filepath.Join(dir, ".agent-sandbox-apply-X/0"), filepath.Join(dir, "a")), os.Remove(filepath.Join(dir, "f")))
}

func edited(t *testing.T, dir, _ string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("mine"), 0o644), os.WriteFile(filepath.Join(dir, "f"), []byte("mine"), 0o644))
}

func tampered(t *testing.T, dir, _ string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, ".agent-sandbox-apply-X/0"), []byte("bad"), 0o644))
}

func linked(t *testing.T, dir, _ string) {
	t.Helper()
	must(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "other")), os.Symlink("other", filepath.Join(dir, "d")))
}

func locked(t *testing.T, _, note string) {
	t.Helper()
	f, err := os.Create(note + ".lock")
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { _ = f.Close() })
}

func elsewhere(t *testing.T, dir, _ string) {
	t.Helper()
	must(t, os.Rename(dir, dir+".old"), os.MkdirAll(filepath.Join(dir, "d"), 0o755))
	for _, p := range []string{"a", "b", "c", "d/e", "f"} {
		must(t, os.WriteFile(filepath.Join(dir, p), []byte("old"), 0o644))
	}
}

// A kill right after the lock was made, or in the middle of the note.
func Test_Files_Of_An_Apply_Killed_Before_Its_Note_Are_Removed(t *testing.T) {
	dir, journal := t.TempDir(), t.TempDir()
	alive := filepath.Join(journal, "ALIVE.lock")
	for _, name := range []string{"DEAD.lock", "DEAD.new", "EMPTY.lock", "ALIVE.lock"} {
		must(t, os.WriteFile(filepath.Join(journal, name), nil, 0o600))
	}
	f, err := os.Open(alive)
	must(t, err)
	defer f.Close()
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	applyNothing(t, dir, journal)
	left, err := filepath.Glob(filepath.Join(journal, "*"))
	must(t, err)
	if !slices.Equal(left, []string{alive}) {
		t.Errorf("left: %q", left)
	}
}
