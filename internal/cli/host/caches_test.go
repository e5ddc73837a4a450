package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_A_Fresh_Home_Gets_The_Caches_Of_Installed_Programs(t *testing.T) {
	for _, row := range []struct {
		name    string
		presets []string
		want    []string
	}{
		{"the defaults", nil, []string{".bundle", ".cache", ".local", ".npm", ".yarn", "src"}},
		{"without @caches", []string{"!@caches"}, []string{"src"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			home, bin := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(home, "src"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, program := range []string{"npm", "pnpm", "yarn", "bundle"} {
				if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			layers, err := policy.Load(policy.Sources{Home: home, Dir: filepath.Join(home, "src"), Flags: sandbox.Policy{Filesystem: sandbox.Filesystem{Presets: row.presets}}})
			if err != nil {
				t.Fatal(err)
			}
			spec := sandbox.Spec{Workspace: filepath.Join(home, "src"), Home: home, Env: []string{"PATH=" + bin, "HOME=" + home}, Layers: layers}
			for range 2 { // the second time they exist
				host.CreateCaches(spec, "")
			}
			entries, err := os.ReadDir(home)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				got = append(got, e.Name())
			}
			for _, name := range []string{".local/share/pnpm/store", ".local/state/pnpm", ".yarn/berry", ".bundle/cache"} {
				if _, err := os.Stat(filepath.Join(home, name)); (err == nil) != (row.presets == nil) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("the home has %q, want %q", got, row.want)
			}
		})
	}
}
