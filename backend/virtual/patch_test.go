package virtual_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// patches are the answer of OpPatch, a line each: conflict, path and patch.
func patches(t *testing.T, s *sandbox.Sandbox, o virtual.PatchOptions) []string {
	t.Helper()
	arg, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var answer strings.Builder
	i := s.Unwrap().(interface {
		Operate(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error
	}) //nolint:forcetypeassert // a driver of this backend makes nothing else
	if err := i.Operate(t.Context(), virtual.OpPatch, arg, &answer); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for d := json.NewDecoder(strings.NewReader(answer.String())); d.More(); {
		var p virtual.Patched
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(p.Text), "@@\n")
		lines = append(lines, strings.Join([]string{p.Change.Conflict, string(p.Path), text}, "|"))
	}
	return lines
}

func Test_A_Patch_Is_Against_The_Current_Files_Of_The_Host(t *testing.T) {
	t.Parallel()
	dir := project(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	s := box(t, virtual.New(virtual.Options{}), dir, sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{outside}}})
	if res := sh(t, s, "echo new >src/a; rm src/b; echo x >made; echo y >"+outside+"/y; echo z >\"$(printf 'z\\377')\"; printf no >no"); res.Code != 0 {
		t.Fatalf("%d %s", res.Code, res.Stderr)
	}
	want := []string{"|made|+x\n", "|no|+no\n\\ No newline at end of file\n", "|src/a|-one\n+new\n", "|src/b|-two\n", "|z\xff|+z\n", "|" + outside + "/y|"}
	if got := patches(t, s, virtual.PatchOptions{}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, text := range map[string]string{"src/a": "host\n", "made": "x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "src/b")); err != nil {
		t.Fatal(err)
	}
	want = []string{"it was changed outside|src/a|-host\n+new\n"} // the host has a change of its own
	got := patches(t, s, virtual.PatchOptions{Paths: []string{filepath.Join(dir, "src"), filepath.Join(dir, "made")}})
	if !slices.Equal(got, want) {
		t.Errorf("after a change outside: got %q, want %q", got, want)
	}
}
