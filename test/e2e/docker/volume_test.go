//go:build linux

package docker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/repo"
)

// volumes returns which of the volumes of a repository the engine has, without that of Codex, which another test removes.
func (u user) volumes(r repo.Repo) []string {
	u.t.Helper()
	all, err := lab.engine.VolumeList(u.t.Context(), client.VolumeListOptions{})
	if err != nil {
		u.t.Fatal(err)
	}
	var names []string
	for _, v := range all.Items {
		if slices.Contains([]string{r.ShelfVolume(), r.HistoryVolume(), repo.ClaudeVolume}, v.Name) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}

func Test_Volumes_Of_Destroyed_Sandboxes_Are_Pruned(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("pruned")
	r := repo.Repo{Path: dir}
	own := []string{r.HistoryVolume(), r.ShelfVolume()}
	slices.Sort(own)
	main := strings.TrimSpace(u.run(dir, "start"))
	branch := strings.TrimSpace(u.run(dir, "start", "--branch", "feat/x"))
	all := u.volumes(r)
	for _, step := range [][]string{{"stop", main, branch}, {"destroy", branch}} {
		u.run(dir, step...)
		if out := u.run(dir, "volume", "prune"); out != "" || !slices.Equal(u.volumes(r), all) {
			t.Errorf("after %v, prune removed %q", step, out)
		}
	}
	if _, err := lab.engine.ContainerRemove(t.Context(), main, client.ContainerRemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if out := u.run(dir, "volume", "prune"); out != "" || !slices.Equal(u.volumes(r), all) {
		t.Errorf("of a sandbox whose container was removed, prune removed %q", out)
	}
	u.run(dir, "destroy", main)
	stranger := newUser(t)
	if out := stranger.run(stranger.home, "volume", "prune"); out != "" || !slices.Equal(u.volumes(r), all) {
		t.Errorf("another user removed %q", out)
	}
	want := strings.Join(own, "\n") + "\n"
	if out := u.run(u.home, "volume", "prune", "--dry-run"); out != want || !slices.Equal(u.volumes(r), all) {
		t.Errorf("--dry-run prints %q, want %q", out, want)
	}
	if out := u.run(u.home, "volume", "prune"); out != want {
		t.Errorf("prune prints %q, want %q", out, want)
	}
	shared := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(own, name) })
	if left := u.volumes(r); !slices.Equal(left, shared) {
		t.Errorf("prune left %q, want %q", left, shared)
	}
	if out := u.run(u.home, "volume", "prune"); out != "" {
		t.Errorf("a second time it prints %q", out)
	}
	if out := u.run(dir, "volume", dir); out != repo.ClaudeVolume+"\n" {
		t.Errorf("volume with a path prints %q", out)
	}
}
