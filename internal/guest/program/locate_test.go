package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Extract_Puts_The_Program_In_Place_Once(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	data, err := os.ReadFile(guesttest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	names, first := make([]string, 16), make([]os.FileInfo, 16)
	for i := range names {
		wg.Go(func() {
			name, err := extract(dir, data)
			if err != nil {
				t.Error(err)
			}
			names[i] = name
			if first[i], err = os.Stat(name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, name := range names {
		if !os.SameFile(first[i], first[0]) {
			t.Error("a program that another process had in hand was replaced")
		}
		if name != names[0] || !strings.HasPrefix(filepath.Base(name), "guest-") {
			t.Errorf("%q and %q", name, names[0])
		}
	}
	if got := guesttest.Entries(t, dir); got != filepath.Base(names[0]) {
		t.Errorf("left are %q", got)
	}
	if info, err := os.Stat(names[0]); err != nil || info.Mode() != 0o555 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if out, err := exec.CommandContext(t.Context(), names[0], "check").CombinedOutput(); err == nil { // its name is wrong
		t.Errorf("%s", out)
	}
}

func Test_Extract_Repairs_And_Cleans_Up(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	name, err := extract(dir, []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	old := guesttest.WriteFile(t, dir, "guest-0123456789abcdef", "old")
	recent := guesttest.WriteFile(t, dir, "guest-fedcba9876543210", "recent")
	other := guesttest.WriteFile(t, dir, "config.json", "mine")
	litter := guesttest.WriteFile(t, dir, ".agent-sandbox-X.tmp", "killed")
	past := time.Now().Add(-2 * oldAfter)
	for _, f := range []string{old, other, litter} {
		if err := os.Chtimes(f, past, past); err != nil {
			t.Fatal(err)
		}
	}
	for what, spoil := range map[string]func() error{
		"another size": func() error { _ = os.Remove(name); return os.WriteFile(name, []byte("other size"), 0o600) },
		"writable":     func() error { return os.Chmod(name, 0o755) },
		"a link":       func() error { _ = os.Remove(name); return os.Symlink(recent, name) },
		"missing":      func() error { return os.Remove(name) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := extract(dir, []byte("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(name)
		text, _ := os.ReadFile(name)
		if err != nil || info.Mode() != 0o555 || string(text) != "new" {
			t.Errorf("%s: %v, %q, %v", what, info, text, err)
		}
	}
	if got, want := guesttest.Entries(t, dir), "config.json "+filepath.Base(name)+" guest-fedcba9876543210"; got != want && got != "config.json guest-fedcba9876543210 "+filepath.Base(name) {
		t.Errorf("left are %q, want %q", got, want)
	}
	if text, _ := os.ReadFile(recent); string(text) != "recent" {
		t.Errorf("a link was written through: %q", text)
	}
}

func Test_Extract_Refuses_A_Directory_Of_Others(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := extract(dir, []byte("x")); err == nil {
		t.Error("a directory that all can write to was used")
	}
}

func Test_A_Build_Without_A_Guest_Uses_The_Program_Beside_It(t *testing.T) {
	dir := t.TempDir()
	guesttest.WriteProgram(t, dir, "agent-sandbox", "#!/bin/sh\n")
	self := filepath.Join(dir, "agent-sandbox")
	_, err := locateBeside(self)
	if sandbox.CodeOf(err) != sandbox.Unavailable || !strings.Contains(err.Error(), "agent-sandbox carries none") || !strings.Contains(sandbox.HintOf(err), "go build -o "+dir+"/sandbox-guest ") {
		t.Errorf("a program that does not act as the guest: %v (%s)", err, sandbox.HintOf(err))
	}
	ActAsGuest()
	t.Cleanup(func() { itself.Store(false) })
	if got, err := locateBeside(self); err != nil || got != self {
		t.Errorf("%q, %v, want the executable itself", got, err)
	}
	guesttest.WriteFile(t, dir, "sandbox-guest", "")
	if got, err := locateBeside(self); err != nil || got != self {
		t.Errorf("%q, %v, want no file that cannot be executed", got, err)
	}
	guesttest.WriteProgram(t, dir, "sandbox-guest", "#!/bin/sh\n")
	if got, err := locateBeside(self); err != nil || got != filepath.Join(dir, "sandbox-guest") {
		t.Errorf("%q, %v, want the one beside", got, err)
	}
	if _, err := locateBeside(filepath.Join(dir, "none", "x")); sandbox.CodeOf(err) != sandbox.Unavailable {
		t.Errorf("%v", err)
	}
}

func Test_The_Carried_Program_Is_Named_By_Its_Hash(t *testing.T) {
	data, ok := Binary()
	p, carries := carried()
	if ok != carries {
		t.Fatalf("a program is embedded: %v, it has a name: %v", ok, carries)
	}
	if ok && (p.name != nameOf(data) || p.size != int64(len(data))) {
		t.Errorf("name %s and size %d, want %s and %d", p.name, p.size, nameOf(data), len(data))
	}
}
