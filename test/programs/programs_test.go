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

// The largest permitted size of each program in bytes, since the whole file is read from the disk at
// a start.
func Test_Programs_Stay_Small(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{
		programs.Command:          20_000_000,
		programs.CommandInMemory:  30_000_000,
		programs.CommandWithPods:  26_000_000,
		programs.CommandWithAgent: 60_000_000,
		programs.Hooks:            20_000_000,
		programs.Guest:            6_000_000,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, err := os.Stat(path(t, name))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.1f MB", float64(info.Size())/1e6)
			if info.Size() > most {
				t.Errorf("%s has %d bytes, at most %d are allowed", name, info.Size(), most)
			}
		})
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
