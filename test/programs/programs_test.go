package programs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

func Test_A_Program_Is_Built_And_Runs(t *testing.T) {
	dir := t.TempDir()
	if err := programs.Install(t.Context(), dir, programs.Command, programs.Guest); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, programs.Command), "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "agent-sandbox ") {
		t.Errorf("%q, %v", out, err)
	}
}

func Test_The_Command_Carries_The_Guest_Unless_It_Is_To_Stand_Alone(t *testing.T) {
	guest, err := os.ReadFile(path(t, programs.Guest))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(guest)
	embedded := "guest-" + hex.EncodeToString(sum[:8]) + ".gz"
	for name, want := range map[string]bool{programs.Command: true, programs.CommandAlone: false} {
		data, err := os.ReadFile(path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(data, []byte(embedded)); got != want {
			t.Errorf("%s carries the guest: %v, want %v", name, got, want)
		}
	}
}

func Test_The_Directory_In_The_Variable_Is_Used(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(programs.Variable, dir)
	if _, err := programs.Path(t.Context(), programs.Guest); err == nil || !strings.Contains(err.Error(), "go run ./test/programs/build") {
		t.Errorf("a directory without the program: %v", err)
	}
	want := filepath.Join(dir, programs.Guest)
	if err := os.WriteFile(want, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := path(t, programs.Guest); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func Test_An_Unknown_Program_Is_Named(t *testing.T) {
	if _, err := programs.Path(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), `unknown program "x"; expected one of`) {
		t.Error(err)
	}
}

func path(t *testing.T, name string) string {
	t.Helper()
	p, err := programs.Path(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
