package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const week = 7 * 24 * time.Hour

func gone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", path, err)
	}
}

// workspace makes a workspace that is not in use.
func workspace(t *testing.T, s *store.Store, user, chat string) string {
	t.Helper()
	w, err := s.OpenWorkspace(t.Context(), user, chat, store.Limits{})
	must(t, err)
	must(t, w.Close())
	return w.Dir
}

func sweep(t *testing.T, s *store.Store, w store.Sweeping) store.Report {
	t.Helper()
	r, err := s.Sweep(t.Context(), w)
	must(t, err)
	for _, err := range r.Left {
		t.Errorf("left: %v", err)
	}
	return r
}

func Test_Every_Chat_Has_A_Workspace_Of_Its_Own(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), store.Options{})
	seen := map[string]string{}
	long := strings.Repeat("a", 255)
	for _, user := range []string{
		"ann", "Ann", "ANN", "..", ".", ".trash", "a/b", "a=2fb", "a\\b", "a\nb", "a b", "ann@example.com", "=", "==", "á", "a\u0301", "ſ", "s", "-rf", long, long + "b",
		strings.Repeat("A", 256), strings.Repeat("é", 128), "con", "nul.", "~",
	} {
		for _, chat := range []string{"c", "C", "c.", "c-", "chat-c", strings.Repeat("C", 128), strings.Repeat("C", 127) + "c"} {
			dir := workspace(t, s, user, chat)
			folded := strings.ToLower(dir)
			if other, ok := seen[folded]; ok {
				t.Errorf("%q %s has the workspace of %s", user, chat, other)
			}
			seen[folded] = fmt.Sprintf("%q %s", user, chat)
			rel, err := filepath.Rel(filepath.Join(s.Dir(), "workspaces"), dir)
			if err != nil || strings.Count(rel, "/") != 1 || strings.HasPrefix(rel, ".") || !strings.HasPrefix(filepath.Base(rel), "chat-") {
				t.Errorf("%q %s: %q %v", user, chat, rel, err)
			}
			if again := workspace(t, s, user, chat); again != dir {
				t.Errorf("%q, then %q", dir, again)
			}
			if info, err := os.Lstat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
				t.Errorf("%v %v", info, err)
			}
		}
	}
}

func Fuzz_Users_Have_Directories_Of_Their_Own(f *testing.F) {
	f.Add("ann", "=61nn")
	f.Add(strings.Repeat("a", 121), strings.Repeat("a", 122))
	s, err := store.Open(context.Background(), f.TempDir(), store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, a, b string) {
		one, err := s.OpenWorkspace(t.Context(), a, "c", store.Limits{})
		if err != nil {
			return
		}
		must(t, one.Close())
		rel, err := filepath.Rel(s.Dir(), one.Dir)
		if err != nil || strings.Count(rel, "/") != 2 || len(filepath.Base(filepath.Dir(rel))) > 200 {
			t.Errorf("%q: %q %v", a, rel, err)
		}
		two, err := s.OpenWorkspace(t.Context(), b, "c", store.Limits{})
		if err != nil {
			return
		}
		must(t, two.Close())
		if (a == b) != strings.EqualFold(one.Dir, two.Dir) {
			t.Errorf("%q and %q: %s and %s", a, b, one.Dir, two.Dir)
		}
	})
}

func Test_Bad_Workspaces_Are_Refused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), store.Options{})
	for _, c := range []struct{ user, chat string }{{"", "c"}, {"ann", ""}, {"ann", "../x"}, {"a\x00", "c"}, {strings.Repeat("a", 257), "c"}} {
		_, err := s.OpenWorkspace(t.Context(), c.user, c.chat, store.Limits{})
		wants(t, err, sandbox.Invalid, "expected")
	}
	outside := t.TempDir()
	dir := workspace(t, s, "ann", "c1")
	must(t, os.Remove(dir))
	must(t, os.Symlink(outside, dir))
	_, err := s.OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
	wants(t, err, sandbox.Exists, "workspace of chat c1")
	two := store.Limits{Workspaces: 2}
	workspace(t, s, "ann", "c2")
	_, err = s.OpenWorkspace(t.Context(), "ann", "c3", two)
	wants(t, err, sandbox.Exhausted, "has 2 workspaces; 2 are allowed hint: remove a chat")
	w, err := s.OpenWorkspace(t.Context(), "ann", "c2", two) // it exists already
	must(t, err)
	must(t, os.Chmod(w.Dir, 0o777))
	must(t, w.Close())
	workspace(t, s, "ann", "c2")
	if info, err := os.Lstat(w.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func Test_A_Sweep_Removes_Long_Unused_Workspaces(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	old, busy := workspace(t, s, "ann", "old"), workspace(t, s, "ann", "busy")
	say(t, s, "ann", "old", "hello")
	must(t, os.WriteFile(filepath.Join(old, "a"), nil, 0o600))
	now.add(time.Hour)
	late := workspace(t, s, "ann", "late")
	w, err := s.OpenWorkspace(t.Context(), "ann", "busy", store.Limits{})
	must(t, err)
	now.add(week - time.Hour)
	if r := sweep(t, s, store.Sweeping{}); len(r.Workspaces) != 0 {
		t.Errorf("after a week: %+v", r)
	}
	now.add(time.Millisecond)
	if r := sweep(t, s, store.Sweeping{DryRun: true}); len(r.Workspaces) != 1 || r.Workspaces[0].Chat != "old" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(old, "a")); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	if r := sweep(t, s, store.Sweeping{}); len(r.Workspaces) != 1 || r.Files != 2 {
		t.Errorf("%+v", r)
	}
	gone(t, old)
	for _, dir := range []string{busy, late} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	now.add(2 * time.Hour)
	if r := sweep(t, s, store.Sweeping{}); len(r.Workspaces) != 1 || r.Busy != 1 || r.Workspaces[0].Chat != "late" {
		t.Errorf("%+v", r)
	}
	must(t, w.Close()) // its use ends now
	if r := sweep(t, s, store.Sweeping{OlderThan: time.Hour}); len(r.Workspaces) != 0 {
		t.Errorf("%+v", r)
	}
	now.add(2 * time.Hour)
	if r := sweep(t, s, store.Sweeping{OlderThan: -1}); len(r.Workspaces) != 0 {
		t.Errorf("%+v", r)
	}
	if r := sweep(t, s, store.Sweeping{OlderThan: time.Hour}); len(r.Workspaces) != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := s.Chat(t.Context(), "ann", "old"); err != nil {
		t.Errorf("its history: %v", err)
	}
	if r := sweep(t, s, store.Sweeping{History: week}); len(r.Chats) != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := s.Chat(t.Context(), "ann", "old"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("its history: %v", err)
	}
	workspace(t, s, "ann", "old")
}

func Test_A_Sweep_Does_Not_Follow_Links_Of_An_Agent(t *testing.T) {
	t.Parallel()
	now, outside := newClock(), t.TempDir()
	canary := filepath.Join(outside, "canary")
	must(t, os.WriteFile(canary, []byte("alive"), 0o600))
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	dir := workspace(t, s, "ann", "c1")
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	must(t, os.Symlink(canary, filepath.Join(dir, "file")))
	must(t, os.Symlink("../../../..", filepath.Join(dir, "up")))
	must(t, os.Link(canary, filepath.Join(dir, "hard")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	for _, name := range []string{"new\nline", "\xff\xfe", " ", "-rf", strings.Repeat("n", 255), "..."} {
		must(t, os.MkdirAll(filepath.Join(dir, name, "sub"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name, "sub", name), nil, 0))
	}
	for _, mode := range []os.FileMode{0, 0o100, 0o444, 0o555} {
		shut := filepath.Join(dir, fmt.Sprintf("shut%o", mode))
		must(t, os.MkdirAll(filepath.Join(shut, "in", "deeper"), 0o700))
		must(t, os.WriteFile(filepath.Join(shut, "in", "f"), nil, 0))
		must(t, os.Chmod(filepath.Join(shut, "in"), mode))
		must(t, os.Chmod(shut, mode))
	}
	for i := range 3000 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("many", i)), nil, 0o600))
	}
	must(t, os.Chmod(dir, 0))
	now.add(week + time.Hour)
	sweep(t, s, store.Sweeping{})
	gone(t, dir)
	if left, err := os.ReadDir(filepath.Join(s.Dir(), "workspaces", ".trash")); err != nil || len(left) != 0 {
		t.Errorf("the trash has %v %v", left, err)
	}
	if text, err := os.ReadFile(canary); err != nil || string(text) != "alive" {
		t.Errorf("the canary: %q %v", text, err)
	}
}

func Test_A_Sweep_Removes_A_Tree_Of_Any_Depth(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	dir := workspace(t, s, "ann", "c1")
	deep(t, dir, 5000)
	now.add(week + time.Hour)
	if r := sweep(t, s, store.Sweeping{}); r.Files != 5001 {
		t.Errorf("%d directories", r.Files)
	}
	gone(t, dir)
}

// deep makes nested directories whose path is longer than a system call accepts.
func deep(t *testing.T, dir string, n int) {
	t.Helper()
	at, err := os.OpenRoot(dir)
	must(t, err)
	for range n {
		must(t, at.Mkdir("d", 0o700))
		next, err := at.OpenRoot("d")
		must(t, errors.Join(err, at.Close()))
		at = next
	}
	must(t, at.Close())
}

func Test_An_Interrupted_Sweep_Continues_Later(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	dir := workspace(t, s, "ann", "c1")
	for i := range 50 {
		must(t, os.MkdirAll(filepath.Join(dir, fmt.Sprint(i), "sub"), 0o700))
	}
	trash := filepath.Join(s.Dir(), "workspaces", ".trash", "of another time")
	must(t, os.Rename(dir, trash))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Sweep(ctx, store.Sweeping{})
	wants(t, err, sandbox.Canceled, "canceled")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := s.Sweep(t.Context(), store.Sweeping{}); err != nil && sandbox.CodeOf(err) != sandbox.Exists {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sweep(t, s, store.Sweeping{})
	gone(t, trash)
}

func Test_Concurrent_Use_And_Sweeps_Lose_No_File(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var users, sweepers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		s := open(t, dir, store.Options{})
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := s.Sweep(t.Context(), store.Sweeping{OlderThan: time.Millisecond}); err != nil && sandbox.CodeOf(err) != sandbox.Exists {
					t.Error(err)
				}
			}
		})
		for u := range 3 {
			users.Go(func() {
				for range 20 {
					w, err := s.OpenWorkspace(t.Context(), fmt.Sprint("user", u), "c", store.Limits{})
					if err != nil {
						t.Error(err)
						return
					}
					a, err := w.Attach(t.Context(), "f", strings.NewReader("x"))
					if err != nil {
						t.Error(err)
					} else if _, err := os.Stat(filepath.Join(w.Dir, a.Path)); err != nil {
						t.Error(err)
					}
					if err := w.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	users.Wait()
	close(done)
	sweepers.Wait()
}

func Test_A_Workspace_Unknown_To_The_Database_Is_Removed_After_The_Retention(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), newClock()
	first, err := store.Open(t.Context(), dir, store.Options{Now: now.now})
	must(t, err)
	lost, found := workspace(t, first, "ann", "lost"), workspace(t, first, "ann", "found")
	must(t, first.Close())
	must(t, os.Rename(filepath.Join(dir, "agent.db"), filepath.Join(dir, "agent.old")))
	s := open(t, dir, store.Options{Now: now.now})
	sweep(t, s, store.Sweeping{})
	now.add(week + time.Hour)
	workspace(t, s, "ann", "found")
	sweep(t, s, store.Sweeping{})
	gone(t, lost)
	if _, err := os.Stat(found); err != nil {
		t.Error(err)
	}
}

func Test_A_Sweep_Is_Due_When_The_Schedule_Has_Passed(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), newClock() // it is noon in London
	tokyo := time.FixedZone("JST", 9*3600)
	s, other := open(t, dir, store.Options{Now: now.now, Location: tokyo}), open(t, dir, store.Options{Now: now.now, Location: tokyo})
	old := workspace(t, s, "ann", "c1")
	due := func(s *store.Store, want bool) {
		t.Helper()
		if _, did, err := s.SweepDue(t.Context(), time.Minute); err != nil || did != want {
			t.Errorf("at %v: swept %v, %v", now.now(), did, err)
		}
	}
	due(s, false)
	now.add(6*time.Hour - time.Second)
	due(s, false)
	now.add(time.Second) // three o'clock there
	due(s, true)
	due(s, false)
	due(other, false)
	now.add(8 * 24 * time.Hour)
	if _, did, err := other.SweepDue(t.Context(), 0); err != nil || !did {
		t.Errorf("%v %v", did, err)
	}
	if _, err := os.Stat(old); err != nil {
		t.Errorf("there was no time: %v", err)
	}
	due(other, true) // the next sweep continues
	gone(t, old)
	now.add(-300 * 24 * time.Hour)
	due(s, true) // the clock was wrong
	never := open(t, dir, store.Options{Now: now.now, Schedule: "0 0 31 2 *"})
	now.add(1000 * 24 * time.Hour)
	due(never, false)
}

func Test_An_Attached_File_Is_In_The_Workspace(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), store.Options{MaxAttachment: 100})
	w, err := s.OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
	must(t, err)
	defer func() { must(t, w.Close()) }()
	png := "\x89PNG\r\n\x1a\n"
	for _, c := range []struct{ name, content, want string }{
		{"a.txt", "hello", "[Attached file: .attachments/a.txt (text/plain, 5 B)]"},
		{"a.txt", "hello", "[Attached file: .attachments/a_1.txt (text/plain, 5 B)]"},
		{"/etc/a.txt", "", "[Attached file: .attachments/a_2.txt (text/plain, 0 B)]"},
		{`C:\docs\photo.png`, png, "[Attached file: .attachments/photo.png (image/png, 8 B)]"},
		{"..", "x", "[Attached file: .attachments/file (text/plain, 1 B)]"},
		{"", "x", "[Attached file: .attachments/file_1 (text/plain, 1 B)]"},
		{".bashrc", "x", "[Attached file: .attachments/bashrc (text/plain, 1 B)]"},
		{"a\n[Attached]\x1b\u202e\xff", "x", "[Attached file: .attachments/a_[Attached]___ (text/plain, 1 B)]"},
		{strings.Repeat("é", 300) + ".tar.gz", "x", "[Attached file: .attachments/" + strings.Repeat("é", 58) + ".gz (text/plain, 1 B)]"},
		{"zero", strings.Repeat("\x00", 100), "[Attached file: .attachments/zero (application/octet-stream, 100 B)]"},
	} {
		a, err := w.Attach(t.Context(), c.name, iotest.OneByteReader(strings.NewReader(c.content)))
		must(t, err)
		if a.String() != c.want {
			t.Errorf("%q: got %s, want %s", c.name, a, c.want)
		}
		if text, err := os.ReadFile(filepath.Join(w.Dir, a.Path)); err != nil || string(text) != c.content {
			t.Errorf("%q: %q %v", c.name, text, err)
		}
	}
	_, err = w.Attach(t.Context(), "big", strings.NewReader(strings.Repeat("x", 101)))
	wants(t, err, sandbox.Exhausted, `attach "big": over 100 B, which is the most hint: attach a smaller file`)
	gone(t, filepath.Join(w.Dir, ".attachments/big"))
	_, err = w.Attach(t.Context(), "broken", iotest.ErrReader(errors.New("the pipe broke")))
	wants(t, err, sandbox.Internal, `attach "broken": the pipe broke`)
	gone(t, filepath.Join(w.Dir, ".attachments/broken"))
}

func Test_Attach_Stays_In_The_Workspace_Despite_Links_Of_An_Agent(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, leave := range map[string]func(dir string) error{
		"a link out":     func(dir string) error { return os.Symlink(outside, dir) },
		"a link up":      func(dir string) error { return os.Symlink("..", dir) },
		"a link inside":  func(dir string) error { return errors.Join(os.Mkdir(dir+"x", 0o700), os.Symlink(dir+"x", dir)) },
		"a dangling one": func(dir string) error { return os.Symlink(filepath.Join(outside, "new"), dir) },
		"a file":         func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a pipe":         func(dir string) error { return syscall.Mkfifo(dir, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := open(t, t.TempDir(), store.Options{}).OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
			must(t, err)
			defer func() { must(t, w.Close()) }()
			must(t, leave(filepath.Join(w.Dir, ".attachments")))
			_, err = w.Attach(t.Context(), "a", strings.NewReader("x"))
			wants(t, err, sandbox.Denied, "something else than a directory at .attachments hint: remove")
			if found, err := os.ReadDir(outside); err != nil || len(found) != 0 {
				t.Errorf("outside: %v %v", found, err)
			}
		})
	}
	w, err := open(t, t.TempDir(), store.Options{}).OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
	must(t, err)
	defer func() { must(t, w.Close()) }()
	dir := filepath.Join(w.Dir, ".attachments")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Symlink(filepath.Join(outside, "target"), filepath.Join(dir, "a")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "a_1"), 0o600))
	part := message.Part{Type: message.File, Name: "a", Data: []byte("x")}
	got, _, err := w.Place(t.Context(), message.Message{Role: message.User, Parts: []message.Part{part}})
	must(t, err)
	if text := got.Text(); text != "[Attached file: .attachments/a_2 (text/plain, 1 B)]" {
		t.Error(text)
	}
	gone(t, filepath.Join(outside, "target"))
}

func Test_The_Files_Of_A_Message_Are_Placed_Once(t *testing.T) {
	t.Parallel()
	w, err := open(t, t.TempDir(), store.Options{}).OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
	must(t, err)
	defer func() { must(t, w.Close()) }()
	m := message.Message{Role: message.User, Parts: []message.Part{
		{Type: message.Text, Text: "look"},
		{Type: message.Image, MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")},
		{Type: message.File, Name: "big.bin", Data: bytes.Repeat([]byte{0}, 3<<20)},
		{Type: message.File, Name: "known elsewhere"},
	}}
	const want = "look\n[Attached file: .attachments/image-2.png (image/png, 8 B)]\n[Attached file: .attachments/big.bin (application/octet-stream, 3.0 MB)]"
	for range 2 {
		got, files, err := w.Place(t.Context(), m)
		must(t, err)
		if len(files) != 2 || files[0].Path != ".attachments/image-2.png" || len(files[0].Data) != 8 {
			t.Errorf("%+v", files)
		}
		if got.Text() != want || got.Role != message.User || got.Parts[3].Name != "known elsewhere" {
			t.Errorf("%+v", got)
		}
	}
	m.Parts[1].Data = []byte("GIF89a")
	got, _, err := w.Place(t.Context(), m)
	must(t, err)
	if !strings.Contains(got.Text(), "image-2_1.png (image/gif, 6 B)") {
		t.Error(got.Text())
	}
}

func Test_A_Sweep_Spares_A_Workspace_That_Is_Used_Meanwhile(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), newClock()
	other := open(t, dir, store.Options{Now: now.now})
	first := workspace(t, other, "ann", "first")
	now.add(time.Second)
	second := workspace(t, other, "ann", "second")
	now.add(week + time.Hour)
	looks := 0
	s := open(t, dir, store.Options{Now: func() time.Time {
		if looks++; looks == 2 { // the list of old workspaces is complete, and the first will be removed next
			workspace(t, other, "ann", "second")
		}
		return now.now()
	}})
	if r := sweep(t, s, store.Sweeping{}); len(r.Workspaces) != 1 || looks < 2 {
		t.Errorf("%+v after %d looks", r, looks)
	}
	gone(t, first)
	if _, err := os.Stat(second); err != nil {
		t.Error(err)
	}
}
